"""How long a conversation each model takes, as servers told it: noted with a list, read before a run."""

from collections.abc import Mapping

from hermes.protocols import Endpoint, Notebook

_TOPIC = "windows"
_THIRTY_DAYS = 30 * 24 * 3600.0


def note(notes: Notebook, endpoint: Endpoint, windows: Mapping[str, int]) -> None:
    """Remember the context windows of the models at an address, in tokens, by name."""
    if windows:
        notes.write(_TOPIC, _key(endpoint), dict(windows), _THIRTY_DAYS)


def recall(notes: Notebook, endpoint: Endpoint) -> int | None:
    """The context window of an endpoint's model; None when nobody has told it. No server is asked."""
    noted = notes.read(_TOPIC, _key(endpoint))
    window = noted.get(endpoint.model) if isinstance(noted, dict) else None
    return window if isinstance(window, int) else None


def _key(endpoint: Endpoint) -> str:
    return f"{endpoint.provider.name} {endpoint.base_url}"
