"""The process that searches files: a pattern that never ends can be ended with it.

One JSON object on stdin; on stdout a line of JSON for each match, then one with the counts.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator

import msgspec

from hermes.errors import ToolError
from hermes.tools.files import patterns, text, walk
from hermes.tools.places import Places

LARGEST = 10_000_000
LONGEST_LINE = 300


class Wanted(msgspec.Struct, frozen=True):
    """What to look for: a regular expression, in which files under a path, and how many lines."""

    pattern: str
    path: str
    files: str
    limit: int
    places: Places
    may_read_secrets: bool = False


class Match(msgspec.Struct, frozen=True, tag="match"):
    path: str
    line: int
    text: str


class Finished(msgspec.Struct, tag="finished"):
    """How the search went: files read and left out; `more` when there are matches beyond the limit."""

    files: int = 0
    secret: int = 0
    large: int = 0
    more: bool = False
    error: str = ""


def search(wanted: Wanted) -> Iterator[Match | Finished]:
    """Every match, then how it went."""
    end = Finished()
    try:
        pattern = re.compile(wanted.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        end.error = f"`pattern` is no regular expression: {error}"
        yield end
        return
    for shown, match in enumerate(_matches(wanted, pattern, end)):
        if shown == wanted.limit:
            end.more = True
            break
        yield match
    yield end


def _matches(wanted: Wanted, pattern: re.Pattern[str], end: Finished) -> Iterator[Match]:
    for name, path in _files(wanted):
        if not wanted.may_read_secrets and wanted.places.secret(os.path.realpath(path)):
            end.secret += 1
            continue
        data = _data(path)
        if len(data) > LARGEST:
            end.large += 1
            continue
        content = _text(data)
        end.files += content is not None
        for number, line in enumerate(content.removesuffix("\n").split("\n") if content else (), 1):
            found = pattern.search(line)
            if found is not None:
                yield Match(name, number, _clipped(line.rstrip("\r"), found.start()))


def _files(wanted: Wanted) -> Iterator[tuple[str, str]]:
    if not os.path.isdir(wanted.path):
        yield os.path.basename(wanted.path), wanted.path
        return
    fits = patterns.matcher(wanted.files)
    for name, is_folder in walk.entries(wanted.path):
        if not is_folder and fits(name):
            yield name, os.path.join(wanted.path, name)


def _data(path: str) -> bytes:
    """What is in a file, as far as it is read at all; nothing when it cannot be."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except OSError:
        return b""


def _text(data: bytes) -> str | None:
    try:
        return text.form_of(data[: text.SAMPLE], "").decode(data)
    except ToolError:
        return None


def _clipped(line: str, at: int) -> str:
    """A line, or the part of a long one round the match."""
    if len(line) <= LONGEST_LINE:
        return line
    start = max(min(at - LONGEST_LINE // 3, len(line) - LONGEST_LINE), 0)
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


if __name__ == "__main__":
    encode = msgspec.json.Encoder().encode
    for found in search(msgspec.json.decode(sys.stdin.buffer.read(), type=Wanted)):
        sys.stdout.buffer.write(encode(found) + b"\n")
        sys.stdout.buffer.flush()
