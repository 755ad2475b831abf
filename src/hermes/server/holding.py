"""Words on their way out in pieces, without a secret in them: no piece ends where a key might go on."""

import re
from collections.abc import Callable

_LONGEST_KEY = 4_096
_NO_KEY = re.compile(r"[^\x21-\x7e][\x21-\x7e]*\Z")
"""The last character that no key has, and what comes after it."""


class Holding:
    """Lets words go up to where a key might begin; with nothing to hide, all of them at once."""

    def __init__(self, redact: Callable[[str], str] | None) -> None:
        self._redact = redact
        self._held = ""

    def another(self) -> "Holding":
        """The same for other words that come in between."""
        return Holding(self._redact)

    def add(self, words: str) -> str:
        """What can be said now."""
        if self._redact is None:
            return words
        held = self._held + words
        found = _NO_KEY.search(held)
        cut = found.start() + 1 if found else 0
        if len(held) - cut > _LONGEST_KEY:
            cut = len(held)
        ready, self._held = held[:cut], held[cut:]
        return self._redact(ready) if ready else ""

    def rest(self) -> str:
        """All that is left, for when no more comes."""
        ready, self._held = self._held, ""
        return self.clean(ready)

    def clean(self, words: str) -> str:
        """Whole words without a secret."""
        return self._redact(words) if self._redact is not None and words else words
