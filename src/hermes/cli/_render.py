"""How a run is shown: as text for a person, as one JSON object, or as a line per event."""

from typing import Any, Protocol

import msgspec

from hermes.agent.untrusted import texts
from hermes.cli._border import Border, one_line
from hermes.cli._happenings import words_for
from hermes.cli._json import as_json, print_json
from hermes.errors import HermesError
from hermes.events import (
    Answer,
    Compacted,
    Done,
    Event,
    Failed,
    Notice,
    Reasoning,
    RetryWaiting,
    Switched,
    Text,
    ToolFinished,
    ToolStarted,
)
from hermes.messages import NOT_JSON, Citation

SHOWN_ARGUMENTS = 100
WORTH_SAYING = 3.0
"""A wait shorter than this many seconds is not announced."""


class Renderer(Protocol):
    def show(self, event: Event) -> None: ...


class _Held:
    """Text as it arrives, let go up to its last blank: keys hold none, so no piece ends inside of one."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, delta: str) -> str:
        """What can be shown now."""
        self._text += delta
        cut = max(self._text.rfind(" "), self._text.rfind("\n")) + 1
        ready, self._text = self._text[:cut], self._text[cut:]
        return ready

    def rest(self) -> str:
        """All that is left, for when no more comes."""
        ready, self._text = self._text, ""
        return ready


class TextRenderer:
    """The answer on stdout with its sources under it; progress and notices on stderr.

    A terminal gets the text as it arrives. A pipe gets the answer alone, when it is whole: what a
    model says before it calls a tool is no answer.
    """

    def __init__(self, border: Border, *, live: bool) -> None:
        self._border = border
        self._live = live
        self._held = _Held()
        self._at_line_start = True
        self._calls: dict[str, str] = {}

    def show(self, event: Event) -> None:
        match event:
            case Text(delta) if self._live:
                self._write(self._held.add(delta))
            case ToolStarted(id, name, arguments) if self._live:
                self._end_line()
                self._calls[id] = _call_line(name, self._border.redact(arguments))
                self._border.begin(self._calls[id])
            case ToolFinished(id, name) if self._live:
                self._border.finish(self._calls.pop(id, f"· {name}"), _outcome(event))
            case RetryWaiting(reason, seconds, attempt) if seconds >= WORTH_SAYING:
                self._say(f"waiting {seconds:.0f} s, then try {attempt + 1}: {reason}")
            case Switched():
                self._say(f"note: {words_for(event)}")
            case Compacted():
                self._say(f"note: {words_for(event)}")
            case Notice(message, hint):
                self._say(f"note: {message}" + (f"\nhint: {hint}" if hint else ""))
            case Done(answer):
                self._finish(answer)
            case Failed(_, partial):
                self._finish(partial)
            case _:
                pass

    def _finish(self, answer: Answer) -> None:
        if self._live:
            self._end_line()
        elif answer.text:
            self._border.show(f"{answer.text}\n")
        if answer.citations:
            lines = (source_line(cited) for cited in answer.citations)
            self._border.show("\n" + "".join(lines))

    def _write(self, text: str) -> None:
        if text:
            self._border.show(text)
            self._at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        self._write(self._held.rest())
        if not self._at_line_start:
            self._write("\n")

    def _say(self, words: str) -> None:
        if self._live:
            self._end_line()
        self._border.say(words)


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
        self._held: dict[type[Text | Reasoning], _Held] = {Text: _Held(), Reasoning: _Held()}

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


def _call_line(name: str, arguments: str) -> str:
    """A call as a person reads it: its name, and the words it was given."""
    try:
        given = msgspec.json.decode(arguments)
    except NOT_JSON:
        given = arguments
    return one_line(" ".join(["·", name, *texts(given)]), SHOWN_ARGUMENTS)


def _outcome(event: ToolFinished) -> str:
    by = f" by {event.served_by}" if event.served_by else ""
    outcome = "failed" if event.is_error else f"{len(event.result):,} characters"
    return f": {outcome}{by}, {event.seconds * 1000:.0f} ms"
