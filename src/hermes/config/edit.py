"""One change to a settings file; everything else it says stays, comments and order too."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from hermes import discover
from hermes.config import environment, files, keys, loading
from hermes.config.secret import Secret
from hermes.errors import UsageError


def set_value(home: str, path: str, value: object) -> None:
    """Set one key in config.yaml, making the file and the folder when there are none.

    Text may spell a number, as in the environment. Raises `UnknownName` or `ConfigError` before
    anything is written, `StoreUnavailable` when the file cannot be.
    """
    key = keys.find(path)
    parsed = key.parse_given(value, f"`{path}`")
    plain = _texts(key, parsed, f"`{path}`") if key.is_list_of_texts else _plain(parsed)
    parts = key.name.split(".")
    _rewrite(home, key.section, lambda section: _with(section, parts, plain), secret=key.is_secret)


def _with(section: object, path: Sequence[str], value: object) -> dict[str, Any]:
    """A mapping of a file with one value set, however deep; what stands in the way is replaced."""
    first, *rest = path
    held = section if isinstance(section, dict) else {}
    return held | {first: _with(held.get(first), rest, value) if rest else value}


def add_value(home: str, path: str, value: str) -> None:
    """Add one text to a list of texts in config.yaml, unless it is there. Raises as `set_value` does."""
    key = keys.find(path)
    added = _texts(key, value, f"`{path}`")

    def change(section: dict[str, Any]) -> dict[str, Any]:
        there = _texts(key, section.get(key.name), f"`{path}`")
        return section | {key.name: list(dict.fromkeys([*there, *added]))}

    _rewrite(home, key.section, change)


def update(home: str, section: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change a section of config.yaml as a whole, while nobody else can.

    `change` is given what the section says, and returns what it shall say. Raises as `set_value` does.
    """
    _rewrite(home, section, change)


def _rewrite(
    home: str, section: str, change: Callable[[dict[str, Any]], dict[str, Any]], *, secret: bool = False
) -> None:
    file = loading.config_path(home)
    with _locked(home, file):
        found = files.read(file) or files.Found("", files.PRIVATE_FILE)
        changed = discover.module("hermes.config.yaml_edit").changed(found.text, file, section, change)
        files.replace(file, changed, files.PRIVATE_FILE if secret else found.mode)


def _texts(key: keys.Key, value: object, where: str) -> list[str]:
    parsed = () if value is None else key.parse(value, where)
    return [str(item) for item in parsed] if isinstance(parsed, tuple) else []


def _plain(value: object) -> object:
    """A setting as a file holds it; a list of names in one line."""
    match value:
        case Secret():
            return value.reveal()
        case tuple():
            return ", ".join(value)
        case Mapping():
            return msgspec.to_builtins(value)
        case None:
            return ""
        case _:
            return value


def set_secret(home: str, name: str, value: str) -> None:
    """Set one variable in `.env`, whose mode becomes 0600. Raises `StoreUnavailable` when it cannot be."""
    if not environment.is_name(name):
        raise UsageError("a variable's name is made of letters, digits and `_`")
    value = value.strip()
    if not value or "\0" in value or value.encode(errors="ignore").decode() != value:
        raise UsageError(f"the value of `{name}` is {'not text' if value else 'empty'}")
    path = os.path.join(home, ".env")
    with _locked(home, path):
        found = files.read(path) or files.Found("", files.PRIVATE_FILE)
        files.replace(path, _assigned(found.text, name, value), files.PRIVATE_FILE)


def _assigned(text: str, name: str, value: str) -> str:
    """The `.env` text with the last line that sets the name replaced, or a line added."""
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if _assigns(line, name)]
    if places:
        old = lines[places[-1]]
        export = "export " if environment.without_export(old.strip()) != old.strip() else ""
        lines[places[-1]] = f"{export}{name}={environment.quoted(value)}" + "\r" * old.endswith("\r")
        return "\n".join(lines)
    end = "\n" if text and not text.endswith("\n") else ""
    return f"{text}{end}{name}={environment.quoted(value)}\n"


def _assigns(line: str, name: str) -> bool:
    try:
        assignment = environment.parse_line(line)
    except ValueError:
        return False
    return assignment is not None and assignment[0] == name


@contextmanager
def _locked(home: str, path: str) -> Iterator[None]:
    """Holds the home folder, so that two writers at once lose neither change."""
    try:
        os.makedirs(home, files.PRIVATE_FOLDER, exist_ok=True)
        handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise files.unavailable(path, error) from error
    try:
        # Some network file systems have no locks; writing without one beats not writing.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
