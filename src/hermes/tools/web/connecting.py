"""From who was chosen to what is asked: one backend or several as one, each with a memory of its answers."""

import hashlib
from collections.abc import Callable
from types import ModuleType

import msgspec

from hermes import discover
from hermes.protocols import Notebook, WebBackend
from hermes.tools.web.backends.base import Backend, Services
from hermes.tools.web.filters import Today
from hermes.tools.web.options import site_of
from hermes.tools.web.select import Chosen

Remember = Callable[[WebBackend, str], WebBackend]
"""Gives a backend a memory; the second is what tells it from another one of its name."""


class Connector(msgspec.Struct, frozen=True, kw_only=True):
    """What backends are connected with."""

    services: Services
    notebook: Callable[[], Notebook]
    remember: Remember
    today: Today
    on_empty: bool = False
    patience: float = 3.0

    def connect(self, chosen: Chosen) -> WebBackend:
        """The backend to ask; raises `NotConfigured` for what a single one lacks."""
        backend = self._several(chosen) if len(chosen.backends) > 1 else self._one(chosen.backends[0])
        if not chosen.beside:
            return backend
        both: WebBackend = _several().ByScheme([backend, *map(self._one, chosen.beside)])
        return both

    def _one(self, backend: Backend) -> WebBackend:
        if backend.connect is not None:
            made = backend.connect(self.services)
            return self.remember(made, "") if "http" in backend.schemes else made
        # Loaded here because a run that asks no server never needs it.
        made = discover.module("hermes.tools.web.http").connect(backend, self.services)
        return self.remember(made, _identity(backend, self.services))

    def _several(self, chosen: Chosen) -> WebBackend:
        several = _several()
        members = [
            several.Member(backend.name, backend.schemes, _later(self._one, backend))
            for backend in chosen.backends
        ]
        made: WebBackend
        if chosen.how == "federate":
            made = several.Federation(members, self.patience, self.today)
        else:
            memory = several.Memory(self.notebook())
            made = several.Failover(members, memory, self.today, on_empty=self.on_empty)
        return made


def _several() -> ModuleType:
    return discover.module("hermes.tools.web.several")


def _later(connect: Callable[[Backend], WebBackend], backend: Backend) -> Callable[[], WebBackend]:
    """Connects on the first call, and gives the same from then on."""
    made: list[WebBackend] = []

    def give() -> WebBackend:
        if not made:
            made.append(connect(backend))
        return made[0]

    return give


def _identity(backend: Backend, services: Services) -> str:
    site = site_of(backend, services)
    told = msgspec.json.encode([site.base_url, dict(site.options)], enc_hook=str)
    return hashlib.sha256(told).hexdigest()[:16]
