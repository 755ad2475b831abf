"""The process environment with `.env` behind it, and the grammar of `.env`."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from hermes.config import files
from hermes.config.secret import Secret, in_address

Place = Literal["environment", ".env"]
_SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_KEY")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r"} | {special: f"\\{special}" for special in '\\"$`'})


class Environment:
    """Variables by name: the process environment first, then `.env`. A blank value equals none."""

    __slots__ = ("_file", "_process")

    def __init__(self, process: Mapping[str, str], file: Mapping[str, str] | None = None) -> None:
        self._process = dict(process)
        self._file = dict(file or {})

    def __repr__(self) -> str:
        return f"Environment({len(self._process)} variables, {len(self._file)} in .env)"

    def lookup(self, name: str) -> str | None:
        """The value without surrounding space, or None."""
        return self._process.get(name, "").strip() or self._file.get(name, "").strip() or None

    def origin(self, name: str) -> Place | None:
        """Which of the two `lookup` answers from: `environment`, `.env` or None."""
        if self._process.get(name, "").strip():
            return "environment"
        return ".env" if self._file.get(name, "").strip() else None

    def secret(self, name: str) -> Secret | None:
        """The value as a secret, or None."""
        value = self.lookup(name)
        return Secret(value) if value else None

    def secrets(self) -> Iterator[Secret]:
        """Every value whose name says that it is one, and those in addresses, from both places."""
        for place in (self._process, self._file):
            for name, value in place.items():
                if names_secret(name) and value.strip():
                    yield Secret(value.strip())
                elif name.startswith("HERMES_") or name.endswith("_URL"):
                    yield from in_address(value)

    def without_secrets(self, redact: Callable[[str], str]) -> dict[str, str]:
        """The process environment for other programs: nothing that is named a secret or holds one."""
        return {
            name: value
            for name, value in self._process.items()
            if not names_secret(name) and redact(value) == value
        }


def names_secret(name: str) -> bool:
    """Whether what has this name is a secret."""
    return name.upper().endswith(_SECRET_ENDINGS)


def read_environment(environ: Mapping[str, str], home: str) -> tuple[Environment, list[str]]:
    """The environment with the home's `.env`, and what is wrong with that file."""
    path = os.path.join(home, ".env")
    found = files.read(path)
    if found is None:
        return Environment(environ), []
    values, warnings = parse(found.text, path)
    if os.path.islink(path):
        warnings.append(f"`{path}` is a symbolic link; put the file itself there")
    if found.mode & files.OTHERS:
        warnings.append(f"`{path}` is open to other users (mode {found.mode:04o}); run `chmod 600 {path}`")
    return Environment(environ, values), warnings


def parse(text: str, path: str) -> tuple[dict[str, str], list[str]]:
    """The variables of a `.env` text; lines that make no sense are warned of, never quoted."""
    values: dict[str, str] = {}
    warnings: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            assignment = parse_line(line)
        except ValueError as error:
            warnings.append(f"{path}:{number}: {error}; the line is ignored")
            continue
        if assignment:
            name, value = assignment
            values[name] = value
    return values, warnings


def parse_line(line: str) -> tuple[str, str] | None:
    """The name and value a line assigns, None for a blank or a comment; raises `ValueError`."""
    content = line.strip()
    if not content or content.startswith("#"):
        return None
    name, equals, value = content.partition("=")
    name = without_export(name).strip()
    if not equals or not is_name(name):
        raise ValueError("expected `NAME=VALUE`")
    return name, _value(value.strip())


def without_export(text: str) -> str:
    word, _, rest = text.replace("\t", " ").partition(" ")
    return rest if word == "export" and rest.strip() else text


def is_name(text: str) -> bool:
    """Whether a text can name a variable."""
    return text.isascii() and text.isidentifier()


def _value(text: str) -> str:
    if not text.startswith(("'", '"')):
        return "" if text.startswith("#") else text.partition(" #")[0].partition("\t#")[0].rstrip()
    quote, value = text[0], ""
    characters = iter(enumerate(text[1:], 2))
    for after, character in characters:
        if character == quote:
            rest = text[after:].strip()
            if rest and not rest.startswith("#"):
                raise ValueError("something follows the closing quote")
            return value
        if character == "\\" and quote == '"':
            _, escaped = next(characters, (0, ""))
            value += _UNESCAPED.get(escaped, escaped)
        else:
            value += character
    raise ValueError("the quotes do not close")


def quoted(value: str) -> str:
    """The value as `.env` takes it, here and in a shell."""
    if value.isascii() and value.replace("-", "").replace(".", "").replace("_", "").isalnum():
        return value
    if "'" not in value and "\n" not in value and "\r" not in value:
        return f"'{value}'"
    return f'"{value.translate(_ESCAPED)}"'
