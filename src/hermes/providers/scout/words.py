"""Words as the ranking sees them: folded, light-stemmed, with their relatives.

Latin text gives one term per word; scripts without spaces give one term per pair of characters.
"""

import re
import unicodedata
from functools import lru_cache

from hermes.providers.scout.synonyms import GROUPS

_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f\uac00-\ud7af"
_TOKEN = re.compile(
    rf"[{_SPACELESS}]+"
    r"|(?:[^\W\d_]\.){2,}"
    r"|\d+(?:[.,]\d+)*[a-z]{0,2}\b"
    rf"|(?:(?![{_SPACELESS}])[^\W_])+(?:['’](?:(?![{_SPACELESS}])[^\W_])+)?"
)
_IS_SPACELESS = re.compile(rf"[{_SPACELESS}]")

STOP = frozenset(
    "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can cannot could did do does doing done down during each either else ever few for from "
    "further had has have having he her here hers him himself his how i if in into is it its itself just me "
    "might mine more most must my myself neither no nor not now of off on once only or other ought our ours out "
    "over own per please same shall she should so some such tell than that the their theirs them then there "
    "these they this those through thus to too under until up upon us very was we were what when where whether "
    "which while who whom whose why will with within without would yes yet you your yours s t d ll re ve m".split()
)
QUESTION_WORDS = frozenset("who whom whose what which when where why how whats whos".split())
NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands "
    "million millions billion billions trillion dozen dozens half third quarter twice once double triple "
    "first second fourth fifth sixth seventh eighth ninth tenth".split()
)


def fold(text: str) -> str:
    """Lower case without accents, so that `Fécamp` and `fecamp` are one word."""
    lowered = text.casefold()
    if lowered.isascii():
        return lowered
    plain = unicodedata.normalize("NFKD", lowered).replace("ł", "l").replace("ø", "o").replace("’", "'")
    return "".join(char for char in plain if not unicodedata.combining(char))


def surface(text: str) -> list[str]:
    """The words of a text as written; a run of a script without spaces is cut into pairs."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if _IS_SPACELESS.match(token):
            found.extend(token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            found.append(token)
    return found


@lru_cache(maxsize=50_000)
def term(word: str) -> str:
    """What two spellings of one word have in common: case, accents, possessive and inflection removed."""
    plain = fold(word)
    if plain[:1].isdigit():
        return plain.replace(",", "")
    plain = plain.replace(".", "")
    if "'" in plain:
        plain = plain.split("'")[0]
    return _IRREGULAR.get(plain) or inflection_removed(plain)


def terms(text: str) -> list[str]:
    """The terms of a text in order, stop words included."""
    return [term(word) for word in surface(text)]


def inflection_removed(word: str) -> str:
    """Plural, `-ed` and `-ing` taken off, conservatively."""
    if len(word) <= 3 or not word.isascii():
        return word
    word = _singular(word)
    for ending in ("ing", "ed"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and _has_vowel(stem):
            return _mended(stem)
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    if word.endswith("y") and len(word) > 3 and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("ches", "shes", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _mended(stem: str) -> str:
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith("y") and stem[-2] not in "aeiou":
        return stem[:-1] + "i"
    return stem[:-1] if stem.endswith("e") and len(stem) > 4 else stem


def _has_vowel(stem: str) -> bool:
    return any(char in "aeiouy" for char in stem)


@lru_cache(maxsize=50_000)
def root(stem: str) -> str:
    """A coarser key that a noun, its verb and its adjective tend to share: `invent`, `inventor`, `invention`."""
    if len(stem) < 6 or not stem.isascii() or stem[0].isdigit():
        return stem
    for _ in range(2):
        for ending, instead in _DERIVED:
            if stem.endswith(ending) and len(stem) - len(ending) >= 4:
                stem = stem[: -len(ending)] + instead
                break
    return stem[:-1] if len(stem) > 4 and stem[-1] in "ei" else stem


_DERIVED = tuple(
    (ending, instead)
    for ending, instead in (
        ("ization", "iz"), ("isation", "iz"), ("ational", "at"), ("fulness", "ful"), ("iveness", "iv"),
        ("ousness", "ous"), ("ication", "ic"), ("ations", "at"), ("ation", "at"), ("ition", "it"), ("ction", "ct"),
        ("ption", "pt"), ("ment", ""), ("ness", ""), ("ship", ""), ("ance", ""), ("anc", ""), ("enc", ""),
        ("ence", ""), ("ency", ""), ("ancy", ""), ("anci", ""), ("enci", ""), ("able", ""), ("abl", ""),
        ("ibl", ""), ("ivity", "iv"), ("iviti", "iv"), ("ility", "il"), ("iliti", "il"), ("ity", ""), ("iti", ""),
        ("sion", "s"), ("ssion", "ss"), ("tion", "t"), ("ist", ""), ("ism", ""), ("iz", ""), ("is", ""),
        ("ically", "ic"), ("icalli", "ic"), ("ical", "ic"), ("ally", "al"), ("alli", "al"), ("ly", ""), ("li", ""),
        ("ian", ""), ("ean", ""), ("ous", ""), ("ive", ""), ("iv", ""), ("ator", "at"), ("or", ""), ("er", ""),
        ("ant", ""), ("ent", ""), ("al", ""), ("ic", ""), ("ur", ""), ("at", ""), ("ful", ""), ("th", ""),
    )
)  # fmt: skip

_IRREGULAR = {
    form: base
    for base, forms in {
        "begin": "began begun beginning", "build": "built", "buy": "bought", "bring": "brought", "catch": "caught",
        "come": "came", "die": "died dying dies death dead", "draw": "drew drawn", "drive": "drove driven",
        "eat": "ate eaten", "fall": "fell fallen", "fight": "fought", "find": "found finds finding", "fly": "flew flown",
        "found": "founded founding founds founder founders foundation", "freez": "froze frozen",
        "get": "got gotten getting", "giv": "gave given gives giving give", "go": "went gone goes going",
        "grow": "grew grown growth", "hold": "held", "keep": "kept", "know": "knew known", "lead": "led",
        "leav": "left leave", "lie": "lay lain lying", "lose": "lost losing loss losses", "mak": "made make making makes",
        "mean": "meant", "meet": "met", "pay": "paid", "rise": "rose risen rising", "run": "ran running", "say": "said",
        "see": "saw seen", "sell": "sold", "send": "sent", "shoot": "shot", "speak": "spoke spoken", "spend": "spent",
        "stand": "stood", "steal": "stole stolen", "strik": "struck strike", "tak": "took taken take taking",
        "teach": "taught", "tell": "told", "think": "thought", "throw": "threw thrown", "understand": "understood",
        "win": "won winning winner winners", "write": "wrote written writing writer writers writes",
        "become": "became becoming becomes", "choos": "chose chosen choose choice", "driv": "drive",
        "man": "men", "woman": "women", "child": "children", "foot": "feet", "person": "people persons",
        "wife": "wives", "life": "lives", "bear": "born bore birth", "wear": "wore worn", "break": "broke broken",
        "sing": "sang sung", "swim": "swam", "forbid": "forbade forbidden", "spread": "spreads", "use": "uses used using", "high": "height", "long": "length", "wide": "width", "deep": "depth",
        "strong": "strength", "warm": "warmth", "analys": "analysis analyses analyze", "crisi": "crisis crises",
        "hypothes": "hypothesis hypotheses", "speci": "species", "seri": "series", "bas": "basis bases base based",
    }.items()
    for form in forms.split()
}  # fmt: skip


@lru_cache(maxsize=1)
def _groups() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in GROUPS.split("\n"):
        members = {term(word) for word in line.split()}
        for member in members:
            found.setdefault(member, set()).update(members)
    return found


def synonyms(stem: str) -> frozenset[str]:
    """The stems a hand-kept table holds for much the same, without the stem itself."""
    return frozenset(_groups().get(stem, ())) - {stem}
