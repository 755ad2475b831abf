"""What happened in a turn, in words: as it happens, and when a session is looked at later."""

import time

import msgspec

from hermes.agent.untrusted import texts
from hermes.cli._border import one_line
from hermes.events import Compacted, Event, Notice, RetryWaiting, Switched, ToolFinished, Used
from hermes.messages import NOT_JSON, Usage
from hermes.store import Happening
from hermes.store.events import Broke, Kept, ToolBegan, ToolEnded

SHOWN_ARGUMENTS = 100
WORTH_SAYING = 3.0
"""Seconds of waiting, in all, after which a person is told of it."""


class Waits:
    """The waits of a turn. Short ones are not worth a word, until there are many."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def are_worth_saying(self, seconds: float) -> bool:
        self._seconds += seconds
        return self._seconds >= WORTH_SAYING


def remark(event: Event, waits: Waits) -> str:
    """What a person is told of an event on a line of its own; empty where that is nothing."""
    match event:
        case RetryWaiting(reason, seconds, attempt) if waits.are_worth_saying(seconds):
            return f"waiting {seconds:.0f} s, then try {attempt + 1}: {reason}"
        case Switched() | Compacted():
            return f"note: {words_for(event)}"
        case Notice(message, hint):
            return f"note: {message}" + (f"\nhint: {hint}" if hint else "")
        case _:
            return ""


def call_line(name: str, arguments: str) -> str:
    """A call as a person reads it: its name, and the words it was given."""
    try:
        given = msgspec.json.decode(arguments)
    except NOT_JSON:
        given = arguments
    return one_line(" ".join(["·", name, *texts(given)]), SHOWN_ARGUMENTS)


def outcome(event: ToolFinished) -> str:
    """How a call ended: its size, who served it and how long it took."""
    by = f" by {event.served_by}" if event.served_by else ""
    ended = "failed" if event.is_error else f"{len(event.result):,} characters"
    return f"{ended}{by}, {duration(event.seconds)}"


def duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def usage_line(usage: Usage, cost: float | None) -> str:
    """Tokens and money, for who asks for them."""
    cached = f" ({usage.cached_tokens:,} from a cache)" if usage.cached_tokens else ""
    thought = f" ({usage.reasoning_tokens:,} of thinking)" if usage.reasoning_tokens else ""
    price = "cost unknown" if cost is None else f"{cost:.4f} US dollars"
    return f"{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out{thought}, {price}"


def event_line(happening: Happening) -> str:
    """An event on a line of its own, with the reader's own time."""
    moment = time.strftime("%H:%M:%S", time.localtime(happening.at))
    return one_line(f"· {moment} {words_for(happening.event)}", 1_000)


def words_for(event: Kept) -> str:
    """What happened."""
    match event:
        case ToolBegan(_, name):
            return f"{name} began"
        case ToolEnded(_, name, characters):
            by = f" by {event.served_by}" if event.served_by else ""
            outcome = "failed" if event.is_error else f"ended with {characters:,} characters"
            return f"{name} {outcome}{by}, {event.seconds * 1000:.0f} ms"
        case RetryWaiting(reason, seconds, attempt):
            return f"waited {seconds:.1f} s, then try {attempt + 1}: {reason}"
        case Switched(before, after, reason):
            return f"`{after}` answers instead of `{before}`: {reason}"
        case Compacted(before, after, counted):
            about = "" if counted == before else "about "
            return f"the conversation was shortened, from {about}{before:,} tokens to about {after:,}"
        case Used(usage, cost):
            price = "" if cost is None else f", {cost:.4f} US dollars"
            return f"{usage.total_tokens:,} tokens so far{price}"
        case Notice(message):
            return f"note: {message}"
        case Broke(_, message):
            return f"failed: {message}"
