"""The schema of the event stream, for programs."""

import msgspec

from manual.schemas import events_schema

NAME = "events.schema.json"


def text() -> str:
    return msgspec.json.format(msgspec.json.encode(events_schema()), indent=2).decode() + "\n"
