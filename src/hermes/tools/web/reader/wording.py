"""Names and first words taken apart into tokens, as the model weighs them."""

import re

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_STRIPPED = (
    ".,:;!?()[]{}\"'|-+*/\\#\u00a9\u00ab\u00bb\u00b7\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026"
    "\u2039\u203a\u2190\u2192\u25bc"
)
FIRST = 6
WHOLE = 3
OPENING = 500


def name_tokens(names: str) -> list[str]:
    """The words inside a class or an id, however they are joined."""
    return [token.lower() for token in _NAME.findall(names)]


def word_tokens(text: str) -> list[str]:
    """The first words of a text, its very first one, and the whole if it is a label."""
    words = [word.strip(_STRIPPED) for word in text[:OPENING].lower().split(None, FIRST)[:FIRST]]
    words = ["0" if word[:1].isdigit() else word for word in words]
    if not words:
        return []
    tokens = [*words, f"^{words[0]}"]
    if len(words) <= WHOLE:
        tokens.append(f"={' '.join(words)}")
    return tokens
