"""Which backend serves: an explicit choice always wins and its error is exact."""

from typing import Literal

from hermes import discover
from hermes.errors import NotConfigured
from hermes.protocols import WebBackend
from hermes.tools.web.backends.base import Backend, Services

PACKAGE = "hermes.tools.web.backends"

Capability = Literal["search", "extract"]


def names() -> tuple[str, ...]:
    return tuple(name.replace("_", "-") for name in discover.names(PACKAGE))


def load(name: str) -> Backend:
    backend: Backend = discover.load(PACKAGE, name.strip().lower(), "web backend").BACKEND
    return backend


def choose(capability: Capability, services: Services, *, own: str = "", shared: str = "") -> WebBackend:
    """The backend for a capability, connected.

    `own` is the user's choice for this capability and must have it. `shared` is the choice for both:
    one that only searches leaves reading to the best available backend.
    """
    if own or shared:
        chosen = load(own or shared)
        if _can(chosen, capability):
            return chosen.connect(services)
        if own:
            other = "search" if capability == "extract" else "extract"
            raise NotConfigured(
                f"the web backend `{chosen.name}` is {other}-only",
                hint=f"choose another with `hermes config set web.{capability}_backend NAME`",
            )
    return _best(capability, services).connect(services)


def _best(capability: Capability, services: Services) -> Backend:
    backends = sorted((load(name) for name in names()), key=lambda backend: (backend.rank, backend.name))
    for backend in backends:
        if _can(backend, capability) and backend.available(services):
            return backend
    raise NotConfigured(f"no web backend can {capability}", hint="run `hermes config set web.backend NAME`")


def _can(backend: Backend, capability: Capability) -> bool:
    return backend.searches if capability == "search" else backend.extracts
