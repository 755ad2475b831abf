"""Text as it arrives, let go in pieces that no key is cut by."""

import re
from collections.abc import Callable

_LAST_CUT = re.compile(r"(?s).*[ \n\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
"""Up to the last letter that no key holds: a blank, or a letter of Chinese, Japanese or Korean."""
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
        cut = _LAST_CUT.match(delta)
        if cut:
            ready, self._text = self._text + cut[0], delta[cut.end() :]
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
