"""What is kept of the events of a turn: what happened and when, without the words that messages hold."""

import msgspec

from hermes.events import (
    Compacted,
    Event,
    Failed,
    Notice,
    RetryWaiting,
    Switched,
    ToolFinished,
    ToolStarted,
    Used,
)


class ToolBegan(msgspec.Struct, frozen=True, tag="tool_started"):
    """A tool was started; the message before it holds the arguments."""

    id: str
    name: str


class ToolEnded(msgspec.Struct, frozen=True, tag="tool_finished"):
    """A tool has ended; the message after it holds the result, of which this is the length."""

    id: str
    name: str
    characters: int
    is_error: bool
    seconds: float
    served_by: str | None = None


class Broke(msgspec.Struct, frozen=True, tag="failed"):
    """The turn ended in an error, named by its class."""

    error: str
    message: str
    hint: str | None = None


Kept = ToolBegan | ToolEnded | RetryWaiting | Switched | Compacted | Used | Notice | Broke


class Happening(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event at its moment. In a stored session it came `after` so many messages."""

    at: float
    event: Kept
    after: int = 0


def kept(event: Event) -> Kept | None:
    """What is kept of an event; None where messages say it all."""
    match event:
        case RetryWaiting() | Switched() | Compacted() | Used() | Notice():
            return event
        case ToolStarted(id, name):
            return ToolBegan(id, name)
        case ToolFinished(id, name, result):
            return ToolEnded(id, name, len(result), event.is_error, event.seconds, event.served_by)
        case Failed(error):
            return Broke(type(error).__name__, str(error), error.hint)
        case _:
            return None
