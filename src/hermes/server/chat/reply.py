"""A chat completion: its types, and how an answer becomes one, whole or in pieces."""

from typing import Literal

import msgspec

from hermes.errors import HermesError
from hermes.events import Answer, Reasoning, Text
from hermes.messages import FinishReason, ToolCall, Usage
from hermes.server.faults import error_body
from hermes.server.holding import Holding
from hermes.server.runs import News
from hermes.server.sources import Mark, SearchResult, Seen, marks
from hermes.server.streams import QUIET, event

Finish = Literal["stop", "length", "tool_calls", "content_filter"]
DONE = b"data: [DONE]\n\n"
PARAGRAPH = "\n\n"
"""Between words that were followed by a search, and those that come after it."""


class UrlCitation(msgspec.Struct, frozen=True):
    start_index: int
    end_index: int
    url: str
    title: str


class Annotation(msgspec.Struct, frozen=True):
    """Where the content points to a source; the places are those of code points."""

    url_citation: UrlCitation
    type: Literal["url_citation"] = "url_citation"


class FunctionCalled(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class CallMade(msgspec.Struct, frozen=True):
    id: str
    function: FunctionCalled
    type: Literal["function"] = "function"
    index: int = 0


class AnswerMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: str | None = None
    annotations: tuple[Annotation, ...] = ()
    tool_calls: tuple[CallMade, ...] | msgspec.UnsetType = msgspec.UNSET
    reasoning_content: str | msgspec.UnsetType = msgspec.UNSET


class AnswerChoice(msgspec.Struct, frozen=True, kw_only=True):
    index: int = 0
    message: AnswerMessage
    finish_reason: Finish
    logprobs: None = None


class PromptDetails(msgspec.Struct, frozen=True):
    cached_tokens: int


class CompletionDetails(msgspec.Struct, frozen=True):
    reasoning_tokens: int


class Cost(msgspec.Struct, frozen=True):
    total_cost: float


class ChatUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of every model call that the answer took, and its searches."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails
    completion_tokens_details: CompletionDetails
    num_search_queries: int = 0
    cost: Cost | None = None


class ChatCompletion(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its sources: `[n]` in the content is the n-th of `citations` and `search_results`."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[AnswerChoice, ...]
    usage: ChatUsage
    citations: tuple[str, ...] = ()
    search_results: tuple[SearchResult, ...] = ()
    served_by: str


class Head(msgspec.Struct, frozen=True):
    """What every piece of an answer says of it."""

    id: str
    created: int
    model: str


def completion(head: Head, answer: Answer, seen: Seen) -> ChatCompletion:
    """The whole answer."""
    pages = seen.results(answer)
    text = content(answer)
    message = AnswerMessage(
        content=text or None,
        annotations=_annotations(marks(text, answer.citations)),
        tool_calls=_calls(calls_of(answer)) or msgspec.UNSET,
        reasoning_content=_thought(answer) or msgspec.UNSET,
    )
    return ChatCompletion(
        id=head.id,
        created=head.created,
        model=head.model,
        choices=(AnswerChoice(message=message, finish_reason=finish(answer.finish_reason)),),
        usage=usage(answer, seen),
        citations=tuple(page.url for page in pages),
        search_results=pages,
        served_by=f"{answer.provider}/{answer.model}",
    )


def content(answer: Answer) -> str:
    """The words of an answer; one that is data is JSON alone, whatever a model put around it."""
    if answer.parsed is None:
        return answer.text
    return msgspec.json.encode(answer.parsed).decode()


def calls_of(answer: Answer) -> tuple[ToolCall, ...]:
    """The calls that are left to the caller."""
    return answer.messages[-1].tool_calls if answer.finish_reason == "tool_calls" else ()


def _thought(answer: Answer) -> str | None:
    return answer.messages[-1].reasoning if answer.messages else None


def finish(reason: FinishReason) -> Finish:
    """A limit is a limit: an answer that one of ours ended is as incomplete as one that is too long."""
    return "length" if reason == "incomplete" else reason


def usage(answer: Answer, seen: Seen) -> ChatUsage:
    used: Usage = answer.usage
    return ChatUsage(
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        total_tokens=used.total_tokens,
        prompt_tokens_details=PromptDetails(used.cached_tokens),
        completion_tokens_details=CompletionDetails(used.reasoning_tokens),
        num_search_queries=seen.searches,
        cost=None if answer.cost is None else Cost(answer.cost),
    )


def _annotations(found: tuple[Mark, ...]) -> tuple[Annotation, ...]:
    return tuple(Annotation(UrlCitation(mark.start, mark.end, mark.url, mark.title)) for mark in found)


def _calls(calls: tuple[ToolCall, ...]) -> tuple[CallMade, ...]:
    return tuple(
        CallMade(call.id or "", FunctionCalled(call.name, call.arguments), index=index)
        for index, call in enumerate(calls)
    )


class ChatStream:
    """An answer in pieces. Data is given in one piece, when it is known to keep its schema.

    What a model says before it searches is part of the content here, because nobody can know it for
    that when it is said; the places of annotations count it.
    """

    def __init__(self, head: Head, holding: Holding, *, is_data: bool, include_usage: bool) -> None:
        self._head = head
        self._holding = holding
        self._thoughts = holding.another()
        self._is_data = is_data
        self._include_usage = include_usage
        self._said: list[str] = []
        known = msgspec.json.encode(
            {
                "id": head.id,
                "object": "chat.completion.chunk",
                "created": head.created,
                "model": head.model,
            }
        )
        self._prefix = b"data: " + known[:-1] + b","
        self._before = self._prefix + b'"choices":[{"index":0,"delta":'
        self._words = self._before + b'{"content":'
        self._after = b',"finish_reason":null}]}\n\n'

    def begin(self) -> bytes:
        return self._before + b'{"role":"assistant","content":""}' + self._after

    def news(self, batch: list[News]) -> bytes:
        return b"".join(map(self._piece, batch)) if batch else QUIET

    def _piece(self, news: News) -> bytes:
        if isinstance(news, Reasoning):
            return self._thought(self._thoughts.add(news.delta))
        thought = self._thought(self._thoughts.rest())
        if isinstance(news, Text):
            return thought if self._is_data else thought + self._content(self._holding.add(news.delta))
        rest = self._holding.rest()
        needs_space = bool(rest or self._said) and not (rest or self._said[-1]).endswith(PARAGRAPH)
        return thought + self._content(rest + PARAGRAPH if needs_space else rest)

    def _thought(self, text: str) -> bytes:
        if not text:
            return b""
        return self._before + msgspec.json.encode({"reasoning_content": text}) + self._after

    def _content(self, text: str) -> bytes:
        if not text:
            return b""
        self._said.append(text)
        return self._words + msgspec.json.encode(text) + b"}" + self._after

    async def end(self, answer: Answer, seen: Seen) -> bytes:
        last = self._thought(self._thoughts.rest()) + self._content(self._holding.rest())
        if not self._said:
            last += self._content(self._holding.clean(content(answer)))
        calls = _calls(calls_of(answer))
        if calls:
            last += self._before + msgspec.json.encode({"tool_calls": calls}) + self._after
        return last + self._closing(answer, seen) + DONE

    def _closing(self, answer: Answer, seen: Seen) -> bytes:
        """The last piece, with the sources; as Sonar does, it tells the usage, too."""
        pages = seen.results(answer)
        told = {
            "usage": usage(answer, seen),
            "citations": [page.url for page in pages],
            "search_results": pages,
            "served_by": f"{answer.provider}/{answer.model}",
        }
        noted = _annotations(marks("".join(self._said), answer.citations))
        delta = {"annotations": noted} if noted else {}
        choice = {"index": 0, "delta": delta, "finish_reason": finish(answer.finish_reason)}
        closing = self._chunk({"choices": [choice], **told})
        return closing + self._chunk({"choices": [], **told}) if self._include_usage else closing

    def _chunk(self, rest: dict[str, object]) -> bytes:
        return self._prefix + msgspec.json.encode(rest)[1:] + b"\n\n"

    def failed(self, error: HermesError) -> bytes:
        return event(error_body(error, self._holding.clean))
