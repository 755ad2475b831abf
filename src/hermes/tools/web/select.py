"""Which backend serves: an explicit choice always wins and its error is exact."""

from typing import Literal

import msgspec

from hermes import discover
from hermes.errors import NotConfigured
from hermes.protocols import WebBackend
from hermes.tools.web.backends.base import Backend, Services
from hermes.tools.web.options import is_available

PACKAGE = "hermes.tools.web.backends"

Capability = Literal["search", "extract"]
CAPABILITIES: tuple[Capability, ...] = ("search", "extract")


class Chosen(msgspec.Struct, frozen=True):
    """Who serves, and why."""

    backend: Backend
    reason: str

    @property
    def name(self) -> str:
        return self.backend.name

    def connect(self, services: Services) -> WebBackend:
        """The backend, ready to be asked; raises `NotConfigured` for what it lacks."""
        return connect(self.backend, services)


def names() -> tuple[str, ...]:
    return tuple(name.replace("_", "-") for name in discover.names(PACKAGE))


def load(name: str) -> Backend:
    backend: Backend = discover.load(PACKAGE, name.strip().lower(), "web backend").BACKEND
    return backend


def connect(backend: Backend, services: Services) -> WebBackend:
    if backend.connect is not None:
        return backend.connect(services)
    # Loaded here because a run that asks no server never needs it.
    made: WebBackend = discover.module("hermes.tools.web.http").connect(backend, services)
    return made


def choose(capability: Capability, services: Services, *, own: str = "", shared: str = "") -> Chosen:
    """The backend for a capability.

    `own` is the user's choice for this capability and must have it. `shared` is the choice for both:
    one that only searches leaves reading to the best available backend.
    """
    if own or shared:
        chosen = load(own or shared)
        if can(chosen, capability):
            return Chosen(chosen, f"`web.{capability}_backend` is set" if own else "`web.backend` is set")
        if own:
            other = "search" if capability == "extract" else "extract"
            raise NotConfigured(
                f"the web backend `{chosen.name}` is {other}-only",
                hint=f"choose another with `hermes config set web.{capability}_backend NAME`",
            )
    return _best(capability, services)


def _best(capability: Capability, services: Services) -> Chosen:
    backends = sorted((load(name) for name in names()), key=lambda backend: (backend.rank, backend.name))
    for backend in backends:
        if backend.rank and can(backend, capability) and is_available(backend, services):
            return Chosen(backend, "the best that is available")
    raise NotConfigured(f"no web backend can {capability}", hint="run `hermes config set web.backend NAME`")


def can(backend: Backend, capability: Capability) -> bool:
    return backend.searches if capability == "search" else backend.extracts
