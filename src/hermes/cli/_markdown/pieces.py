"""A paragraph cut into pieces as it arrives, each let go when nothing that follows can change it.

A piece is a word, or a span with all its words: `**two words**`. It ends where a blank follows and no mark
is open, so where a text is cut on its way here makes no difference.
"""

import re
import unicodedata
from collections.abc import Iterator

import msgspec

from hermes.cli._width import letter_cells

LONGEST_SPAN = 1_000
"""Letters after which a mark that nothing closes is taken for a letter itself."""
LONGEST_WORD = 4_000
"""Letters after which a word without an end is let go."""

_FARTHEST = LONGEST_WORD + 3 * LONGEST_SPAN
"""How far the end of a piece can be."""
_BLANKS = " \t\n"
_SOME_BLANKS = re.compile(r"[ \t\n]+")
_CLOSING = ("Pe", "Pf", "Po")
"""The categories of letters that no line begins with."""


class Opener(msgspec.Struct):
    """A run of `*`, `_` or `~~` that may begin a span."""

    at: int
    letter: str
    length: int
    closes_too: bool
    original: int


class _Wait(Exception):
    """What comes next decides."""


class _GiveUp(Exception):
    """A mark stays open for too long: it and all that are open with it are letters."""


class Pieces:
    """Cuts a paragraph into pieces as it arrives; a blank line break is the piece `\\n`."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> Iterator[str]:
        """What is settled now."""
        self._text += text
        return self._settled(final=False)

    def rest(self) -> Iterator[str]:
        """All that is left, for when the paragraph is over."""
        return self._settled(final=True)

    def _settled(self, *, final: bool) -> Iterator[str]:
        text, at = self._text, 0
        while at < len(text):
            blanks = _SOME_BLANKS.match(text, at)
            if blanks:
                at = blanks.end()
                yield from "\n" * blanks[0].count("\n")
                yield " "
                continue
            seen = text[at : at + _FARTHEST]
            try:
                end = at + _Scan(seen, final=final and at + _FARTHEST >= len(text)).end()
            except _Wait:
                break
            except _GiveUp as given_up:
                text, at = _escaped(seen, given_up.args[0]) + text[at + _FARTHEST :], 0
                continue
            piece, at = text[at:end], end
            yield piece.removesuffix("\\") if text.startswith("\n", at) else piece
        self._text = text[at:]


def _escaped(text: str, openers: list[Opener]) -> str:
    for opener in reversed(openers):
        end = opener.at + opener.original
        text = text[: opener.at] + f"\\{opener.letter}" * opener.original + text[end:]
    return text


class _Scan:
    """Looks for the end of the first piece of a text."""

    def __init__(self, text: str, *, final: bool) -> None:
        self._text = text
        self._final = final
        self._open: list[Opener] = []

    def end(self) -> int:
        text, at = self._text, 0
        while at < len(text):
            letter = text[at]
            if self._open:
                if at - self._open[0].at > LONGEST_SPAN:
                    raise _GiveUp(self._open)
            elif letter in _BLANKS or at >= LONGEST_WORD:
                return at
            at = self._step(letter, at)
            if not self._open and self._breaks_after(at - 1):
                return at
        if not self._final:
            raise _Wait
        return at

    def _step(self, letter: str, at: int) -> int:
        match letter:
            case "\\":
                return at + (2 if self._peek(at + 1) not in ("", *_BLANKS) else 1)
            case "`":
                return self._after_code(at)
            case "[":
                return self._after_link(at)
            case "<":
                return self._after_address(at)
            case "*" | "_" | "~":
                return self._after_marks(letter, at)
            case _:
                return at + 1

    def _peek(self, at: int) -> str:
        """The letter at this place, empty after the last one; raises when it has not come yet."""
        if at < len(self._text):
            return self._text[at]
        if self._final:
            return ""
        raise _Wait

    def _run(self, at: int) -> int:
        """Where a run of the same letter ends."""
        letter, end = self._text[at], at
        while end - at < LONGEST_SPAN and self._peek(end) == letter:
            end += 1
        return end

    def _after_code(self, at: int) -> int:
        """After the span of code that begins here; after its marks where it never ends."""
        start = self._run(at)
        fence = self._text[at:start]
        window = self._text[start : at + LONGEST_SPAN]
        found = re.search(rf"(?<!`){fence}(?!`)", window)
        if found and start + found.end() < len(self._text):
            return start + found.end()
        if len(self._text) - at > LONGEST_SPAN or self._final:
            return start + found.end() if found else start
        raise _Wait

    def _after_link(self, at: int) -> int:
        """After the link whose words begin here; after the bracket where it is none."""
        limit = at + LONGEST_SPAN
        closing = self._closing(at, limit, "[]")
        if closing is None or closing + 1 >= limit or self._peek(closing + 1) != "(":
            return at + 1
        end = self._closing(closing + 1, limit, "()")
        return at + 1 if end is None else end + 1

    def _closing(self, at: int, limit: int, pair: str) -> int | None:
        """Where the bracket that opens here is closed; None where it is not, up to the limit."""
        depth, place = 0, at if pair[1] in self._text[at:limit] else limit
        while place < min(limit, len(self._text)):
            letter = self._text[place]
            if letter == "\\":
                place += 1
            elif letter in pair:
                depth += 1 if letter == pair[0] else -1
            if not depth:
                return place
            place += 1
        if len(self._text) > limit or self._final:
            return None
        raise _Wait

    def _after_address(self, at: int) -> int:
        place = at + 1
        while place - at < LONGEST_SPAN and (letter := self._peek(place)) and letter not in f"{_BLANKS}<>":
            place += 1
        is_address = letter == ">" and re.match(r"<[A-Za-z][A-Za-z0-9+.-]+:", self._text[at:place])
        return place + 1 if is_address else at + 1

    def _after_marks(self, letter: str, at: int) -> int:
        end = self._run(at)
        before, after = self._text[at - 1] if at else " ", self._peek(end) or " "
        opens, closes = _flanks(letter, before, after)
        length = end - at
        if letter == "~" and length != 2:  # one or three are no mark
            return end
        marks = Opener(at, letter, length, opens and closes, length)
        if closes:
            self._close(marks)
        if opens and marks.length:
            self._open.append(marks)
        return end

    def _close(self, closer: Opener) -> None:
        """Pair a closing run with what it closes; openers in between are letters from now on."""
        while closer.length:
            place = self._partner(closer)
            if place is None:
                return
            opener = self._open[place]
            del self._open[place + 1 :]
            used = 2 if min(opener.length, closer.length) > 1 else 1
            opener.length -= used
            closer.length -= used
            if not opener.length:
                del self._open[place]

    def _partner(self, closer: Opener) -> int | None:
        for place in reversed(range(len(self._open))):
            opener = self._open[place]
            if opener.letter == closer.letter and not _clash(opener, closer):
                return place
        return None

    def _breaks_after(self, at: int) -> bool:
        """Whether a line may break after this letter though no blank follows, as after a Chinese one."""
        if letter_cells(self._text[at]) < 2:
            return False
        after = self._peek(at + 1)
        return bool(after) and unicodedata.category(after) not in _CLOSING and letter_cells(after) == 2


def _clash(opener: Opener, closer: Opener) -> bool:
    """CommonMark's rule of three: runs that could do both do not pair when their lengths add up to it."""
    both = opener.closes_too or closer.closes_too
    whole = opener.original % 3 == 0 and closer.original % 3 == 0
    return both and (opener.original + closer.original) % 3 == 0 and not whole


def _flanks(letter: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a run of marks between these letters can begin a span, and whether it can end one."""
    blank_before, blank_after = before in _BLANKS, after in _BLANKS
    point_before, point_after = _is_point(before), _is_point(after)
    left = not blank_after and (not point_after or blank_before or point_before)
    right = not blank_before and (not point_before or blank_after or point_after)
    if letter == "_":
        return left and (not right or point_before), right and (not left or point_after)
    return left, right


def _is_point(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS"
