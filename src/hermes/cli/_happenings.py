"""What happened in a turn, in words: as it happens, and when a session is looked at later."""

import time

from hermes.cli._border import one_line
from hermes.events import Compacted, Notice, RetryWaiting, Switched, Used
from hermes.store import Happening
from hermes.store.events import Broke, Kept, ToolBegan, ToolEnded


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
