"""Common English words that questions and sources use for one another, one group per line.

Kept by hand and general: no group exists for the sake of one document.
"""

GROUPS = """
start begin commence initiate launch origin originate inception onset outset
end finish conclude terminate cease stop expire
create make produce generate form develop formation
build construct erect construction
invent devise design inventor develop pioneer
discover find identify detect discovery observe
found establish set institute founder creation
die death kill decease perish
bear birth native
live reside inhabit dwell home resident inhabitant population
job occupation profession work career employ employment trade
big large huge great major enormous vast
small little tiny minor
many numerous several multiple lot
important significant major key crucial vital essential main
main primary principal chief central predominant major
famous renowned notable known prominent celebrated
begin early initial first original
name call title term know refer designate dub entitle label
person people human individual man
city town municipality urban
country nation state land
region area zone territory district province
place location site locate situate venue
leader head chief ruler president commander lead
king monarch ruler emperor queen reign sovereign royal
rule govern reign control power government administration
law legislation act statute legal rule
court judge tribunal justice
war conflict battle fight combat
army military troop soldier force
attack invade assault raid invasion strike
defeat beat conquer victory win overcome conquest
destroy demolish ruin destruction devastate damage raze
defend protect guard defence defense shield protection
help aid assist support assistance
allow permit enable let authorize
prevent stop prohibit forbid ban block bar avoid
require need necessary demand must
cause lead result trigger produce reason effect
reason why because cause purpose motive due
goal aim purpose objective intend target
use employ utilize usage application apply
show demonstrate display exhibit reveal indicate
say state claim argue assert declare announce
think believe consider regard view opinion deem
know aware knowledge
teach educate instruct education school
learn study research
student pupil undergraduate
teacher professor instructor faculty lecturer
school university college academy institution
book work publication publish novel write
author writer write
write compose pen draft author
film movie picture cinema
song music track single
show series program programme television
game match play
player athlete
team club squad
win victory triumph champion
lose loss defeat
money fund cost price pay dollar income revenue financial
cost price expense fee charge expensive
buy purchase acquire acquisition
sell sale market trade
company firm corporation business enterprise
work labor labour employ
worker employee staff labor
grow increase rise expand growth gain
decrease decline reduce fall drop shrink reduction lower
change alter modify shift transform convert become
improve enhance better advance
move travel migrate relocate transfer
leave depart exit flee
arrive come reach arrival
go travel journey trip
carry transport convey deliver
give provide supply grant offer furnish
get receive obtain acquire gain
take seize capture
join enter unite merge become
divide split separate partition
include contain comprise consist compose incorporate feature
part component portion section element piece
kind type sort form class category variety
group set class
member belong
name title
old ancient age
new modern recent
area size extent square
size large dimension
high tall height elevation altitude
long length
far distance
deep depth
wide width broad
fast quick speed rapid velocity
amount quantity number total volume
percent percentage share proportion rate fraction
average mean typical
year annual yearly
century era period
day date
time period duration
happen occur take event
event incident occurrence
remain stay continue last
choose select elect pick appoint nominate choice
vote elect election ballot
believe faith religion religious belief
church cathedral religious
god deity divine
sick ill disease illness infection disorder
doctor physician medical medicine
cure treat heal treatment therapy remedy
drug medicine medication
body organism
food eat diet feed nutrition
animal creature species
plant tree crop
sea ocean marine
river stream
mountain hill peak
forest wood woodland
water liquid
fire burn combustion flame
heat hot warm temperature thermal
cold cool
engine motor
machine device apparatus
car vehicle automobile
ship boat vessel
train railway railroad rail
road street highway route
building structure edifice
house home dwelling residence
language tongue speak dialect
speak talk speech
meet encounter conference
agree accord agreement treaty pact consent
treaty agreement pact accord
disagree oppose object opposition against
support back advocate favor favour endorse
enemy opponent foe rival
friend ally companion
ally alliance coalition
marry wife husband spouse marriage wed
father parent
mother parent
son child
daughter child
descend ancestor descendant ancestry
follow succeed successor after
precede before prior previous former
replace substitute supersede supplant succeed
close shut near
open begin
near close adjacent nearby
border boundary frontier edge neighbour neighbor
north northern
south southern
east eastern
west western
center centre middle central
surround enclose encircle
connect link join attach connection
opposite contrary contrast versus
similar alike like resemble
different distinct differ vary difference
same identical equal
example instance
idea concept notion theory
theory hypothesis
rule regulation
right entitle
duty responsibility obligation responsible task role
role function part
job task
skill ability capable able capacity
power energy strength
strong powerful strength
weak weakness
rich wealthy wealth
poor poverty
beautiful attractive
good positive benefit advantage
bad negative harmful poor
dangerous danger risk hazard threat
safe safety secure security
free freedom liberty independent independence
prison jail imprison arrest
crime criminal offence offense
kill murder assassinate execute
born native
originate derive stem come descend
origin source root
describe depict portray characterize represent
mean define meaning definition signify
explain describe
measure quantity
test trial experiment
prove proof evidence demonstrate
find locate
hide conceal secret
see view watch visible look
hear sound listen
touch contact
begin open
complete finish entire whole full
refuse reject deny decline
accept adopt approve
approve ratify sanction
propose suggest recommend proposal
ask request inquire
answer reply respond response
reply respond reaction react
fail failure unsuccessful
succeed success successful
try attempt effort seek
force compel coerce
influence affect impact effect inspire
control regulate manage
manage run operate direct administer
oversee supervise monitor
own possess property belong hold
keep retain maintain preserve
save rescue preserve
store storage hold
collect gather assemble
send transmit dispatch deliver
break fracture
repair fix restore
rebuild reconstruct restore renovate
cover span extend
fill occupy
remove eliminate delete extract
add append addition
combine mix unite merge
host hold
celebrate festival commemorate
honor honour award prize
prize award medal
house accommodate
headquarters base seat office
capital seat
flag banner
nickname known alias
famous best
compete rival competition contest
perform play act performance
actor star cast
director direct filmmaker
singer vocalist artist
paint painter artist painting
expert specialist scholar scientist
scientist researcher physicist chemist biologist
computer machine
install setup
error fault failure bug
setting option configuration configure parameter flag
directory folder
file document
command instruction
show list print display
delete remove erase uninstall drop
begin run
save write
fetch download retrieve get
upload send
key token credential
default standard preset
limit maximum cap restrict restriction
minimum least lowest
maximum most highest largest
most majority
"""
