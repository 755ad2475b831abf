"""How a run is shown: as text for a person, as one JSON object, or as a line per event."""

from typing import Any, Protocol

import msgspec

from hermes.cli._border import Border
from hermes.cli._happenings import Waits, remark, usage_line, words_for
from hermes.cli._held import Held
from hermes.cli._json import as_json, print_json
from hermes.errors import HermesError
from hermes.events import (
    Answer,
    Done,
    Event,
    Failed,
    Notice,
    Reasoning,
    Started,
    Switched,
    Text,
    ToolFinished,
    ToolStarted,
)
from hermes.messages import Citation


class Renderer(Protocol):
    def show(self, event: Event) -> None: ...


class Meanwhile(Renderer, Protocol):
    """Shows what happens on the way to an answer."""

    def answer(self) -> None:
        """The answer comes now, or nothing more does."""
        ...


class View(msgspec.Struct):
    """What a person wants to see of every answer. It may change between two of them."""

    streams: bool = True
    reasoning: bool = False
    """Whether thoughts are shown in full, and not folded to a line."""
    usage: bool = False


class Remarks:
    """What happens on the way to an answer, where nobody looks on: only what should be known of it."""

    def __init__(self, border: Border) -> None:
        self._border = border
        self._waits = Waits()

    def show(self, event: Event) -> None:
        if isinstance(event, Started):
            self._waits = Waits()
        if words := remark(event, self._waits):
            self._border.say(words)

    def answer(self) -> None:
        """Nothing has to make room for the answer."""


class TextRenderer:
    """The answer on stdout with its sources under it, when it is whole.

    What a model says before it calls a tool is no answer.
    """

    def __init__(self, border: Border, view: View, progress: Meanwhile) -> None:
        self._border = border
        self._view = view
        self._progress = progress

    def show(self, event: Event) -> None:
        match event:
            case Text():
                pass
            case Done(answer) | Failed(_, answer):
                self._progress.answer()
                self._print(answer)
            case _:
                self._progress.show(event)

    def _print(self, answer: Answer) -> None:
        if answer.text:
            self._border.show(f"{answer.text}\n")
        if answer.citations:
            lines = (source_line(cited) for cited in answer.citations)
            self._border.show("\n" + "".join(lines))
        if self._view.usage:
            self._border.say(usage_line(answer.usage, answer.cost))


class JsonRenderer:
    """One object on stdout when the run has ended, failed runs included."""

    def __init__(self, border: Border) -> None:
        self._border = border
        self._calls: list[dict[str, Any]] = []
        self._arguments: dict[str, str] = {}

    def show(self, event: Event) -> None:
        match event:
            case ToolStarted(id, _, arguments):
                self._arguments[id] = arguments
            case ToolFinished():
                self._calls.append(self._call(event))
            case Switched():
                self._border.say(f"note: {words_for(event)}")
            case Notice(message):
                self._border.say(f"note: {message}")
            case Done(answer):
                self._print(answer, None)
            case Failed(error, partial):
                self._print(partial, error)
            case _:
                pass

    def _call(self, event: ToolFinished) -> dict[str, Any]:
        return {
            "id": event.id,
            "name": event.name,
            "arguments": self._arguments.get(event.id, ""),
            "is_error": event.is_error,
            "seconds": round(event.seconds, 4),
            "served_by": event.served_by,
        }

    def _print(self, answer: Answer, error: HermesError | None) -> None:
        print_json(self._border, as_json(answer_payload(answer, self._calls, error)))


class LinesRenderer:
    """Every event as one JSON object on a line of its own, as it happens."""

    def __init__(self, border: Border) -> None:
        self._border = border
        self._held: dict[type[Text | Reasoning], Held] = {
            Text: Held(border.redact),
            Reasoning: Held(border.redact),
        }

    def show(self, event: Event) -> None:
        kind = type(event)
        for other, held in self._held.items():
            if other is not kind and (rest := held.rest()):
                self._write(other(rest))
        if not isinstance(event, Text | Reasoning):
            self._write(event)
        elif ready := self._held[type(event)].add(event.delta):
            self._write(type(event)(ready))

    def _write(self, event: Event) -> None:
        line = msgspec.json.encode(event, enc_hook=_encode_error).decode()
        print_json(self._border, f"{line}\n")


def answer_payload(answer: Answer, calls: list[dict[str, Any]], error: HermesError | None) -> dict[str, Any]:
    """The answer in the shape programs rely on."""
    return {
        "session_id": answer.session_id,
        "answer": answer.text,
        "citations": answer.citations,
        "tool_calls": calls,
        "model": answer.model,
        "provider": answer.provider,
        "api_mode": answer.api_mode,
        "finish_reason": answer.finish_reason,
        "usage": answer.usage,
        "cost": answer.cost,
        "error": _encode_error(error) if error else None,
    }


def _encode_error(error: object) -> dict[str, str | None]:
    if not isinstance(error, HermesError):
        raise NotImplementedError(f"cannot encode {type(error).__name__}")
    return {"type": type(error).__name__, "message": str(error), "hint": error.hint}


def source_line(cited: Citation) -> str:
    """A source as it stands under an answer."""
    if not cited.url:
        return f"[{cited.n}] no source has this number  (not verified)\n"
    doubt = "" if cited.verified else "  (not verified)"
    return f"[{cited.n}] {cited.title or cited.url}  {cited.url}{doubt}\n"
