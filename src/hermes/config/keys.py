"""Every key a person can set, derived from the settings' own fields; and how its values are checked."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hermes.config.secret import Secret
from hermes.config.settings import SECTIONS, AtLeastOne
from hermes.errors import ConfigError, UnknownName

_LONGEST_SHOWN = 40


class Kind(msgspec.Struct, frozen=True):
    """What a key takes: `check` raises `ValueError` with what was expected."""

    check: Callable[[Any], object]
    from_text: Callable[[str], object]


class Key(msgspec.Struct, frozen=True):
    """One setting: `section.name` in the file, a variable in the environment."""

    section: str
    name: str
    kind: Kind
    default: object

    @property
    def path(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        return f"HERMES_{self.section}_{self.name}".upper()

    @property
    def is_secret(self) -> bool:
        return self.kind is _SECRET

    def parse(self, value: object, where: str) -> object:
        """The value as the setting holds it; an error begins with `where`."""
        try:
            return self.kind.check(value)
        except ValueError as error:
            raise ConfigError(f"{where} must be {error}, not {self._shown(value)}") from None

    def parse_text(self, text: str, where: str) -> object:
        """The same from text, which may spell a number or a list."""
        return self.parse(self.kind.from_text(text), where)

    def _shown(self, value: object) -> str:
        match value:
            case bool() | int() | float() if not self.is_secret:
                return str(value).lower()
            case str() if not self.is_secret:
                return f'"{_cut(value if value.isprintable() else repr(value)[1:-1])}"'
            case list() | tuple():
                return "a list"
            case dict():
                return "a mapping"
            case None:
                return "nothing"
            case str():
                return "this text"
            case _:
                return "a number"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip().isprintable():
        return value.strip()
    raise ValueError("one line of printable text" if isinstance(value, str) else "text (in quotes)")


def _secret(value: object) -> Secret | None:
    text = _text(value.reveal() if isinstance(value, Secret) else value)
    return Secret(text) if text else None


def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError("a whole number")


def _positive(value: object) -> int:
    if _whole(value) < 1:
        raise ValueError("at least 1")
    return _whole(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of text")
    return tuple(text for item in value if (text := _text(item)))


def _number_in(text: str) -> object:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else text


def _items_in(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


_SECRET = Kind(_secret, str)
_POSITIVE = Kind(_positive, _number_in)
_KINDS: Mapping[object, Kind] = {
    str: Kind(_text, str),
    int: Kind(_whole, _number_in),
    AtLeastOne: _POSITIVE,
    AtLeastOne | None: _POSITIVE,
    tuple[str, ...]: Kind(_texts, _items_in),
    Secret | None: _SECRET,
}


def _keys_of(section: str, settings: type[msgspec.Struct]) -> list[Key]:
    fields = zip(settings.__struct_fields__, settings.__struct_defaults__, strict=True)
    return [Key(section, name, _KINDS[settings.__annotations__[name]], default) for name, default in fields]


KEYS: Mapping[str, Key] = {
    key.path: key for section, settings in SECTIONS.items() for key in _keys_of(section, settings)
}


def find(path: str) -> Key:
    """The key of a dotted path; an unknown one is an error that offers the nearest."""
    if path not in KEYS:
        raise UnknownName("setting", path, KEYS)
    return KEYS[path]
