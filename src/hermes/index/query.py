"""A person's words as an FTS5 expression: whatever they type, it can only be searched for."""

import re

import msgspec

MAX_CHARACTERS = 4_000
MAX_TERMS = 64
MAX_PHRASES = 8

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r'["“”]([^"“”]{3,200})["“”]')
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)
_COMMON = """
a about after all also an and any are as at be because been before being between but by can could did do
does doing done down during each few for from had has have he her here him his how i if in into is it its
itself just many me more most much my no nor not of on once one only or other our out over own same she so
some such than that the their them then there these they this those through to too under until up was we
were what when where which while who whom whose why will with would you your s t
"""
_STOP_WORDS = frozenset(_COMMON.split())


class Query(msgspec.Struct, frozen=True):
    """What to match, and the words a reader would look for."""

    expression: str
    words: tuple[str, ...]


def build(text: str) -> Query | None:
    """The expression for some text; None when it holds no word."""
    text = text[:MAX_CHARACTERS]
    pairs = list(dict.fromkeys(pair for run in _unspaced(text) for pair in _pairs(run)))[:MAX_TERMS]
    spaced = text if not pairs else re.sub(_UNSPACED, " ", text)
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(spaced)))
    telling = ([word for word in words if word not in _STOP_WORDS] or words)[:MAX_TERMS]
    phrases = [f'"{word}"' for word in telling]
    phrases += [_phrase(quoted) for quoted in _QUOTED.findall(spaced)[:MAX_PHRASES]]
    phrases += [f'grams : "{pair}"{" *" if len(pair) == 1 else ""}' for pair in pairs]
    return Query(" OR ".join(phrases), (*telling, *pairs)) if phrases else None


def grams(text: str) -> str:
    """The letter pairs of scripts that put no spaces between words, to be indexed beside the words.

    The last letter of a run stands alone, so that a single letter finds every place it occurs in.
    """
    return " ".join(pair for run in _unspaced(text) for pair in (*_pairs(run), run[-1]))


def _unspaced(text: str) -> list[str]:
    """The runs of such letters. The pattern takes milliseconds to compile: only where it may match."""
    return [] if text.isascii() else re.findall(_UNSPACED, text)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _phrase(text: str) -> str:
    return f'"{" ".join(_WORD.findall(text))}"'
