"""How a line of Markdown begins, and what that says of it."""

import re
from typing import Literal

import msgspec

_LONGEST_DOUBT = 200
"""Letters after which a line of dashes is a paragraph, and no longer a rule that is still being drawn."""
DEEPEST = 12
"""Quotes and items in each other; what is deeper is words."""
CODE_INDENT = 4

QUOTE = re.compile(r"[ \t]*> ?")
ITEM = re.compile(r"([ \t]*)([-+*]|\d{1,9}[.)])(?:([ \t]+)(?=[^ \t])|[ \t]*$)")
FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)")
HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
WHOLE = re.compile(r"[ \t>]*(?:#{1,6}[ \t].*|```.*|~~~.*|\|.*)")
"""The beginning of a line that says nothing until it is whole."""
_UNDECIDED = re.compile(r"[ \t>]*(?:(?:[-+*_][ \t]*)*|=+[ \t]*|\d{1,9}|\d{1,9}[.)][ \t]*|#{1,6}|[`~]{1,2})")
"""The beginning of a line that may still become more than one kind of block."""
_TOO_FAR_IN = rf"(?m)^([ \t]{{{_LONGEST_DOUBT}}})[ \t]+"


class Container(msgspec.Struct, frozen=True):
    """A quote, or an item of a list whose words begin so many columns in."""

    kind: Literal["quote", "item"]
    indent: int = 0
    mark: str = ""


class Fence(msgspec.Struct, frozen=True):
    """Code until this fence comes again; so many blanks before each line are the fence's own."""

    mark: str
    indent: int


def begins_block(line: str) -> bool:
    is_block = FENCE.fullmatch(line) or HEADING.match(line) or line.lstrip(" \t").startswith("|")
    return bool(is_block) or is_rule(line)


def is_undecided(line: str) -> bool:
    return (is_short(line) or not line.strip(" \t>")) and bool(_UNDECIDED.fullmatch(line))


def is_rule(line: str) -> bool:
    return is_short(line) and bool(_RULE.match(line))


def is_short(line: str) -> bool:
    return len(line) < _LONGEST_DOUBT


def squeezed(text: str) -> str:
    """The text without blanks at the beginning of a line that no screen has room for."""
    return re.sub(_TOO_FAR_IN, r"\1", text) if " " * _LONGEST_DOUBT in text else text


def set_in(line: str) -> int:
    """The columns of blanks that a line begins with."""
    blanks = line[: len(line) - len(line.lstrip(" \t"))]
    return len(blanks.expandtabs(CODE_INDENT))


def without(line: str, columns: int) -> str:
    """The line without so many columns of blanks at its beginning."""
    left = set_in(line) - columns
    return " " * max(left, 0) + line.lstrip(" \t") if line.strip(" \t") else line[columns:]
