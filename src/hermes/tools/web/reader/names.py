"""Names of classes and ids taken apart into tokens, as the model weighs them."""

import re

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SMALL_LETTERS = "".join(letter if letter.islower() else " " for letter in map(chr, range(128)))
"""What stands for each ASCII letter in a name without capitals: itself, or a space."""


def name_tokens(names: str) -> list[str]:
    """The words inside a class or an id, however they are joined."""
    if names.isascii() and names.islower():
        return names.translate(_SMALL_LETTERS).split()
    return [token.lower() for token in _NAME.findall(names)]
