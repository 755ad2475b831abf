"""Secrets that never print, and a filter that takes their values out of any text."""

import binascii
from collections.abc import Iterable, Iterator
from functools import cached_property

import msgspec

STARS = "********"
REDACTED = "[redacted]"

SHORTEST_REDACTED = 8
"""Shorter values are words such as `none` or `ollama`, given where a server asks for a key and checks
none: replacing them would tear ordinary text apart, and no real key is that short."""

_PARAMETERS = ("key", "token", "secret", "password", "pass", "auth", "signature")
"""How the names of parameters end that hold a secret: `key`, `apiKey`, `access_token`."""


class Secret:
    """A value that shows as stars everywhere and is given only to who calls `reveal`.

    JSON encoders refuse it as they refuse any foreign object; with `str` as their hook they write stars.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself: for the wire and for files of mode 0600, never for people or logs."""
        return self._value

    def split(self) -> "tuple[Secret, ...]":
        """The secrets in a value that may hold several, separated by commas."""
        return tuple(Secret(part.strip()) for part in self._value.split(",") if part.strip())

    def __repr__(self) -> str:
        return STARS

    def __format__(self, spec: str) -> str:
        return format(STARS, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __bool__(self) -> bool:
        return bool(self._value)


def in_address(url: str) -> "Iterator[Secret]":
    """The secrets that a URL holds: a password before its host, and parameters whose name says so."""
    rest, _, query = url.partition("://")[2].partition("#")[0].partition("?")
    user, at, _ = rest.partition("/")[0].rpartition("@")
    if at:
        yield Secret(user.partition(":")[2] or user)
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if value and name.lower().endswith(_PARAMETERS):
            yield Secret(value)


class Redactor:
    """Replaces the secrets' values in text, plain and in the encodings they travel in."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        whole = tuple(secrets)
        parts = (part for secret in whole for part in secret.split())
        self._values = frozenset(secret.reveal() for secret in (*whole, *parts))

    def __repr__(self) -> str:
        return f"Redactor({len(self._values)} secrets)"

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        values = (value for value in self._values if len(value) >= SHORTEST_REDACTED)
        return tuple({form for value in values for form in _forms(value)})

    @property
    def hides(self) -> bool:
        """Whether there is anything to take out."""
        return bool(self._forms)

    def __call__(self, text: str) -> str:
        """The text with every occurrence replaced by `[redacted]`, overlapping ones by a single one."""
        pieces: list[str] = []
        done = 0
        for start, end in sorted(span for form in self._forms for span in _occurrences(form, text)):
            if start >= done:
                pieces += (text[done:start], REDACTED)
            done = max(done, end)
        return "".join((*pieces, text[done:]))


def _occurrences(form: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = text.find(form, start + 1)


def _forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield msgspec.json.encode(data.decode("utf-8", "replace")).decode()[1:-1]
    for safe in (b"", b"/"):
        quoted = _percent(data, safe)
        plus = quoted.replace("%20", "+")
        yield from (quoted, plus, _lower_hex(quoted), _lower_hex(plus))
    for form in _base64(data):
        yield form
        yield form.replace("+", "-").replace("/", "_")


_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


def _percent(data: bytes, safe: bytes) -> str:
    return "".join(chr(byte) if byte in _UNRESERVED or byte in safe else f"%{byte:02X}" for byte in data)


def _lower_hex(quoted: str) -> str:
    first, *rest = quoted.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in rest)))


def _base64(data: bytes) -> Iterator[str]:
    """The encoding alone, and the part of it that stays the same inside a longer encoded text.

    Base64 packs three bytes into four characters, so a value that starts one or two bytes into a
    group encodes differently; the characters it shares with its neighbours are left out.
    """
    alone = binascii.b2a_base64(data, newline=False).decode()
    yield alone
    yield alone.rstrip("=")
    for offset, shared in ((0, 0), (1, 2), (2, 3)):
        encoded = binascii.b2a_base64(bytes(offset) + data, newline=False).decode()
        yield encoded[shared : (offset + len(data)) * 8 // 6]
