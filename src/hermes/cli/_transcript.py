"""A stored conversation as text: for a terminal, and as Markdown to keep."""

import re
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from hermes.agent.compaction import SUMMARY
from hermes.agent.past import by_question, citations, seen
from hermes.agent.prompt import is_question, is_reminder
from hermes.cli._border import one_line
from hermes.cli._happenings import event_line
from hermes.cli._harmless import harmless
from hermes.messages import Citation, Image, Message
from hermes.store import Happening, SessionInfo

_SPEAKERS = {"user": "you", "assistant": "hermes", "tool": "tool", "system": "system"}
UNKNOWN_SOURCE = "no source has this number (not verified)"
_BRIEF_LINES = 4
_BRIEF_CHARACTERS = 400
_after = attrgetter("after")


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
    for source in seen(turn):
        titles[source.url] = titles.get(source.url) or source.title
    lines = [f"- [{source.n}] {_cited(source)}" for source in citations(turn)]
    lines = lines or [f"- {_link(title, url)}" for url, title in titles.items()]
    if lines:
        yield "## Sources\n\n" + "\n".join(lines)


def _cited(source: Citation) -> str:
    return _link(source.title, source.url) if source.url else UNKNOWN_SOURCE


def _link(title: str, url: str) -> str:
    words = re.sub(r"([\[\]\\])", r"\\\1", one_line(title or url))
    return f"[{words}](<{url.replace('<', '%3C').replace('>', '%3E')}>)"
