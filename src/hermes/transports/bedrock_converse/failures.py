"""What a failure of the service says, as a status or as an event of a stream."""

import re
from datetime import datetime

import msgspec

from hermes.errors import ModelError, RequestRejected
from hermes.transports.base.failures import error_text, read_failure

_STATUS_OF_EXCEPTION = {
    "accessdenied": 403,
    "modelstreamerror": 424,
    "modeltimeout": 408,
    "resourcenotfound": 404,
    "serviceunavailable": 503,
    "throttling": 429,
    "validation": 400,
}
_SKEWED = re.compile(r"Signature (?:expired|not yet current): (\d{8}T\d{6}Z) .*\((\d{8}T\d{6}Z) ")


def raise_failure(payload: bytes) -> None:
    """An event that is a failure is raised as the same HTTP status would be; other news is ignored."""
    event = msgspec.json.decode(payload)
    for name, said in event.items() if isinstance(event, dict) else ():
        kind = str(name).lower()
        if kind.endswith("exception"):
            status = _STATUS_OF_EXCEPTION.get(kind.removesuffix("exception"), 500)
            raise failure(status, msgspec.json.encode(said), None)


def failure(status: int, body: bytes, retry_after: float | None) -> ModelError:
    """The error that a status stands for; a wrong clock is told from a wrong key."""
    words, _ = error_text(body)
    minutes = _minutes_ahead(words) if status == 403 else None
    if minutes is None:
        return read_failure(status, body, retry_after)
    return RequestRejected(
        f"the clock of this machine is {abs(minutes)} minutes {'ahead' if minutes > 0 else 'behind'}: "
        f"the provider takes no request signed with it",
        hint="set the clock of this machine",
    )


def _minutes_ahead(words: str) -> int | None:
    """How far the clock that signed is ahead of the provider's, when the provider says that it is off."""
    times = _SKEWED.search(words)
    if times is None:
        return None
    try:
        sent, received = (datetime.strptime(time, "%Y%m%dT%H%M%S%z") for time in times.groups())
    except ValueError:
        return None
    return round((sent - received).total_seconds() / 60)
