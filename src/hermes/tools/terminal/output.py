"""What a program prints, kept within bounds and made plain: its beginning, its end, no control codes."""

import codecs
import re

KEPT = 20_000
"""Characters of the beginning, and as many of the end."""

_CONTROL = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


class Output:
    """Takes bytes as they come; remembers no more than both ends."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = ""
        self._tail = ""
        self._left_out = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        room = KEPT - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * KEPT:
            self._cut()

    def text(self) -> str:
        """All that is kept, plain, with a note of what is not."""
        self.feed(b"", final=True)
        self._cut()
        if not self._left_out:
            return plain(self._head + self._tail)
        gap = f"\n[… {self._left_out} characters left out …]\n"
        return plain(self._head) + gap + plain(self._tail)

    def _cut(self) -> None:
        excess = max(len(self._tail) - KEPT, 0)
        self._left_out += excess
        self._tail = self._tail[excess:]


def plain(text: str) -> str:
    """Text without control sequences; of a line that was drawn over, what it showed last."""
    lines = re.sub(_CONTROL, "", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
