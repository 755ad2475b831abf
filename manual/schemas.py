"""JSON Schemas of the values that Hermes prints, made from their types."""

from typing import Any, get_args, get_type_hints

import msgspec

from hermes import events
from hermes.app.survey import Offer
from hermes.cli.tools import Row
from hermes.errors import HermesError
from hermes.messages import Citation, Message, ToolCall, Usage
from hermes.providers.base.listing import ModelInfo
from hermes.store import Happening, Session


class _Line:
    event: events.Event


class Told(msgspec.Struct, frozen=True):
    """An error as JSON tells it."""

    type: str
    message: str
    hint: str | None


EVENTS: tuple[type[msgspec.Struct], ...] = get_args(get_type_hints(_Line)["event"])
SHAPES = (events.Answer, Citation, Usage, Message, ToolCall, Told, Session, Happening, Offer, ModelInfo, Row)


def events_schema() -> dict[str, Any]:
    """The schema of one line of `hermes chat --json-lines`."""
    kinds, parts = msgspec.json.schema_components(
        (Told, *EVENTS), schema_hook=_hook, ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a line of hermes chat --json-lines",
        "oneOf": list(kinds[1:]),
        "$defs": parts,
    }


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of one type, whose parts are named and not shown."""
    [reference], parts = msgspec.json.schema_components((kind,), schema_hook=_hook)
    place: str = reference.get("$ref", "")
    schema: dict[str, Any] = parts[place.rpartition("/")[2]] if place else reference
    return schema


def _hook(kind: type) -> dict[str, Any]:
    if issubclass(kind, HermesError):
        return {"$ref": "#/$defs/Told"}
    raise NotImplementedError(kind)
