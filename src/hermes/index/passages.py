"""A document cut into passages: a heading path with about a screenful of text under it."""

import re
from collections.abc import Iterator

import msgspec

SHORT = 600
LONG = 1_200
LONG_CODE = 4_000
MAX_PASSAGES = 60_000

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]|\n")  # noqa: RUF001 - full stops of Chinese
_WORD_END = re.compile(r"\s")


class Passage(msgspec.Struct, frozen=True):
    heading: str
    body: str


def cut(text: str) -> list[Passage]:
    """The passages of a Markdown text in order; together they hold all of it but its headings' marks."""
    found: list[Passage] = []
    path: list[str] = []
    held: list[str] = []
    size = 0

    def close() -> None:
        nonlocal size
        if held:
            found.append(Passage(" > ".join(filter(None, path)), "\n\n".join(held)))
        held.clear()
        size = 0

    for block in _blocks(text):
        heading = _HEADING.match(block)
        if heading:
            close()
            level = len(heading[1])
            path[:] = [*path[: level - 1], *[""] * (level - 1 - len(path)), heading[2]]
            continue
        if size and size + len(block) > LONG:
            close()
        held.append(block)
        size += len(block)
        if size >= SHORT:
            close()
    close()
    return found[:MAX_PASSAGES]


def first_heading(text: str) -> str:
    """The first `#` heading of a Markdown text."""
    return next((heading[2] for block in _blocks(text) if (heading := _HEADING.match(block))), "")


def _blocks(text: str) -> Iterator[str]:
    """Headings, paragraphs and fenced code, none longer than a passage may be."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        marker = _FENCE.match(line)
        if fence:
            lines.append(line)
            if marker and marker[1].startswith(fence):
                yield from _bounded(lines, LONG_CODE)
                fence = ""
        elif marker:
            yield from _bounded(lines, LONG)
            lines.append(line)
            fence = marker[1]
        elif _HEADING.match(line):
            yield from _bounded(lines, LONG)
            yield line
        elif line.strip():
            lines.append(line)
        else:
            yield from _bounded(lines, LONG)
    yield from _bounded(lines, LONG_CODE if fence else LONG)


def _bounded(lines: list[str], limit: int) -> Iterator[str]:
    """The lines as one block, emptied; an overlong one is cut at a sentence, else a word, else anywhere."""
    text = "\n".join(lines)
    lines.clear()
    start = 0
    while len(text) - start > limit:
        end = _cut_before(text, start, start + limit)
        yield text[start:end].strip()
        start = end
    rest = text[start:].strip("\n") if start == 0 else text[start:].strip()
    if rest:
        yield rest


def _cut_before(text: str, start: int, end: int) -> int:
    """Where to cut a text between two places: the last good place in the second half."""
    for pattern in (_SENTENCE_END, _WORD_END):
        last = start
        for found in pattern.finditer(text, start + (end - start) // 2, end):
            last = found.end()
        if last > start:
            return last
    return end
