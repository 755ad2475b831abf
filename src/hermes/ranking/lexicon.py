"""English words that say little of what a text is about, and the forms that no rule gives."""


def bag(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = bag("""
    a about above after again against all also am an and any are as at be because been before being below
    between both but by can cannot could did do does doing done down during each either else ever few for
    from further had has have having he her here hers him himself his how i if in into is it its itself
    just me might mine more most must my myself neither no nor not now of off on once only or other ought
    our ours out over own per please same shall she should so some such tell than that the their theirs
    them then there these they this those through thus to too under until up upon us very was we were what
    when where whether which while who whom whose why will with within without would yes yet you your
    yours s t d ll re ve m
""")
QUESTION_WORDS = bag("who whom whose what which when where why how whats whos")

_IRREGULAR = """
    begin: began begun beginning
    build: built
    buy: bought
    bring: brought
    catch: caught
    come: came
    die: died dying dies death dead
    draw: drew drawn
    drive: drove driven
    eat: ate eaten
    fall: fell fallen
    fight: fought
    find: found finds finding
    fly: flew flown
    found: founded founding founds founder founders foundation
    freez: froze frozen
    get: got gotten getting
    giv: gave given gives giving give
    go: went gone goes going
    grow: grew grown growth
    hold: held
    keep: kept
    know: knew known
    lead: led
    leav: left leave
    lie: lay lain lying
    lose: lost losing loss losses
    mak: made make making makes
    mean: meant
    meet: met
    pay: paid
    rise: rose risen rising
    run: ran running
    say: said
    see: saw seen
    sell: sold
    send: sent
    shoot: shot
    speak: spoke spoken
    spend: spent
    stand: stood
    steal: stole stolen
    strik: struck strike
    tak: took taken take taking
    teach: taught
    tell: told
    think: thought
    throw: threw thrown
    understand: understood
    win: won winning winner winners
    write: wrote written writing writer writers writes
    become: became becoming becomes
    choos: chose chosen choose choice
    man: men
    woman: women
    child: children
    foot: feet
    person: people persons
    wife: wives
    life: lives
    bear: born bore birth
    wear: wore worn
    break: broke broken
    sing: sang sung
    swim: swam
    forbid: forbade forbidden
    use: uses used using
    high: height
    long: length
    wide: width
    deep: depth
    strong: strength
    warm: warmth
    analys: analysis analyses analyze
    crisi: crisis crises
    hypothes: hypothesis hypotheses
    speci: species
    seri: series
    bas: basis bases base based
"""
IRREGULAR = {
    form: base
    for line in _IRREGULAR.strip().splitlines()
    for base, forms in [line.strip().split(": ")]
    for form in forms.split()
}
"""From a form to the stem that the regular forms of the word have."""
