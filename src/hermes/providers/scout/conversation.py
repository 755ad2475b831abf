"""A chat-completions request read into what scout needs: the question, the tools, what they brought."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.protocols import SearchRow

_UNSEEN = re.compile(r"\[a picture that you cannot see: [^\]\n]*\]")
"""What a question says of its pictures to a model that takes none: it is not what was asked."""


class Source(msgspec.Struct, frozen=True):
    """A text that can be quoted, and where it stands."""

    title: str
    url: str
    text: str


class Turn(msgspec.Struct, frozen=True):
    """What happened since one message of the user."""

    text: str
    queries: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    rows: tuple[SearchRow, ...] = ()
    sources: tuple[Source, ...] = ()
    errors: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True):
    """`turn` is the one to answer, `earlier` what the user said before it."""

    turn: Turn
    earlier: tuple[str, ...]
    tools: frozenset[str]
    calls: int
    """How many tool calls were ever made, so that new ids do not repeat old ones."""
    words: int


def read_request(body: Mapping[str, Any]) -> Conversation:
    """Never fails: what has no sense is left out."""
    messages = [message for message in _list(body.get("messages")) if isinstance(message, dict)]
    tools = frozenset() if body.get("tool_choice") == "none" else _tool_names(body.get("tools"))
    turns = [_read_turn(part) for part in _split(messages)]
    at = len(turns) - 1
    if "web_search" not in tools and not _brought(turns[at]):
        # A caller that asks for a last word without tools means the question that was being worked on.
        at = next((index for index in range(at, -1, -1) if _brought(turns[index])), at)
    return Conversation(
        turn=turns[at],
        earlier=tuple(turn.text for turn in turns[:at] if turn.text),
        tools=tools,
        calls=sum(len(_list(message.get("tool_calls"))) for message in messages),
        words=sum(len(_text(message.get("content")).split()) for message in messages),
    )


def _brought(turn: Turn) -> bool:
    return bool(turn.rows or turn.sources)


def _split(messages: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The messages in parts that each begin with one of the user's."""
    parts: list[list[dict[str, Any]]] = [[]]
    for message in messages:
        if message.get("role") == "user":
            parts.append([])
        parts[-1].append(message)
    return parts[1:] or parts


def _read_turn(messages: Sequence[dict[str, Any]]) -> Turn:
    calls = {str(call.get("id")): function for message in messages for call, function in _calls(message)}
    rows: list[SearchRow] = []
    sources: list[Source] = []
    errors: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            result = _json(_text(message.get("content")))
            rows.extend(_rows(result))
            sources.extend(_sources(result))
            errors.extend(_errors(result))
    arguments = [(str(call.get("name")), _json(_text(call.get("arguments")))) for call in calls.values()]
    opened = messages[0] if messages and messages[0].get("role") == "user" else {}
    return Turn(
        text=_UNSEEN.sub("", _text(opened.get("content"))).strip(),
        queries=tuple(_text(given.get("query")) for name, given in arguments if name == "web_search"),
        read=tuple(
            _text(url)
            for name, given in arguments
            if name == "web_extract"
            for url in _list(given.get("urls"))
        ),
        rows=tuple({row.url: row for row in reversed(rows)}.values())[::-1],
        sources=tuple({source.url: source for source in reversed(sources)}.values())[::-1],
        errors=tuple(dict.fromkeys(errors)),
    )


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for call in _list(message.get("tool_calls")):
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            yield call, call["function"]


def _tool_names(tools: object) -> frozenset[str]:
    functions = [tool.get("function") for tool in _list(tools) if isinstance(tool, dict)]
    return frozenset(_text(function.get("name")) for function in functions if isinstance(function, dict))


def _rows(result: Mapping[str, Any]) -> Iterator[SearchRow]:
    data = result.get("data")
    for row in _list(data.get("web") if isinstance(data, dict) else None):
        if isinstance(row, dict) and _text(row.get("url")):
            title, url, description, date = map(_text, map(row.get, ("title", "url", "description", "date")))
            yield SearchRow(title, url, description, date)


def _sources(result: Mapping[str, Any]) -> Iterator[Source]:
    for page in _list(result.get("results")):
        if isinstance(page, dict) and _text(page.get("url")) and _text(page.get("content")).strip():
            yield Source(_text(page.get("title")), _text(page.get("url")), _text(page.get("content")))


def _errors(result: Mapping[str, Any]) -> Iterator[str]:
    for holder in (result, *_list(result.get("results"))):
        if isinstance(holder, dict) and _text(holder.get("error")):
            yield _text(holder.get("error"))


def _json(text: str) -> dict[str, Any]:
    """The JSON object inside a text that may be fenced round it; an empty one when there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}
    try:
        value = msgspec.json.decode(text[start : end + 1])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(content: object) -> str:
    """A message's words: plain, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in _list(content) if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))
