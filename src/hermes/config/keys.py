"""Every key a person can set, derived from the settings' own fields; and how its values are checked."""

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

import msgspec

from hermes.config.environment import names_secret
from hermes.config.secret import Secret
from hermes.config.settings import (
    OPEN_SECTIONS,
    SECTIONS,
    AtLeastOne,
    McpServer,
    McpServers,
    Names,
    NotNegative,
    Patterns,
    PluginEntries,
    PluginMode,
    Seconds,
    XEffort,
)
from hermes.errors import ConfigError, UnknownName
from hermes.protocols import CredentialSource, Effort

_LONGEST_SHOWN = 40
_SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Key(msgspec.Struct, frozen=True):
    """One setting: `section.name` in the file, a variable in the environment.

    `check` raises `ValueError` with what was expected.
    """

    section: str
    name: str
    check: Callable[[Any], object]
    default: object

    @property
    def path(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        return f"HERMES_{self.section}_{self.name}".upper().replace(".", "_").replace("-", "_")

    @property
    def is_secret(self) -> bool:
        return self.check is _secret

    def holds_secret(self, value: object) -> bool:
        """Whether a secret is written in a value of this key."""
        if self.check is _servers and isinstance(value, Mapping):
            return any(secret for server in value.values() for secret in server.secrets())
        return self.is_secret

    @property
    def is_list_of_texts(self) -> bool:
        """Whether it is written as a list, because its texts may hold commas."""
        return self.check is _patterns

    def parse(self, value: object, where: str) -> object:
        """The value as the setting holds it; an error begins with `where`."""
        try:
            return self.check(value)
        except ValueError as error:
            raise ConfigError(f"{where} must be {error}, not {self._shown(value)}") from None

    def parse_given(self, value: object, where: str) -> object:
        """The same for a flag or a variable, where text may spell a number or a yes or no."""
        read = _SPELLED.get(self.check) if isinstance(value, str) else None
        return self.parse(read(str(value)) if read else value, where)

    def _shown(self, value: object) -> str:
        match value:
            case None:
                return "nothing"
            case list():
                return "a list"
            case dict():
                return "a mapping"
            case str():
                return "this text" if self.is_secret else f'"{_cut(value)}"'
            case _:
                return "a number" if self.is_secret else str(value).lower()


def _cut(text: str) -> str:
    shown = text if text.isprintable() else repr(text)[1:-1]
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _number_in(text: str) -> int | str:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else text


def _fraction_in(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _switch_in(text: str) -> bool | str:
    return _SWITCHES.get(text.strip().lower(), text)


def _object_in(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip().isprintable():
        return value.strip()
    raise ValueError("one line of printable text" if isinstance(value, str) else "text (in quotes)")


def _names(value: object) -> Names:
    """A list, or one line of text with commas between the names."""
    given = value.split(",") if isinstance(value, str) else value
    if isinstance(given, list | tuple):
        return tuple(name for name in map(_text, given) if name)
    raise ValueError("a list of names")


def _patterns(value: object) -> Names:
    """A list, or one text as it is: a command may hold commas."""
    given = [value] if isinstance(value, str) else value
    if isinstance(given, list | tuple):
        return tuple(pattern for pattern in map(_text, given) if pattern)
    raise ValueError("a list of texts")


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


def _not_negative(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise ValueError("a number that is not negative")


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    raise ValueError("a number above 0")


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("`true` or `false`")


def _one_of(kind: object) -> Callable[[Any], object]:
    """The check of a setting that has a few names for values."""
    choices = get_args(kind)

    def check(value: object) -> object:
        if value in choices:
            return value
        raise ValueError("one of " + ", ".join(f"`{choice}`" for choice in choices))

    return check


def _mode(value: object) -> object:
    # YAML takes a bare `off` for a switch in one of its versions, and so do people.
    return _one_of(PluginMode)("off" if value is False else value)


def _entries(value: object) -> PluginEntries:
    try:
        entries: PluginEntries = msgspec.convert(value, PluginEntries)
    except msgspec.ValidationError as error:
        raise ValueError(f"settings by plugin ({str(error).partition(' - at')[0].lower()})") from None
    return entries


def _servers(value: object) -> McpServers:
    if not isinstance(value, Mapping):
        raise ValueError("settings by server")  # noqa: TRY004 - it is told as any other mistake
    servers: dict[str, McpServer] = {}
    for name, given in value.items():
        try:
            servers[name] = msgspec.convert(given, McpServer, dec_hook=_held)
        except msgspec.ValidationError as error:
            problem, _, place = str(error).partition(" - at `$")
            where = f"{name}{place.rstrip('`')}"
            raise ValueError(f"settings by server (`{where}`: {problem.lower()})") from None
        if not _SERVER_NAME.fullmatch(name):
            raise ValueError(f"settings by server (`{_cut(name)}` is no name of letters, figures, `-`, `_`)")
        if bool(servers[name].command) == bool(servers[name].url):
            raise ValueError(f"settings by server (`{name}` needs either a `command` or a `url`)")
    return servers


def _held(kind: type, value: object) -> Secret:
    if kind is Secret and isinstance(value, str | int | float):
        return Secret(str(value).lower() if isinstance(value, bool) else str(value))
    raise ValueError("expected text")


_CHECKS: Mapping[object, Callable[[Any], object]] = {
    str: _text,
    int: _whole,
    AtLeastOne: _positive,
    AtLeastOne | None: _positive,
    NotNegative: _not_negative,
    NotNegative | None: _not_negative,
    Seconds: _seconds,
    bool: _switch,
    Effort | None: _one_of(Effort),
    XEffort | None: _one_of(XEffort),
    CredentialSource: _one_of(CredentialSource),
    Secret | None: _secret,
    Names: _names,
    Patterns: _patterns,
    PluginMode: _mode,
    PluginEntries: _entries,
    McpServers: _servers,
}
_SPELLED: Mapping[object, Callable[[str], object]] = {
    _whole: _number_in,
    _positive: _number_in,
    _not_negative: _fraction_in,
    _seconds: _fraction_in,
    _switch: _switch_in,
    _entries: _object_in,
    _servers: _object_in,
}


def _keys_of(section: str, settings: type[msgspec.Struct]) -> list[Key]:
    defaults = settings()
    return [
        Key(section, name, _CHECKS[settings.__annotations__[name]], getattr(defaults, name))
        for name in settings.__struct_fields__
    ]


KEYS: Mapping[str, Key] = {
    key.path: key for section, settings in SECTIONS.items() for key in _keys_of(section, settings)
}


def find(path: str) -> Key:
    """The key of a dotted path; an unknown one is an error that offers the nearest."""
    section, _, name = path.partition(".")
    if section in OPEN_SECTIONS and "." in name and all(name.split(".")):
        return Key(section, name, _secret if is_secret_option(name) else _any, None)
    if path not in KEYS:
        raise UnknownName("setting", path, KEYS)
    return KEYS[path]


def is_secret_option(name: str) -> bool:
    """Whether an option of a backend holds a secret, by its dotted name; a header may hold one."""
    return names_secret(f"_{name.rpartition('.')[2]}") or ".headers." in f".{name}"


def options(value: object, name: str) -> object:
    """The options of a backend as the file says them, with secrets as such."""
    if isinstance(value, dict):
        return {key: options(inner, f"{name}.{key}") for key, inner in value.items()}
    return Secret(value) if isinstance(value, str) and value and is_secret_option(name) else value


def _any(value: object) -> object:
    return _text(value) if isinstance(value, str) else value
