"""Values as plugins may see them: no secret, no bytes, and never too much."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

REDACTED = "<redacted>"

_SECRET_KEYS = frozenset({"api_key", "authorization", "proxy_authorization", "cookie", "set_cookie"})
_DROPPED = frozenset({"timeout", "http_client"})
_DEEPEST = 8
_MOST = 50_000
_PREVIEW = 2_000


class _Limits(msgspec.Struct, frozen=True):
    characters: int
    items: int


_GENEROUS = _Limits(8_000, 200)
_TIGHT = _Limits(1_000, 50)


def sanitised(value: object, redact: Callable[[str], str], most: int = _MOST) -> Any:
    """A value as plain data, with secrets replaced, cut to about `most` characters of JSON."""
    for limits in (_GENEROUS, _TIGHT):
        plain = _plain(value, redact, limits, _DEEPEST)
        encoded = msgspec.json.encode(plain)
        if len(encoded) <= most:
            return plain
    preview = encoded[:_PREVIEW].decode(errors="replace")
    return {"_truncated": True, "original_type": type(value).__name__, "preview": preview}


def without_secrets(value: Any, redact: Callable[[str], str]) -> Any:
    """The same value, with the secrets in its texts replaced; its keys and all that is no text stay."""
    match value:
        case str():
            return redact(value)
        case dict():
            return {key: without_secrets(item, redact) for key, item in value.items()}
        case list():
            return [without_secrets(item, redact) for item in value]
        case tuple() if type(value) is tuple:
            return tuple(without_secrets(item, redact) for item in value)
        case _:
            return value


def request_shown(kwargs: Mapping[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    """A provider's request as a hook shows it."""
    body = {name: value for name, value in kwargs.items() if name not in _DROPPED}
    return {"method": "POST", "body": sanitised(body, redact)}


def _plain(value: Any, redact: Callable[[str], str], limits: _Limits, deeper: int) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return _cut(redact(value), limits.characters)
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case _ if deeper == 0:
            return f"<{type(value).__name__}>"
        case Mapping():
            items = list(value.items())[: limits.items]
            return {str(key): _field(key, item, redact, limits, deeper - 1) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [_plain(item, redact, limits, deeper - 1) for item in list(value)[: limits.items]]
        case _:
            return _plain(_fields_of(value), redact, limits, deeper)


def _field(key: object, value: Any, redact: Callable[[str], str], limits: _Limits, deeper: int) -> Any:
    name = str(key).lower().replace("-", "_")
    if name in _SECRET_KEYS or name.endswith("_api_key"):
        return REDACTED
    return _plain(value, redact, limits, deeper)


def _fields_of(value: object) -> Any:
    """An object as plain data, where it has some; else its name."""
    try:
        return msgspec.to_builtins(value)
    except (TypeError, ValueError):
        return f"<{type(value).__name__}>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… [{len(text) - most} characters more]"
