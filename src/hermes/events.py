"""What a shell ever sees of a run: one stream of these, closed by `Done` or `Failed`."""

from typing import Any

import msgspec

from hermes.errors import HermesError
from hermes.messages import Citation, FinishReason, Message, Usage


class Started(msgspec.Struct, frozen=True, tag="started"):
    """The run begins; says who will answer and which session keeps it."""

    session_id: str
    provider: str
    model: str
    api_mode: str


class Text(msgspec.Struct, frozen=True, tag="text"):
    delta: str


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning"):
    delta: str


class ToolStarted(msgspec.Struct, frozen=True, tag="tool_started"):
    id: str
    name: str
    arguments: str


class ToolFinished(msgspec.Struct, frozen=True, tag="tool_finished"):
    id: str
    name: str
    result: str
    is_error: bool
    seconds: float
    served_by: str | None = None


class ToolProgress(msgspec.Struct, frozen=True, tag="tool_progress"):
    """What a running tool says meanwhile, such as the output of a command as it appears."""

    id: str
    name: str
    text: str


class RetryWaiting(msgspec.Struct, frozen=True, tag="retry_waiting"):
    reason: str
    seconds: float
    attempt: int


class Switched(msgspec.Struct, frozen=True, tag="switched"):
    """Another model is asked from here on, each named as `PROVIDER/MODEL`."""

    from_model: str
    to_model: str
    reason: str


class Compacted(msgspec.Struct, frozen=True, tag="compacted"):
    """The conversation was made shorter for the model; `tokens_after` is an estimate."""

    tokens_before: int
    tokens_after: int
    counted: int = 0
    """How many of `tokens_before` the provider counted; the rest of them is estimated."""


class Used(msgspec.Struct, frozen=True, tag="used"):
    """A model call has ended: the tokens and US dollars of the turn so far; no cost where one is unknown."""

    usage: Usage
    cost: float | None = None


class Notice(msgspec.Struct, frozen=True, tag="notice"):
    """Something the user should know that does not stop the run."""

    message: str
    hint: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """The outcome of a run. `complete` is false when a limit or an interrupt ended it."""

    session_id: str
    text: str
    citations: tuple[Citation, ...]
    messages: tuple[Message, ...]
    usage: Usage
    finish_reason: FinishReason
    provider: str
    model: str
    api_mode: str
    complete: bool = True
    parsed: Any = None
    """The answer as data, when a schema was asked for."""
    cost: float | None = None
    """US dollars for the model calls of the turn; None when the price of any of them is unknown."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    answer: Answer


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The run ended in an error; `partial` holds what was said before it."""

    error: HermesError
    partial: Answer


Delta = Text | Reasoning
Progress = ToolStarted | ToolProgress | ToolFinished | RetryWaiting | Switched | Compacted | Used | Notice
Event = Started | Delta | Progress | Done | Failed
