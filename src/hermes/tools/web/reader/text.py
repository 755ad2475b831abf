"""Markdown and plain text made readable: decoded, its title found, its front matter taken off."""

import os
import re

from hermes.protocols import Page
from hermes.tools.web.reader.charset import decode

MAX_TITLE = 500

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,20000}?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_FIELD = re.compile(r"^(title|description|author|date|lang)[ \t]*:[ \t]*(.+)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_UNDERLINE = re.compile(r"(?:=+|-{2,})[ \t]*$")
_HEADING_WITHIN = 200


def read_text(data: bytes, name: str) -> Page:
    """A Markdown or plain text. The title is its own, else the stem of the file `name`."""
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    metadata, body = _front_matter(text)
    title = metadata.pop("title", "") or _heading(body) or os.path.splitext(os.path.basename(name))[0]
    return Page(markdown=body.strip("\n"), title=title[:MAX_TITLE], metadata=metadata)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The plain fields of a YAML head, and the text after it."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    fields = {name: value.strip().strip("\"'") for name, value in _FIELD.findall(found[1] or "")}
    return fields, text[found.end() :]


def _heading(body: str) -> str:
    """The first heading near the start, marked with `#` or underlined."""
    fence, before = "", ""
    for line in body.split("\n", _HEADING_WITHIN)[:_HEADING_WITHIN]:
        marker = _FENCE.match(line)
        if fence or marker:
            fence = _after_fence(fence, marker)
            before = ""
            continue
        atx = _ATX.match(line)
        if atx and atx[1]:
            return atx[1]
        if before and _UNDERLINE.match(line):
            return before
        before = line.strip()
    return ""


def _after_fence(fence: str, marker: re.Match[str] | None) -> str:
    """The fence that is open after a line: one of the same kind closes it."""
    if not fence:
        return marker[1] if marker else ""
    return "" if marker and marker[1].startswith(fence) else fence
