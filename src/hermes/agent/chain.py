"""Who is asked when the chosen model does not answer: an ordered chain, walked once per question."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from hermes.agent.occasion import Occasion
from hermes.agent.send import Emit, Ledger, ModelClient
from hermes.errors import (
    ConfigError,
    ContextOverflow,
    HermesError,
    ModelError,
    NetError,
    QuotaExhausted,
    RateLimited,
    TlsFailed,
    UsageError,
)
from hermes.events import Event, Notice, Switched, Text
from hermes.messages import NormalizedResponse
from hermes.protocols import Endpoint, Notebook, Request

if TYPE_CHECKING:
    from hermes.agent.explain import Reason

Make = Callable[[str], ModelClient]
"""Makes the client of a model from `PROVIDER/MODEL`; raises `ConfigError` or `UsageError` where it cannot."""

_TOPIC = "cooling models"
_COOL_DOWN = 60.0
_OF_NO_USE = (TlsFailed, ContextOverflow)
"""What is no reason to ask another model: the network is not what it says, or the question is too long."""


class Served(msgspec.Struct, frozen=True):
    """An answer, and who gave it."""

    response: NormalizedResponse
    endpoint: Endpoint


class Models:
    """The models of a conversation: the chosen one, and the names of those to fall back on.

    A fallback is made when it is first needed, with everything its own: key, headers, protocol and
    conversion. One that cannot be made is told once and passed over.
    """

    def __init__(
        self,
        chosen: ModelClient,
        fallback: Sequence[str] = (),
        make: Make | None = None,
        notebook: Notebook | None = None,
    ) -> None:
        self.chosen = chosen
        self.fallback = tuple(fallback) if make is not None else ()
        self._make = make
        self._notebook = notebook
        self._made: dict[str, ModelClient | None] = {}

    @property
    def endpoint(self) -> Endpoint:
        return self.chosen.endpoint

    def question(self, occasion: Occasion | None = None) -> "Chain":
        """The chain for one question; it begins with the chosen model again, unless that cools down."""
        return Chain(self, Ledger(occasion=occasion))

    def client(self, name: str, emit: Emit) -> ModelClient | None:
        """A fallback by its name; None when it cannot be used."""
        if name not in self._made and self._make is not None:
            try:
                self._made[name] = self._make(name)
            except (ConfigError, UsageError) as error:
                self._made[name] = None
                emit(Notice(f"the fallback `{name}` is passed over: {error}", error.hint))
        return self._made.get(name)

    def is_cooling(self) -> bool:
        """Whether the chosen model asked to be left alone for a while."""
        if not self.fallback or self._notebook is None:
            return False
        return self._notebook.read(_TOPIC, _address(self.endpoint)) is not None

    def cool(self, client: ModelClient, error: HermesError) -> None:
        """Leave the chosen model alone after a limit; the others are not asked unless it fails."""
        if client is not self.chosen or not self.fallback or self._notebook is None:
            return
        if isinstance(error, RateLimited | QuotaExhausted):
            asked = error.retry_after if isinstance(error, RateLimited) else None
            seconds = max(_COOL_DOWN, asked or 0)
            self._notebook.write(_TOPIC, _address(client.endpoint), type(error).__name__, seconds)


class Chain:
    """The models that one question can go to. Whoever answered last is asked next."""

    def __init__(self, models: Models, ledger: Ledger) -> None:
        self.ledger = ledger
        self._models = models
        self._names = list(models.fallback)
        self._tried = [models.endpoint]
        self._current = models.chosen
        self._next: ModelClient | None = None
        self._begun = not models.fallback

    @property
    def endpoint(self) -> Endpoint:
        """Who is asked next."""
        return self._current.endpoint

    async def send(self, request: Request, emit: Emit) -> Served:
        """Ask until somebody answers. Nobody else is asked once a word has reached the user.

        Raises the failure of the last one asked.
        """
        if not self._begun:
            self._begin(emit)
        ear = _Ear(emit)
        while True:
            current = self._current
            try:
                response = await current.send(
                    request,
                    ear if self._models.fallback else emit,
                    self.ledger,
                    another=lambda: self._find(emit) is not None,
                )
                return Served(response, current.endpoint)
            except (ModelError, NetError) as error:
                self._models.cool(current, error)
                if ear.heard or isinstance(error, _OF_NO_USE) or not self.move_on(str(error), emit):
                    raise

    def explain(self, request: Request) -> "tuple[Reason, ...]":
        """What the next call would send, field by field, and why. Nothing is sent."""
        return self._current.explain(request)

    def _begin(self, emit: Emit) -> None:
        """Where the chosen model cools down, the others come first and it comes last."""
        self._begun = True
        if self._models.is_cooling() and self.move_on("it was limited a moment ago", emit):
            self._tried.remove(self._models.endpoint)
            self._names.append("")

    def move_on(self, reason: str, emit: Emit) -> bool:
        """Ask the next model from here on; false when there is none."""
        following = self._find(emit)
        if following is None:
            return False
        emit(Switched(_name(self._current.endpoint), _name(following.endpoint), reason))
        self._current, self._next = following, None
        self._tried.append(following.endpoint)
        return True

    def _find(self, emit: Emit) -> ModelClient | None:
        """The next model that can be asked and was not; an empty name is the chosen one."""
        while self._next is None and self._names:
            name = self._names.pop(0)
            client = self._models.client(name, emit) if name else self._models.chosen
            if client is not None and not any(_same(client.endpoint, tried) for tried in self._tried):
                self._next = client
        return self._next


class _Ear:
    """Passes events on and remembers whether a word was among them."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self.heard = False

    def __call__(self, event: Event) -> None:
        self.heard = self.heard or isinstance(event, Text)
        self._emit(event)


def _same(one: Endpoint, other: Endpoint) -> bool:
    """Whether two endpoints are one model: that of a provider, or that behind an address."""
    if one.model != other.model:
        return False
    return one.provider.name == other.provider.name or (
        bool(one.base_url) and one.base_url.rstrip("/") == other.base_url.rstrip("/")
    )


def _name(endpoint: Endpoint) -> str:
    return f"{endpoint.provider.name}/{endpoint.model}"


def _address(endpoint: Endpoint) -> str:
    return f"{_name(endpoint)} {endpoint.base_url}"
