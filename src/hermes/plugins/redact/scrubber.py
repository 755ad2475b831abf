"""A text without what should not be told: the same whether it comes whole or in pieces."""

import re
from collections.abc import Collection
from typing import Literal

Sort = Literal["keys", "emails", "numbers"]

_START = r"(?:(?<![\w.+\\-])|(?<=\\[nrtbf])|(?<=\\u[\dA-Fa-f]{4}))"
"""Where a word starts: also after an escape of JSON, whose letter belongs to the escape."""

_BLOCK = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^\0]{0,16000}?-----END [A-Z ]{0,30}PRIVATE KEY-----"

PATTERNS: dict[Sort, str] = {
    "keys": (
        rf"{_BLOCK}|{_START}(?:"
        r"(?:sk-|xai-|hf_|gsk_|glpat-|github_pat_|gh[opsru]_|xox[abeprs]-|AIza|ya29\.)[\w-]{16,}"
        r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
        r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,})"
    ),
    "emails": rf"{_START}[\w.+-]{{1,64}}@(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}[A-Za-z]{{2,24}}",
    "numbers": rf"{_START}(?!\d{{4}}-\d\d-\d\d)\+?\d(?:[ -]?\d){{8,40}}",
}
"""What each sort matches: within a word, but for numbers with spaces and blocks of private keys."""

_EDGE = re.compile(r"(?<!\d)[^\w.+@\\-]|(?<=\d)[^\w.+@\\ -]", re.ASCII)
"""The end of what can be one match, but for blocks."""

_WHOLE_BLOCK = re.compile(_BLOCK)
_BEGUN_BLOCK = re.compile(r"-----BEGIN (?:[A-Z ]{0,43}-{0,5}\Z|[A-Z ]{0,30}PRIVATE KEY-----)")
_LONGEST_BLOCK = 16_200


class Scrubber:
    """One text on its way. What might become a match is held back until that is certain."""

    def __init__(self, sorts: Collection[Sort]) -> None:
        self._pattern = pattern_of(sorts)
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be told now that this piece has come."""
        self._held += piece
        end = _certain(self._held)
        told, self._held = self._held[:end], self._held[end:]
        return scrubbed(told, self._pattern)

    def end(self) -> str:
        """What was held back, now that nothing follows."""
        told, self._held = self._held, ""
        return scrubbed(told, self._pattern)


def pattern_of(sorts: Collection[Sort]) -> re.Pattern[str]:
    named = [f"(?P<{sort}>{PATTERNS[sort]})" for sort in PATTERNS if sort in sorts]
    return re.compile("|".join(named) or r"(?!)", re.ASCII)


def scrubbed(text: str, pattern: re.Pattern[str]) -> str:
    """The text with every match replaced by its sort: `[key]`, `[email]`, `[number]`."""
    return pattern.sub(lambda match: f"[{(match.lastgroup or '')[:-1]}]", text)


def _certain(text: str) -> int:
    """How much of a text no continuation can change the matches of."""
    blocks = [block.span() for block in _WHOLE_BLOCK.finditer(text)] if "-----BEGIN " in text else []
    limit = _begun(text, blocks[-1][1] if blocks else 0)
    edges = (edge.end() for edge in _EDGE.finditer(text))
    sure = (end for end in edges if end <= limit and not any(start < end < stop for start, stop in blocks))
    return max(sure, default=0)


def _begun(text: str, since: int) -> int:
    """Where a block begins that has no end yet; the end of the text when none does."""
    begun = _BEGUN_BLOCK.search(text, since)
    return begun.start() if begun and len(text) - begun.start() < _LONGEST_BLOCK else len(text)
