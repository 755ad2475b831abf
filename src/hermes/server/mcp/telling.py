"""What happens in a run, in a line each, for a client that shows how far it has come."""

from hermes.events import (
    Event,
    Notice,
    RetryWaiting,
    Started,
    Switched,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)

LONGEST = 200


def line(event: Event) -> str:
    """An event in words; empty for one that says nothing of how far it has come."""
    return " ".join(_words(event).split())[:LONGEST]


def _words(event: Event) -> str:
    match event:
        case Started(provider=provider, model=model):
            return f"answering with {provider}/{model}"
        case ToolStarted(name=name, arguments=arguments):
            return f"{name} {arguments}"
        case ToolProgress(name=name, text=text):
            return f"{name}: {text}"
        case ToolFinished(name=name, is_error=is_error, seconds=seconds):
            return f"{name} {'failed' if is_error else 'done'} after {seconds:.1f} s"
        case RetryWaiting(reason=reason, seconds=seconds):
            return f"waiting {seconds:.0f} s: {reason}"
        case Switched(to_model=model, reason=reason):
            return f"going on with {model}: {reason}"
        case Notice(message=message):
            return message
        case _:
            return ""
