"""Tables of English that the other modules read: small closed classes of words, kept by hand."""

from hermes.ranking.lexicon import bag

AUXILIARY = bag("is are was were did does do can could has have had would will should may might must be been")
DEGREE = bag("""
    many much long far old tall high big large often deep wide fast heavy few hot cold thick late early
    soon
""")
"""What may follow `how` when a number is asked for."""

NUMBERS = bag("""
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds
    thousand thousands million millions billion billions trillion dozen dozens half third quarter twice
    once double triple first second fourth fifth sixth seventh eighth ninth tenth
""")
TIMES = bag("""
    january february march april may june july august september october november december spring summer
    autumn winter century centuries decade monday tuesday wednesday thursday friday saturday sunday bc ad
    bce
""")
OPENERS = bag("""
    however although other another many several later today early unlike according despite following
    modern new
""")
"""Words that open sentences with a capital and are no names."""

ASKS_WHEN = bag("year years date day month century decade era time period season")
ASKS_WHERE = bag("""
    country city town state place location region continent river street area nation village county
    province island district neighborhood neighbourhood ocean sea
""")
ASKS_WHO = bag("""
    person people man woman king queen emperor president leader scientist author writer artist actor
    actress director team company group organization pope ruler philosopher inventor player singer
    composer
""")
ASKS_NUMBER = bag("""
    percent percentage number amount population proportion fraction rate price cost distance height length
    size temperature age speed weight area volume
""")
ASKS_NAME = bag("name term word nickname title")
NAMING = bag("called named known termed referred considered")
GENERIC = bag("""
    name term type kind sort form year date number amount percentage percent person people thing way word
    example many much called known city country group part place one time reason get want show see mean
""")
"""Words that say what is asked for rather than what the question is about."""

PLACE_LEADS = bag("in at near from to on of between into across through towards outside around")

_DERIVED = """
    ization:iz isation:iz ational:at fulness:ful iveness:iv ousness:ous ication:ic ations:at ation:at
    ition:it ction:ct ption:pt ment: ness: ship: ance: anc: enc: ence: ency: ancy: anci: enci: able: abl:
    ibl: ivity:iv iviti:iv ility:il iliti:il ity: iti: sion:s ssion:ss tion:t ist: ism: iz: is: ically:ic
    icalli:ic ical:ic ally:al alli:al ly: li: ian: ean: ous: ive: iv: ator:at or: er: ant: ent: al: ic:
    ur: at: ful: th:
"""
DERIVED: dict[str, list[tuple[str, str]]] = {}
"""Endings that derive one word from another, and what stays instead, by the last letter of the ending.

The first that fits is taken.
"""
for _ending, _, _instead in (pair.partition(":") for pair in _DERIVED.split()):
    DERIVED.setdefault(_ending[-1], []).append((_ending, _instead))
