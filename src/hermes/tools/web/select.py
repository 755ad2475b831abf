"""Which backend serves: an explicit choice always wins and its error is exact."""

from typing import Literal

from hermes import discover
from hermes.errors import NotConfigured
from hermes.protocols import WebBackend
from hermes.tools.web.backends.base import Backend, Services

PACKAGE = "hermes.tools.web.backends"
PREFERENCE = ("local",)
"""Tried in this order when nothing is chosen; the first that is available serves."""

Capability = Literal["search", "extract"]


def names() -> tuple[str, ...]:
    return tuple(name.replace("_", "-") for name in discover.names(PACKAGE))


def load(name: str) -> Backend:
    backend: Backend = discover.load(PACKAGE, name.strip().lower(), "web backend").BACKEND
    return backend


def choose(capability: Capability, chosen: str, services: Services) -> WebBackend:
    """The backend for a capability, connected. `chosen` is the user's word, or empty."""
    if chosen:
        backend = load(chosen)
        if not _can(backend, capability):
            raise NotConfigured(f"the web backend `{backend.name}` cannot {capability}")
        return backend.connect(services)
    for name in PREFERENCE:
        backend = load(name)
        if _can(backend, capability) and backend.available(services):
            return backend.connect(services)
    raise NotConfigured(f"no web backend can {capability}", hint="run `hermes config set web.backend NAME`")


def _can(backend: Backend, capability: Capability) -> bool:
    return backend.searches if capability == "search" else backend.extracts
