"""A stored conversation as text: for a terminal, and as Markdown to keep."""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import msgspec

from hermes.agent.citations import Sources, cite
from hermes.agent.compaction import SUMMARY
from hermes.agent.prompt import is_question, is_reminder
from hermes.agent.untrusted import unfenced
from hermes.cli._border import one_line
from hermes.cli._happenings import event_line
from hermes.cli._harmless import harmless
from hermes.messages import NOT_JSON, Citation, Image, Message
from hermes.protocols import Source
from hermes.store import Happening, SessionInfo

_SPEAKERS = {"user": "you", "assistant": "hermes", "tool": "tool", "system": "system"}
UNKNOWN_SOURCE = "no source has this number (not verified)"
_BRIEF_LINES = 4
_BRIEF_CHARACTERS = 400
_after = attrgetter("after")


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


def when(moment: float) -> str:
    """A moment in the reader's own time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def plain(
    session: SessionInfo, messages: Sequence[Message], events: Sequence[Happening] = (), *, full: bool
) -> str:
    """The conversation to read in a terminal, with what happened between the messages.

    What tools brought and summaries are cut unless `full`.
    """
    parts = [f"{session.id}  {one_line(session.title)}\n{facts(session)}"]
    happened = {after: "\n".join(map(event_line, some)) for after, some in groupby(events, _after)}
    for number, message in enumerate(messages, 1):
        parts += (_said(message, full=full), happened.get(number, ""))
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown(session: SessionInfo, messages: Sequence[Message]) -> str:
    """The conversation as a document: questions, tool calls, answers and their sources."""
    parts = [f"# {one_line(session.title) or session.id}", f"`{session.id}` · {facts(session)}"]
    for turn in by_question(messages):
        for message in turn:
            parts.extend(_sections(message))
        parts.extend(_source_list(turn))
    return "\n\n".join(parts) + "\n"


def facts(session: SessionInfo) -> str:
    return f"{session.provider}/{session.model} · {when(session.updated)} · {session.status}"


def _said(message: Message, *, full: bool) -> str:
    text = (message.content or "").removeprefix(SUMMARY)
    if not full and (message.replaces or message.role in ("tool", "system")):
        text = _brief(text)
    calls = [f"→ {call.name} {call.arguments}" for call in message.tool_calls]
    return "\n".join(filter(None, [f"[{_speaker(message)}]", text, *pictures(message), *calls]))


def _speaker(message: Message) -> str:
    if message.replaces:
        return f"summary of the first {message.replaces} messages, made for the model"
    if is_reminder(message):
        return "hermes to the model"
    return _SPEAKERS[message.role] + (" (failed)" if message.is_error else "")


def pictures(message: Message) -> list[str]:
    """What there is to say in words of a message's pictures."""
    return [f"(a picture: {_picture(image)})" for image in message.images]


def _picture(image: Image) -> str:
    return image.url or f"{image.media_type}, {len(image.data.rstrip('=')) * 3 // 4:,} bytes"


def _brief(text: str) -> str:
    kept = "\n".join(text.split("\n")[:_BRIEF_LINES])[:_BRIEF_CHARACTERS]
    rest = len(text) - len(kept)
    return f"{kept}\n… {rest} more characters, shown with `--full`" if rest else text


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


def _sections(message: Message) -> Iterator[str]:
    text = (message.content or "").strip()
    if is_question(message):
        yield "\n\n".join([f"## Question\n\n{text}", *pictures(message)])
    if message.role == "assistant" and text:
        words = harmless(text)
        yield words if message.tool_calls else f"## Answer\n\n{words}"
    for call in message.tool_calls:
        yield f"Called `{call.name}`:\n\n{_fenced(call.arguments)}"


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any in the text, so that nothing breaks out of it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}json\n{text}\n{fence}"


def _source_list(turn: Sequence[Message]) -> Iterator[str]:
    """The pages the answer cites, under its own numbers; else all that were seen."""
    titles: dict[str, str] = {}
    for source in _seen(turn):
        titles[source.url] = titles.get(source.url) or source.title
    lines = [f"- [{source.n}] {_cited(source)}" for source in citations(turn)]
    lines = lines or [f"- {_link(title, url)}" for url, title in titles.items()]
    if lines:
        yield "## Sources\n\n" + "\n".join(lines)


def citations(turn: Sequence[Message]) -> tuple[Citation, ...]:
    """The sources that the answer of a turn points to."""
    sources = Sources()
    sources.add(list(_seen(turn)))
    answer = next((message for message in reversed(turn) if message.role == "assistant"), None)
    return cite(answer.content or "", answer.provider_data, sources) if answer else ()


def _seen(turn: Sequence[Message]) -> Iterator[Source]:
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


def _cited(source: Citation) -> str:
    return _link(source.title, source.url) if source.url else UNKNOWN_SOURCE


def _link(title: str, url: str) -> str:
    words = re.sub(r"([\[\]\\])", r"\\\1", one_line(title or url))
    return f"[{words}](<{url.replace('<', '%3C').replace('>', '%3E')}>)"
