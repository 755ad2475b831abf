"""Names and first words taken apart into tokens, as the model weighs them."""

import re

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SMALL_LETTERS = "".join(letter if letter.islower() else " " for letter in map(chr, range(128)))
"""What stands for each ASCII letter in a name without capitals: itself, or a space."""
_STRIPPED = (
    ".,:;!?()[]{}\"'|-+*/\\#\u00a9\u00ab\u00bb\u00b7\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026"
    "\u2039\u203a\u2190\u2192\u25bc"
)
FIRST = 6
WHOLE = 3
OPENING = 200


def name_tokens(names: str) -> list[str]:
    """The words inside a class or an id, however they are joined."""
    if names.isascii() and names.islower():
        return names.translate(_SMALL_LETTERS).split()
    return [token.lower() for token in _NAME.findall(names)]


def word_tokens(text: str) -> list[str]:
    """The first words of a text, its very first one, and the whole if it is a label."""
    words = text[:OPENING].lower().split(None, FIRST)
    del words[FIRST:]
    for at, word in enumerate(words):
        if not word.isalpha():
            bare = word.strip(_STRIPPED)
            words[at] = "0" if bare[:1].isdigit() else bare
    if words:
        count = len(words)
        words.append(f"^{words[0]}")
        if count <= WHOLE:
            words.append(f"={' '.join(words[:count])}")
    return words
