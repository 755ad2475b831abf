"""Which backends serve: an explicit choice always wins and its error is exact."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from hermes import discover
from hermes.discover import Kind, Registry, normal
from hermes.errors import ConfigError, NotConfigured, UnknownName
from hermes.tools.web.backends.base import Backend, Services
from hermes.tools.web.options import is_available

Capability = Literal["search", "extract"]
CAPABILITIES: tuple[Capability, ...] = ("search", "extract")

KIND = Kind(
    noun="web backend",
    type=Backend,
    attribute="BACKEND",
    package="hermes.tools.web.backends",
    group="hermes.web_backends",
    folder="web",
    example="`BACKEND = Backend(…)`, with `from hermes.tools.web.backends.base import Backend`",
)
_WORD = re.compile(r'"([\w.]+)"')


class Preferences(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says of one capability.

    `own` is the choice for this capability and must have it; `shared` is the choice for both. `failover`
    are asked in turn, `federate` at once. With `alone` only the choice itself is asked.
    """

    own: str = ""
    shared: str = ""
    failover: tuple[str, ...] = ()
    federate: tuple[str, ...] = ()
    alone: bool = False


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Who serves and why: one, or several in turn or at once; and who reads what these cannot."""

    backends: tuple[Backend, ...]
    reason: str
    how: Literal["one", "failover", "federate"] = "one"
    unasked: bool = False
    """Whether no setting names who serves."""
    beside: tuple[Backend, ...] = ()
    warning: str = ""

    @property
    def name(self) -> str:
        """The names in the order they are asked."""
        return (" + " if self.how == "federate" else ", then ").join(each.name for each in self.backends)


class Backends:
    """The web backends there are: the folder here, what packages and plugins offer, the user's own files."""

    def __init__(self, home: str = "") -> None:
        self._registry = Registry(KIND, home)
        self._registered: dict[str, Backend] = {}

    def register(self, backend: object) -> None:
        """Add a backend for this run: a `Backend`, or a provider as plugins write them.

        One of the same name is replaced. Raises `TypeError` for what is neither.
        """
        # Loaded here because most runs have no such provider.
        adapt: Callable[[object], Backend] = discover.module("hermes.tools.web.foreign").adapted
        made = backend if isinstance(backend, Backend) else adapt(backend)
        if not made.name.strip():
            raise ValueError("a web backend has a name")
        self._registered[made.name.strip().lower()] = made

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self._registry.names(), *self._registered}))

    def load(self, name: str) -> Backend:
        """A backend by name or alias, in any case; an unknown one is an error that offers the nearest."""
        found = self._registered.get(name.strip().lower())
        if found is not None:
            return found
        if name in self._registry:
            return self._registry.load(name).value
        named = (backend for backend in self.all() if normal(name) in backend.aliases)
        found = next(named, None)
        if found is None:
            raise UnknownName(KIND.noun, name, self.names())
        return found

    def all(self) -> tuple[Backend, ...]:
        """Every backend that can be loaded, best first."""
        found = {entry.value.name: entry.value for entry in self._registry.entries} | self._registered
        return tuple(sorted(found.values(), key=_preferred))

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """What is wrong with files that cannot be loaded."""
        return self._registry.problems

    def available(self, services: Services) -> tuple[Backend, ...]:
        """Those that can serve unasked, best first. A file that names nothing that is set is not loaded."""
        hinted = self._registry.where(_Hint(services))
        found = {backend.name: backend for backend in hinted} | self._registered
        return tuple(
            backend
            for backend in sorted(found.values(), key=_preferred)
            if backend.rank and is_available(backend, services)
        )


class _Hint:
    """Whether the text of a backend's file names a variable or a setting that is set, or needs none."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def __call__(self, text: str) -> bool:
        if "offered_by=()" in text or "is_ready=" in text:
            return True
        return any(map(self._is_set, _WORD.findall(text)))

    def _is_set(self, word: str) -> bool:
        if word.isupper():
            return self._services.setting(word) is not None
        return self._services.option(word) is not None if "_" in word or "." in word else False


class Selector:
    """Chooses for one run."""

    def __init__(self, backends: Backends, services: Services) -> None:
        self._backends = backends
        self._services = services

    @cached_property
    def _available(self) -> tuple[Backend, ...]:
        return self._backends.available(self._services)

    def choose(self, capability: Capability, wanted: Preferences) -> Chosen:
        """Who serves; raises `NotConfigured` or `UnknownName` for a choice that cannot be kept."""
        chosen = self._choose(capability, wanted)
        if capability == "search":
            return chosen
        return msgspec.structs.replace(chosen, beside=self._beside(chosen))

    def _choose(self, capability: Capability, wanted: Preferences) -> Chosen:
        first = self._explicit(capability, wanted)
        if wanted.federate and capability == "search" and not wanted.alone:
            members = self._able(wanted.federate, capability)
            if members:
                return Chosen(backends=members, how="federate", reason="`web.federate` is set")
        if wanted.failover and not wanted.alone:
            members = self._able(wanted.failover, capability)
            if first is not None:
                members = (*first.backends, *(each for each in members if each not in first.backends))
            if members:
                reason = first.reason if first else "`web.failover` is set"
                return Chosen(backends=members, how="failover", reason=reason)
        return first or self._best(capability, self._doubt(wanted))

    def _explicit(self, capability: Capability, wanted: Preferences) -> Chosen | None:
        """The choice of the user; None when there is none, or when it leaves this capability to others."""
        if wanted.own:
            reason = "`--backend` names it" if wanted.alone else f"`web.{capability}_backend` is set"
            return Chosen(backends=(self._must(wanted.own, capability),), reason=reason)
        if not wanted.shared or self._doubt(wanted):
            return None
        shared = self._load(wanted.shared)
        return Chosen(backends=(shared,), reason="`web.backend` is set") if can(shared, capability) else None

    def _must(self, name: str, capability: Capability) -> Backend:
        chosen = self._load(name)
        if can(chosen, capability):
            return chosen
        other = "search" if capability == "extract" else "extract"
        raise NotConfigured(
            f"the web backend `{chosen.name}` ({chosen.title}) is {other}-only",
            hint=f"choose another with `hermes config set web.{capability}_backend NAME`",
        )

    def _doubt(self, wanted: Preferences) -> str:
        """What is to be said when `web.backend` names nobody: the best one serves then."""
        if not wanted.shared or wanted.own:
            return ""
        try:
            self._backends.load(wanted.shared)
        except UnknownName as error:
            return f"`web.backend` names an {error}; {error.hint}"
        return ""

    def _able(self, names: Sequence[str], capability: Capability) -> tuple[Backend, ...]:
        found = {(backend := self._load(name)).name: backend for name in names}
        return tuple(backend for backend in found.values() if can(backend, capability))

    def _load(self, name: str) -> Backend:
        """The backend that a user means by a name."""
        backend = self._backends.load(name)
        other = backend.meant(self._services) if backend.meant is not None else ""
        return self._backends.load(other) if other else backend

    def _best(self, capability: Capability, warning: str) -> Chosen:
        able = [backend for backend in self._available if can(backend, capability)]
        if not able:
            hint = "run `hermes tools setup`, or `hermes config set web.backend NAME`"
            raise NotConfigured(f"no web backend can {capability}", hint=hint)
        # Where nothing is set there may be no network, either: who needs none stands in.
        is_bare = capability == "search" and not any(backend.offered_by for backend in able)
        members = tuple(able) if is_bare else (able[0],)
        return Chosen(
            backends=members,
            how="failover" if len(members) > 1 else "one",
            reason="the best that is available",
            unasked=True,
            warning=warning,
        )

    def _beside(self, chosen: Chosen) -> tuple[Backend, ...]:
        """Who reads the kinds of addresses that the chosen one does not: only what needs nothing.

        Where the user has chosen, nobody beside that choice goes to the network.
        """
        covered = {scheme for backend in chosen.backends for scheme in backend.schemes}
        return tuple(
            backend
            for backend in self._available
            if can(backend, "extract")
            and not backend.offered_by
            and not covered & set(backend.schemes)
            and (chosen.unasked or "http" not in backend.schemes)
        )


def can(backend: Backend, capability: Capability) -> bool:
    return backend.searches if capability == "search" else backend.extracts


def _preferred(backend: Backend) -> tuple[int, str]:
    return backend.rank, backend.name
