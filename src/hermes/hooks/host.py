"""The front of the engine. With nobody registered it does nothing, and loads nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hermes import discover
from hermes.errors import Block
from hermes.hooks.names import HOOKS, MIDDLEWARE, STREAM, ExecutionKind, RequestKind
from hermes.hooks.registration import Registration

if TYPE_CHECKING:
    from hermes.hooks.callee import Callee, Fence, Tally
    from hermes.hooks.stream import Pieces
    from hermes.hooks.workers import Workers

Mode = Literal["full", "observe", "off"]
Payload = dict[str, Any]

DEFAULT_TIMEOUT = 30.0
_A_MOMENT = 0.1


class Rewrite(msgspec.Struct, frozen=True):
    """One callback's change of a payload."""

    plugin: str
    name: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """The time of one callback around one call: with what it wraps, and by itself."""

    plugin: str
    callback: str
    after_ms: float
    """When it began, counted from the beginning of the call."""
    duration_ms: float
    own_ms: float


class Rewritten(msgspec.Struct, frozen=True):
    """A payload after request middleware, and what was done to it."""

    payload: Payload
    original: Payload
    trace: tuple[dict[str, str], ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    spent: list[Spent] = []
    """What the callbacks around the doing took, once it is done."""

    @property
    def changed(self) -> bool:
        return bool(self.rewrites)


class Heard(msgspec.Struct, frozen=True):
    """What one callback of a hook answered."""

    plugin: str
    name: str
    value: Any


class Place(msgspec.Struct, frozen=True):
    """One callback in the order of its kind, and why it is passed over, if it is."""

    kind: str
    plugin: str
    name: str
    skipped: str = ""


class HookHost:
    """The callbacks of one runtime, called in their order.

    `timeout` is how many seconds a callback may take by itself; `warn` is told once of each thing that
    went wrong in one; `redact` takes the secrets out of what hooks are told; `fence` ends the processes that
    callbacks fork. With the mode `observe` nothing that a plugin returns has an effect.
    """

    def __init__(
        self,
        *,
        mode: Mode = "full",
        timeout: float = DEFAULT_TIMEOUT,
        clock: Callable[[], float] = time.monotonic,
        warn: Callable[[str], None] = lambda _text: None,
        redact: Callable[[str], str] = str,
        fence: "Fence" = lambda: lambda: None,
    ) -> None:
        self.redact = redact
        self._fence = fence
        self._mode = mode
        self._timeout = timeout
        self._clock = clock
        self._warn = warn
        self._callees: dict[str, tuple[Callee, ...]] = {}
        self._workers: Workers | None = None

    def add(self, registrations: Sequence[Registration]) -> None:
        """Register callbacks, all or none; raises `ConfigError` where their order cannot be kept."""
        if self._mode == "off" or not registrations:
            return
        ordered = discover.module("hermes.hooks.order").ordered
        added = [self._callee(registration) for registration in registrations]
        kinds = {callee.kind for callee in added}
        self._callees |= {
            kind: ordered([*self._callees.get(kind, ()), *(one for one in added if one.kind == kind)])
            for kind in kinds
        }

    def _callee(self, registration: Registration) -> "Callee":
        if registration.kind not in MIDDLEWARE and registration.kind not in HOOKS:
            self._warn(f"the plugin `{registration.plugin}`: there is no hook `{registration.kind}`")
        observes = registration.observes or self._mode == "observe"
        made: Callee = discover.module("hermes.hooks.callee").Callee(
            msgspec.structs.replace(registration, observes=observes),
            timeout=self._timeout,
            clock=self._clock,
            warn=self._warn,
        )
        return made

    def remove(self, plugin: str) -> None:
        """Forget the callbacks of a plugin; a call that is under way goes on with them."""
        kept = {
            kind: tuple(one for one in callees if one.plugin != plugin)
            for kind, callees in self._callees.items()
        }
        self._callees = {kind: callees for kind, callees in kept.items() if callees}

    def listens(self, kind: str) -> bool:
        """Whether anybody is registered for a kind or a hook."""
        return kind in self._callees

    @property
    def is_idle(self) -> bool:
        """Whether nobody is registered for anything."""
        return not self._callees

    async def apply_request(
        self, kind: RequestKind, payload: Payload, context: Mapping[str, Any]
    ) -> Rewritten:
        """The payload as the callbacks of the kind want it; with none of them, the very same object."""
        callees = self._callees.get(kind)
        if callees is None:
            return Rewritten(payload, payload)
        rewriting = discover.module("hermes.hooks.requests").Rewriting(kind, payload, context)
        rewritten: Rewritten = await rewriting.run(callees, self._threads(), self._clock, self._fence())
        return rewritten

    async def run(
        self,
        kind: ExecutionKind,
        payload: Payload,
        base: Callable[[Payload], Awaitable[Any]],
        context: Mapping[str, Any],
        original: Payload | None = None,
        spent: list[Spent] | None = None,
    ) -> Any:
        """Do what `base` does, wrapped in the callbacks of the kind.

        `original` is the payload unchanged; what each callback took is added to `spent`.
        """
        callees = self._callees.get(kind)
        if callees is None:
            return await base(payload)
        execution = discover.module("hermes.hooks.execution").Execution(
            kind,
            callees,
            base,
            context,
            payload if original is None else original,
            self._threads(),
            self._clock,
            self._fence(),
        )
        return await execution.run(payload, spent)

    async def emit(self, hook: str, payload: Callable[[], Mapping[str, Any]]) -> tuple[Heard, ...]:
        """Tell whoever listens to a hook; the payload is made only then.

        Gives what was answered. Raises `Block` where a callback that decides failed, or said so.
        """
        callees = self._callees.get(hook)
        if callees is None:
            return ()
        tell = discover.module("hermes.hooks.observers").tell
        told = discover.module("hermes.hooks.sanitised").without_secrets(payload(), self.redact)
        heard: tuple[Heard, ...] = await tell(callees, told, self._threads(), self._clock, self._fence())
        return heard

    async def emit_to_the_end(self, hook: str, payload: Callable[[], Mapping[str, Any]]) -> None:
        """Tell whoever listens; an interrupt meanwhile leaves them a moment to hear it."""
        if not self.listens(hook):
            return
        telling = asyncio.ensure_future(self.emit(hook, payload))
        try:
            await asyncio.shield(telling)
        except asyncio.CancelledError:
            await asyncio.wait([telling], timeout=_A_MOMENT)
            if not telling.cancel() and not telling.cancelled():
                self._say_too_late(hook, telling.exception())
            raise

    async def emit_too_late(self, hook: str, payload: Callable[[], Mapping[str, Any]]) -> None:
        """Tell whoever listens of what is over: a no has no effect any more, and is said."""
        try:
            await self.emit(hook, payload)
        except Block as block:
            self._say_too_late(hook, block)

    async def emit_in_passing(self, hook: str, payload: Callable[[], Mapping[str, Any]]) -> None:
        """The same, but wait a moment only: for when the user has interrupted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_A_MOMENT):
                await self.emit_too_late(hook, payload)

    def _say_too_late(self, hook: str, error: BaseException | None) -> None:
        if error is not None:
            self._warn(f"a plugin says no in `{hook}`, when all is over: {error}")

    def pieces(self, context: Mapping[str, Any]) -> "Pieces | None":
        """What an answer goes through piece by piece; None where nobody wants to see it so."""
        callees = self._callees.get(STREAM)
        if callees is None:
            return None
        made: Pieces = discover.module("hermes.hooks.stream").Pieces(callees, context)
        return made

    def explain(self, context: Mapping[str, Any]) -> list[Place]:
        """Every callback in the order it is called, and why it would be passed over in this context."""
        return [
            Place(callee.kind, callee.plugin, callee.name, "" if callee.wants(context) else "its condition")
            for kind in sorted(self._callees)
            for callee in self._callees[kind]
        ]

    def stats(self) -> list["Tally"]:
        """What became of each callback so far."""
        return [callee.tally() for kind in sorted(self._callees) for callee in self._callees[kind]]

    def close(self) -> None:
        """Let the threads of callbacks go; one that hangs is left behind."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def _threads(self) -> "Workers":
        if self._workers is None:
            self._workers = discover.module("hermes.hooks.workers").Workers()
        return self._workers
