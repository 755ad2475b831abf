"""What came back from X: the answer with its citations, or a failure in words. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hermes.errors import (
    ConnectFailed,
    DeadlinePassed,
    Disconnected,
    HermesError,
    HttpStatus,
    InvalidResponse,
    ModelError,
)
from hermes.messages import NOT_JSON
from hermes.protocols import Source
from hermes.tools.x_search.query import Query
from hermes.transports.codex_responses.items import Item, Part

_QUOTED = 200
_LONGEST_ERROR = 500
_SPOKEN = ("output_text", "text")
_NO_TITLE = re.compile(r"\W*\d*\W*")


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Reply(msgspec.Struct):
    id: str | None = None
    status: str | None = None
    output: list[Item] | None = None
    output_text: str | None = None
    citations: list[Any] | None = None
    usage: Any = None
    error: Any = None
    incomplete_details: _Incomplete | None = None


_decode = msgspec.json.Decoder(_Reply).decode


class Found(msgspec.Struct, frozen=True):
    """A reply that holds an answer."""

    answer: str
    citations: list[Any]
    inline_citations: list[dict[str, Any]]
    response_id: str | None
    searches: int | None
    """How often X was searched for it, where that is told."""
    cut: str | None
    """Why the answer stops before its end, if it does."""

    def cited(self) -> tuple[Source, ...]:
        """Every page that is named, those in the text before those that were only seen."""
        return _sources((*self.inline_citations, *self.citations))

    def referred(self) -> tuple[Source, ...]:
        """The pages that the answer rests on: those in its text, or all where it names none."""
        return _sources(self.inline_citations) or _sources(self.citations)

    def doubt(self, query: Query) -> str | None:
        """Why the answer is worth less than it seems; None when it is not."""
        is_cited = bool(self.citations or self.inline_citations)
        filters = ", ".join(query.filters)
        if self.cut is not None:
            return f"the answer stops before its end ({self.cut})"
        if self.searches == 0:
            return "X was not searched for this answer"
        if is_cited or not (filters or self.searches):
            return None
        return f"no post is cited, although X was searched by {filters}" if filters else "no post is cited"


def read(body: bytes) -> Found:
    """The answer in a reply; raises `ModelError` when there is none."""
    try:
        reply = _decode(body)
    except NOT_JSON as error:
        raise _unreadable(body, error) from None
    if reply.error is not None or reply.status in ("failed", "cancelled"):
        raise ModelError(told({"error": reply.error}) if reply.error else f"the search has {reply.status}")
    items = [item for item in reply.output or () if item.type in ("message", "")]
    parts = [part for item in items for part in item.parts()]
    found = Found(
        answer=(reply.output_text or "").strip() or _text(parts),
        citations=reply.citations or [],
        inline_citations=[cited for part in parts for cited in _inline(part)],
        response_id=reply.id or None,
        searches=_searches(reply.usage),
        cut=_cut(reply),
    )
    if not found.answer:
        refusal = " ".join(filter(None, (item.refusal() for item in items)))
        raise InvalidResponse(f"xAI refused to answer: {refusal}" if refusal else "the answer is empty")
    return found


def told(reply: object) -> str:
    """The words of an error reply, with its code before them."""
    if not isinstance(reply, Mapping):
        return _line(_json(reply))
    error = reply.get("error")
    inner = error if isinstance(error, Mapping) else {}
    words = inner.get("message") or error or reply
    text = words if isinstance(words, str) else _json(words)
    code = str(inner.get("code") or reply.get("code") or "")
    return _line(f"{code}: {text}" if code and code not in text else text)


def failure(error: HermesError) -> dict[str, Any]:
    """The result of a search that failed after it was sent."""
    return {
        "success": False,
        "provider": "xai",
        "tool": "x_search",
        "error": _words(error),
        "error_type": _kind(error),
    }


def _words(error: HermesError) -> str:
    if not isinstance(error, HttpStatus):
        return str(error)
    wait = f"; come back in {error.retry_after:.0f} s" if error.retry_after else ""
    return (_said(error.body) or str(error)) + wait


def _said(body: bytes) -> str:
    try:
        return told(msgspec.json.decode(body))
    except NOT_JSON:
        return _line(body.decode(errors="replace"))


def _kind(error: HermesError) -> str:
    """The name that callers know a failure by; it is that of the usual HTTP libraries."""
    match error:
        case HttpStatus():
            return "HTTPError"
        case DeadlinePassed():
            return "ConnectTimeout" if error.phase == "connect" else "ReadTimeout"
        case ConnectFailed() | Disconnected():
            return "ConnectionError"
        case InvalidResponse():
            return "ValueError"
        case _:
            return type(error).__name__


def _unreadable(body: bytes, error: Exception) -> InvalidResponse:
    if not body.strip():
        return InvalidResponse("the answer has no body")
    if body.lstrip()[:1] == b"{":
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        return InvalidResponse(f"the answer cannot be read: {why}")
    return InvalidResponse(f"the answer is not JSON: {_line(body.decode(errors='replace'))[:_QUOTED]}")


def _text(parts: list[Part]) -> str:
    spoken = ((part.text or "").strip() for part in parts if part.type in _SPOKEN)
    return "\n\n".join(filter(None, spoken))


def _inline(part: Part) -> Iterator[dict[str, Any]]:
    for note in part.annotations or ():
        if note.get("type") == "url_citation":
            yield {
                "url": note.get("url") or "",
                "title": note.get("title") or "",
                "start_index": note.get("start_index"),
                "end_index": note.get("end_index"),
            }


def _sources(cited: Iterable[Any]) -> tuple[Source, ...]:
    """The pages of citations, each once; what is no address on the web is none."""
    titles: dict[str, str] = {}
    for url, title in map(_page, cited):
        if url.startswith(("https://", "http://")) and url.isprintable() and " " not in url:
            titles[url] = titles.get(url) or title
    return tuple(Source(url, title, "", read=False) for url, title in titles.items())


def _page(cited: object) -> tuple[str, str]:
    """The address and the title of a citation; a number or the address itself is no title."""
    match cited:
        case {"url": str(url), "title": str(title)}:
            return url, "" if title == url or _NO_TITLE.fullmatch(title) else title
        case str(url) | {"url": str(url)}:
            return url, ""
        case _:
            return "", ""


def _searches(usage: object) -> int | None:
    match usage:
        case {"server_side_tool_usage_details": {"x_search_calls": int(calls)}}:
            return calls
        case _:
            return None


def _cut(reply: _Reply) -> str | None:
    if reply.status in (None, "completed"):
        return None
    reason = reply.incomplete_details.reason if reply.incomplete_details else None
    return reason or reply.status


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _line(text: str) -> str:
    """One printable line, cut."""
    printable = "".join(mark if mark.isprintable() else " " for mark in text)
    return " ".join(printable.split())[:_LONGEST_ERROR]
