"""A stored conversation taken apart: by question, with the sources that each answer points to."""

from collections.abc import Iterator, Sequence

import msgspec

from hermes.agent.citations import Sources, cite
from hermes.agent.prompt import is_question
from hermes.agent.untrusted import unfenced
from hermes.messages import NOT_JSON, Citation, Message
from hermes.protocols import Source


class _Row(msgspec.Struct):
    url: str
    title: str | None = None
    description: str | None = None
    content: str | None = None
    error: str | None = None


class _Rows(msgspec.Struct):
    web: tuple[_Row, ...] = ()


class _Payload(msgspec.Struct):
    """The shapes of `web_search` and `web_extract`; other tools bring no sources."""

    data: _Rows = msgspec.field(default_factory=_Rows)
    results: tuple[_Row, ...] = ()


_payloads = msgspec.json.Decoder(_Payload)


def by_question(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The messages by question; what the loop says to itself begins no new one."""
    turn: list[Message] = []
    for message in messages:
        if is_question(message) and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def citations(turn: Sequence[Message]) -> tuple[Citation, ...]:
    """The sources that the answer of a turn points to."""
    sources = Sources()
    sources.add(list(seen(turn)))
    answer = next((message for message in reversed(turn) if message.role == "assistant"), None)
    return cite(answer.content or "", answer.provider_data, sources) if answer else ()


def seen(turn: Sequence[Message]) -> Iterator[Source]:
    """The pages that tools brought, in order."""
    return (source for message in turn for source in _sources_of(message))


def _sources_of(message: Message) -> list[Source]:
    if message.role != "tool" or message.is_error or not message.content:
        return []
    try:
        payload = _payloads.decode(unfenced(message.content))
    except NOT_JSON:
        return []
    return [
        Source(row.url, row.title or "", row.description or row.content or "", read=bool(row.content))
        for row in (*payload.data.web, *payload.results)
        if not row.error
    ]
