"""What an error reply says, wherever it says it: vendors agree on neither the keys nor the nesting."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

_LONGEST = 2000


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's own words, its code and kind of error, and the field that it blames."""

    words: str
    code: str = ""
    kind: str = ""
    field: str = ""


def read_told(body: bytes) -> Told:
    """What an error body says; one that is no JSON is its own words."""
    try:
        reply = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return Told(words=_line(body.decode(errors="replace")))
    if isinstance(reply, list) and reply:
        reply = reply[0]
    error = reply.get("error", reply) if isinstance(reply, Mapping) else reply
    if not isinstance(error, Mapping):
        return Told(words=_line(str(error)))
    outer = reply if isinstance(reply, Mapping) else {}
    kind = _name(error.get("type")) or _name(error.get("status"))
    return Told(
        words=_line(_words_of(error)),
        code=_name(error.get("code")) or kind or _name(outer.get("code")),
        kind=kind,
        field=_name(error.get("param")),
    )


def _words_of(error: Mapping[str, Any]) -> str:
    """The message, and behind it what a provider behind the provider said."""
    message = error.get("message") or error.get("detail") or error.get("error") or error.get("msg") or ""
    said = _flat(message)
    metadata = error.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f"{said}: {_flat(behind)}" if behind else said


def _flat(message: Any) -> str:
    match message:
        case str():
            return message
        case {"detail": detail}:
            return _flat(detail)
        case {"message": str(text)}:
            return text
        case [*complaints] if complaints and all(isinstance(each, Mapping) for each in complaints):
            return "; ".join(map(_complaint, complaints))
        case _:
            return str(message)


def _complaint(complaint: Mapping[str, Any]) -> str:
    """One finding of a validating server: the place of the field, and what is wrong with it."""
    place, what = complaint.get("loc"), str(complaint.get("msg") or complaint.get("message") or "")
    if not isinstance(place, Sequence) or isinstance(place, str):
        return what
    field = ".".join(str(step) for step in place if step != "body")
    if complaint.get("type") == "extra_forbidden":
        what = "Extra inputs are not permitted"
    return f"{field}: {what}" if field else what


def _name(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
