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


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """How the search ended; `more` when there are matches beyond the limit."""

    files: int = 0
    secret: int = 0
    large: int = 0
    more: bool = False
    error: str = ""


def search(wanted: Wanted) -> Iterator[Match | Finished]:
    """Every match, then how it ended."""
    try:
        pattern = re.compile(wanted.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        yield Finished(error=f"`pattern` is no regular expression: {error}")
        return
    files = secret = large = shown = 0
    for name, path in _files(wanted):
        if not wanted.may_read_secrets and wanted.places.secret(os.path.realpath(path)):
            secret += 1
            continue
        try:
            content = _content(path)
        except ToolError:
            large += 1
            continue
        files += content is not None
        for number, line in enumerate((content or "").split("\n") if content else (), 1):
            found = pattern.search(line)
            if found is None:
                continue
            if shown == wanted.limit:
                yield Finished(files=files, secret=secret, large=large, more=True)
                return
            shown += 1
            yield Match(name, number, _clipped(line.rstrip("\r"), found.start()))
    yield Finished(files=files, secret=secret, large=large)


def _files(wanted: Wanted) -> Iterator[tuple[str, str]]:
    if not os.path.isdir(wanted.path):
        yield os.path.basename(wanted.path), wanted.path
        return
    fits = patterns.matcher(wanted.files)
    for name, is_folder in walk.entries(wanted.path):
        if not is_folder and fits(name):
            yield name, os.path.join(wanted.path, name)


def _content(path: str) -> str | None:
    """The text of a file, None when it is none; raises `ToolError` when it is too large."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError:
        return None
    if len(data) > LARGEST:
        raise ToolError("too large")
    try:
        return text.form_of(data[: text.SAMPLE], path).decode(data)
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
