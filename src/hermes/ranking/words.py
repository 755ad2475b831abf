"""Words as rankings see them: folded and light-stemmed.

Latin text gives one term per word; scripts without spaces give one term per pair of characters.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

from hermes.ranking.lexicon import IRREGULAR

_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\d+(?:[.,]\d+)*[a-z]{0,2}\b|[^\W_]+(?:_[^\W_]+|['\u2019][^\W_]+)*")


def fold(text: str) -> str:
    """Lower case without accents, so that `Fécamp` and `fecamp` are one word."""
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(char for char in split if not unicodedata.combining(char))
    return plain.replace("ł", "l").replace("ø", "o").replace("\u2019", "'")


def surface(text: str) -> list[str]:
    """The words of a text as written; a run of a script without spaces is cut into pairs."""
    if text.isascii() or not any(map(_is_spaceless, text)):
        return _TOKEN.findall(text)
    found: list[str] = []
    for is_spaceless, chars in groupby(text, _is_spaceless):
        run = "".join(chars)
        if is_spaceless:
            found.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        else:
            found.extend(_TOKEN.findall(run))
    return found


def _is_spaceless(char: str) -> bool:
    """Thai, kana and Chinese characters; as a regular expression, these ranges take long to compile."""
    return "\u0e00" <= char <= "\u0e7f" or "\u3040" <= char <= "\u9fff"


@lru_cache(maxsize=50_000)
def term(word: str) -> str:
    """What two spellings of one word have in common: case, accents, possessive and inflection removed."""
    plain = fold(word)
    if plain[:1].isdigit():
        return plain.replace(",", "")
    plain = plain.replace(".", "")
    if "'" in plain:
        plain = plain.split("'")[0]
    return IRREGULAR.get(plain) or inflection_removed(plain)


def terms(text: str) -> list[str]:
    """The terms of a text in order, stop words included."""
    return [term(word) for word in surface(text)]


def inflection_removed(word: str) -> str:
    """Plural, `-ed` and `-ing` taken off, conservatively."""
    if len(word) <= 3 or not word.isascii():
        return word
    if word[-1] == "s":
        word = _singular(word)
    if word.endswith(("ing", "ed")):
        stem = word[:-3] if word[-1] == "g" else word[:-2]
        if len(stem) >= 3 and _has_vowel(stem):
            return _mended(stem)
    if word[-1] == "e" and len(word) > 4:
        return word[:-1]
    if word[-1] == "y" and len(word) > 3 and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    """A word in `s`, as one of them."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("ches", "shes", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def _mended(stem: str) -> str:
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith("y") and stem[-2] not in "aeiou":
        return stem[:-1] + "i"
    return stem[:-1] if stem.endswith("e") and len(stem) > 4 else stem


def _has_vowel(stem: str) -> bool:
    return any(char in "aeiouy" for char in stem)
