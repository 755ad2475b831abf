"""A response: its types, and how a run becomes one. The pieces of a stream and the whole are made alike."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from hermes.errors import HermesError, StoreError
from hermes.events import Answer, Reasoning, Text, ToolStarted
from hermes.server.chat.reply import calls_of, content
from hermes.server.faults import ErrorDetail, error_body
from hermes.server.holding import Holding
from hermes.server.runs import News
from hermes.server.sources import SearchResult, Seen, marks
from hermes.server.streams import QUIET

Keep = Callable[["ResponseObject", Answer], Awaitable[None]]
"""Keeps a response that has ended; raises `StoreError` where that cannot be."""

Status = Literal["in_progress", "completed", "incomplete", "failed"]


class UrlAnnotation(msgspec.Struct, frozen=True):
    """Where the text points to a source; the places are those of code points."""

    start_index: int
    end_index: int
    url: str
    title: str
    type: Literal["url_citation"] = "url_citation"


class OutputText(msgspec.Struct, frozen=True):
    text: str
    annotations: tuple[UrlAnnotation, ...] = ()
    type: Literal["output_text"] = "output_text"
    logprobs: tuple[()] = ()


class SearchAction(msgspec.Struct, frozen=True):
    query: str
    type: Literal["search"] = "search"


class OutputMessage(msgspec.Struct, frozen=True, tag="message", kw_only=True):
    id: str
    role: Literal["assistant"] = "assistant"
    status: Status = "completed"
    content: tuple[OutputText, ...] = ()


class SearchCall(msgspec.Struct, frozen=True, tag="web_search_call", kw_only=True):
    id: str
    status: Status = "completed"
    action: SearchAction


class FunctionCall(msgspec.Struct, frozen=True, tag="function_call", kw_only=True):
    """A call that is left to the caller."""

    id: str
    call_id: str
    name: str
    arguments: str
    status: Status = "completed"


OutputItem = OutputMessage | SearchCall | FunctionCall


class InputDetails(msgspec.Struct, frozen=True):
    cached_tokens: int
    cache_write_tokens: int = 0


class OutputDetails(msgspec.Struct, frozen=True):
    reasoning_tokens: int


class ResponseUsage(msgspec.Struct, frozen=True, kw_only=True):
    input_tokens: int
    input_tokens_details: InputDetails
    output_tokens: int
    output_tokens_details: OutputDetails
    total_tokens: int


class IncompleteDetails(msgspec.Struct, frozen=True):
    reason: Literal["max_output_tokens", "content_filter"]


class ResponseObject(msgspec.Struct, frozen=True, kw_only=True):
    """A response. `[n]` in its text is the n-th of `search_results`."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    model: str
    status: Status = "in_progress"
    output: tuple[OutputItem, ...] = ()
    error: ErrorDetail | None = None
    incomplete_details: IncompleteDetails | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    metadata: Mapping[str, str] = {}
    parallel_tool_calls: bool = True
    previous_response_id: str | None = None
    store: bool = True
    temperature: float | None = None
    text: Mapping[str, Any] = {}
    tool_choice: Any = "auto"
    tools: tuple[Any, ...] = ()
    top_p: float | None = None
    usage: ResponseUsage | None = None
    search_results: tuple[SearchResult, ...] = ()
    served_by: str | None = None


class ResponseStream:
    """A run as the events of a response, numbered; `whole` is the response itself once it has ended.

    Words before a search are a message of their own. Data is given in one piece, when it is known to
    keep its schema.
    """

    def __init__(
        self,
        head: ResponseObject,
        holding: Holding,
        make_id: Callable[[], str],
        *,
        is_data: bool,
        keep: Keep | None = None,
    ) -> None:
        self.whole = head
        self._holding = holding
        self._make_id = make_id
        self._is_data = is_data
        self._keep = keep
        self._number = -1
        self._done: list[OutputItem] = []
        self._message = ""
        self._said: list[str] = []

    def begin(self) -> bytes:
        return self._event("response.created", response=self.whole) + self._event(
            "response.in_progress", response=self.whole
        )

    def news(self, batch: list[News]) -> bytes:
        return b"".join(map(self._piece, batch)) if batch else QUIET

    def _piece(self, news: News) -> bytes:
        match news:
            case Text(delta):
                return b"" if self._is_data else self._say(self._holding.add(delta))
            case ToolStarted():
                return self._close_message(()) + self._searched(news)
            case Reasoning():
                return b""

    def _say(self, words: str) -> bytes:
        if not words:
            return b""
        opened = b"" if self._message else self._open_message()
        self._said.append(words)
        return opened + self._event("response.output_text.delta", **self._place(), delta=words, logprobs=())

    def _open_message(self) -> bytes:
        self._message = f"msg_{self._make_id()}"
        item = OutputMessage(id=self._message, status="in_progress")
        return self._event(
            "response.output_item.added", output_index=len(self._done), item=item
        ) + self._event("response.content_part.added", **self._place(), part=OutputText(""))

    def _place(self) -> dict[str, object]:
        return {"item_id": self._message, "output_index": len(self._done), "content_index": 0}

    def _close_message(self, notes: tuple[UrlAnnotation, ...]) -> bytes:
        rest = self._say(self._holding.rest())
        if not self._message:
            return rest
        place, text = self._place(), "".join(self._said)
        part = OutputText(text, notes)
        item = OutputMessage(id=self._message, content=(part,))
        noted = b"".join(
            self._event(
                "response.output_text.annotation.added", **place, annotation_index=index, annotation=note
            )
            for index, note in enumerate(notes)
        )
        said = self._event("response.output_text.done", **place, text=text, logprobs=())
        ended = self._event("response.content_part.done", **place, part=part)
        self._message, self._said = "", []
        return rest + noted + said + ended + self._finish(item)

    def _finish(self, item: OutputItem) -> bytes:
        self._done.append(item)
        return self._event("response.output_item.done", output_index=len(self._done) - 1, item=item)

    def _searched(self, started: ToolStarted) -> bytes:
        if started.name != "web_search":
            return b""
        query = self._holding.clean(_query(started.arguments))
        item = SearchCall(id=f"ws_{self._make_id()}", action=SearchAction(query))
        begun = msgspec.structs.replace(item, status="in_progress")
        place = {"item_id": item.id, "output_index": len(self._done)}
        added = self._event("response.output_item.added", output_index=len(self._done), item=begun)
        states = ("in_progress", "searching", "completed")
        told = b"".join(self._event(f"response.web_search_call.{state}", **place) for state in states)
        return added + told + self._finish(item)

    def _called(self, answer: Answer) -> bytes:
        told = b""
        for call in calls_of(answer):
            item = FunctionCall(
                id=f"fc_{self._make_id()}", call_id=call.id or "", name=call.name, arguments=call.arguments
            )
            place = {"item_id": item.id, "output_index": len(self._done)}
            begun = msgspec.structs.replace(item, arguments="", status="in_progress")
            told += self._event("response.output_item.added", output_index=len(self._done), item=begun)
            told += self._event("response.function_call_arguments.delta", **place, delta=item.arguments)
            told += self._event(
                "response.function_call_arguments.done", **place, name=item.name, arguments=item.arguments
            )
            told += self._finish(item)
        return told

    async def end(self, answer: Answer, seen: Seen) -> bytes:
        told = self._say(self._holding.rest())
        if not self._message and content(answer):
            told += self._say(self._holding.clean(content(answer)))
        found = marks("".join(self._said), answer.citations)
        notes = tuple(UrlAnnotation(mark.start, mark.end, mark.url, mark.title) for mark in found)
        told += self._close_message(notes) + self._called(answer)
        self.whole = self._ended(answer, seen)
        if self._keep is not None:
            try:
                await self._keep(self.whole, answer)
            except StoreError:  # it is told as what it is: a response that is not kept
                self.whole = msgspec.structs.replace(self.whole, store=False)
        return told + self._event(f"response.{self.whole.status}", response=self.whole)

    def _ended(self, answer: Answer, seen: Seen) -> ResponseObject:
        cut = {"length", "incomplete", "content_filter"}
        reason: Any = "content_filter" if answer.finish_reason == "content_filter" else "max_output_tokens"
        is_cut = answer.finish_reason in cut
        return msgspec.structs.replace(
            self.whole,
            status="incomplete" if is_cut else "completed",
            output=tuple(self._done),
            incomplete_details=IncompleteDetails(reason) if is_cut else None,
            usage=_usage(answer),
            search_results=seen.results(answer),
            served_by=f"{answer.provider}/{answer.model}",
        )

    def failed(self, error: HermesError) -> bytes:
        detail = error_body(error, self._holding.clean).error
        self.whole = msgspec.structs.replace(
            self.whole, status="failed", output=tuple(self._done), error=detail
        )
        return self._event("response.failed", response=self.whole)

    def _event(self, type: str, **fields: object) -> bytes:
        self._number += 1
        body = msgspec.json.encode({"type": type, "sequence_number": self._number, **fields})
        return b"event: " + type.encode() + b"\ndata: " + body + b"\n\n"


def _query(arguments: str) -> str:
    try:
        given = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return ""
    return str(given.get("query", "")) if isinstance(given, dict) else ""


def _usage(answer: Answer) -> ResponseUsage:
    used = answer.usage
    return ResponseUsage(
        input_tokens=used.prompt_tokens,
        input_tokens_details=InputDetails(used.cached_tokens, used.cache_write_tokens),
        output_tokens=used.completion_tokens,
        output_tokens_details=OutputDetails(used.reasoning_tokens),
        total_tokens=used.total_tokens,
    )
