"""Text as it arrives, let go in pieces that no key is cut by."""

import re
from collections.abc import Callable

_UNSPACED = r"(?s).*[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]"
"""Up to the last letter of Chinese, Japanese or Korean, which no key holds; compiled where there are any."""
_LONGEST = 8_192
_LONGEST_KEY = 1_024


class Held:
    """Lets go of text up to its last blank, with the secrets in it taken out.

    Of text without a blank it keeps back as much as a key may be long.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._text = ""

    def add(self, delta: str) -> str:
        """What can be shown now."""
        cut = _last_cut(delta)
        if cut:
            ready, self._text = self._text + delta[:cut], delta[cut:]
            return self._redact(ready)
        self._text += delta
        if len(self._text) < _LONGEST:
            return ""
        clean = self._redact(self._text)
        ready, self._text = clean[:-_LONGEST_KEY], clean[-_LONGEST_KEY:]
        return ready

    def rest(self) -> str:
        """All that is left, for when no more comes."""
        ready, self._text = self._text, ""
        return self._redact(ready)


def _last_cut(text: str) -> int:
    """The place after the last letter that no key holds; 0 where there is none."""
    blank = max(text.rfind(" "), text.rfind("\n")) + 1
    unspaced = None if text.isascii() else re.match(_UNSPACED, text)
    return max(blank, unspaced.end()) if unspaced else blank
