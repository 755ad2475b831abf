"""What an error reply says, wherever it says it: vendors agree on neither the keys nor the nesting."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hermes.messages import NOT_JSON

_LONGEST = 2000
_QUOTED = 300


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's own words, its code and kind of error, and the field that it blames."""

    words: str
    code: str = ""
    kind: str = ""
    field: str = ""


def read_told(body: bytes) -> Told:
    """What an error body says; one that is no JSON is its own words."""
    try:
        reply = msgspec.json.decode(body.decode(errors="replace"))
    except NOT_JSON:
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
    keys = ("message", "detail", "error", "msg", "Message")
    said = _flat(next(filter(None, map(error.get, keys)), ""))
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


class Failure(msgspec.Struct, frozen=True):
    """A failure as it was told: the status, what the provider says of it, and the wait it asks for."""

    status: int
    told: Told
    retry_after: float | None

    def says(self, pattern: str) -> bool:
        return find(pattern, f"{self.told.code} {self.told.words}") is not None

    def message(self, lead: str) -> str:
        """The lead, the status, the wait and the provider's own words in one line."""
        wait = (
            f"; come back in {_duration(self.retry_after)}"
            if self.retry_after and self.retry_after >= 1
            else ""
        )
        said = f": {self.told.words[:_QUOTED]}" if self.told.words else ""
        return f"{lead} (status {self.status}){wait}{said}"


def any_of(*patterns: str) -> str:
    """One pattern out of several; compiled when first looked for, since most runs meet no failure."""
    return "|".join(patterns)


def find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE | re.DOTALL)


def _duration(seconds: float) -> str:
    """A wait in words: `7 s`, `12 min`, `1 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours and minutes else f"{hours} h" if hours else f"{minutes} min"
