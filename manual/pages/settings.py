"""Every setting with its variable, what it may be, and its default."""

from contextlib import suppress
from itertools import groupby
from typing import get_args, get_type_hints

from hermes.config.keys import KEYS, Key
from hermes.config.settings import SECTIONS, Origin
from manual.table import code, table

NAME = "settings.md"
_LEAD = """# All settings

This page is made from the code. The page [Configuration](../reference/configuration.md) says what they do.

A setting comes from one of these places, and `hermes config show --origin` says from which: {}.
"""


def text() -> str:
    places = get_args(get_type_hints(Origin)["source"])
    parts = [_LEAD.format(", ".join(map(code, places)))]
    for section, keys in groupby(KEYS.values(), lambda key: key.section):
        parts.append(f"## The section {section}\n")
        if words := SECTIONS[section].__dict__.get("__doc__"):
            parts.append(f"{' '.join(words.split())}\n")
        parts.append(table(("setting", "variable", "value", "default"), map(_row, keys)))
    return "\n".join(parts)


def _row(key: Key) -> tuple[str, str, str, str]:
    return code(key.path), code(key.variable), _wanted(key), _shown(key.default)


def _wanted(key: Key) -> str:
    """What a value must be, in the words in which a wrong one is refused."""
    if key.is_secret:
        return "a secret, which never prints"
    words: dict[str, None] = {}
    for wrong in (object(), -1, 0):
        with suppress(ValueError):
            key.check(wrong)
            continue
        words[_refusal(key, wrong)] = None
    return ", ".join(words)


def _refusal(key: Key, wrong: object) -> str:
    try:
        key.check(wrong)
    except ValueError as error:
        return str(error).partition(" (")[0]
    return ""


def _shown(default: object) -> str:
    match default:
        case None | "" | () | {}:
            return ""
        case bool():
            return code(str(default).lower())
        case tuple():
            return code(", ".join(map(str, default)))
        case float():
            return code(f"{default:g}")
        case _:
            return code(str(default))
