"""The one way to a model. Every call goes through `ModelClient.send`, whoever asks and why."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hermes import discover
from hermes.agent.keys import KeyRing, another_key_helps
from hermes.agent.lessons import (
    Change,
    Lesson,
    Lessons,
    adapt_kwargs,
    adapt_provider,
    adapt_request,
    change_for,
)
from hermes.agent.occasion import Attempt, Occasion
from hermes.errors import (
    AuthFailed,
    DeadlinePassed,
    Disconnected,
    HermesError,
    HttpStatus,
    IncompleteResponse,
    InvalidResponse,
    ModelError,
    NetError,
    ProviderDown,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
)
from hermes.events import Delta, Event, Reasoning, RetryWaiting, Text
from hermes.hooks import HookHost
from hermes.messages import NormalizedResponse
from hermes.protocols import (
    Assembler,
    Deadlines,
    Endpoint,
    HttpReply,
    HttpRequest,
    Notebook,
    ProviderTransport,
    Request,
    Wire,
)

if TYPE_CHECKING:
    from hermes.agent.explain import Reason
    from hermes.hooks.stream import Pieces, Sort

Emit = Callable[[Event], None]
Stage = Literal["asked", "answering", "ended"]

ATTEMPTS = 3
ATTEMPTS_BESIDE_ANOTHER = 2
"""Times that one key of one provider is asked for the same; fewer when somebody else can be asked."""
_PAUSE = 0.5
_GOODBYE = 0.3
"""Seconds in which a server may close a stream that has ended."""
_SORTS: "dict[type[Delta], Sort]" = {Text: "text", Reasoning: "reasoning"}
_DEADLINES = Deadlines()
_LEARNED = "what the provider refused earlier"


class Ledger:
    """The retries of one question: every call made for it, to whomever, spends from the same.

    `occasion` is what the calls are made for.
    """

    def __init__(self, retries: int = 10, occasion: Occasion | None = None) -> None:
        self._left = retries
        self.occasion = occasion or Occasion()

    def spend(self) -> bool:
        """Take one retry; false when there is none left."""
        self._left -= 1
        return self._left >= 0


class _Call:
    """What one call went through so far: which keys are left, what was changed, what was heard."""

    def __init__(
        self,
        emit: Emit,
        ledger: Ledger,
        endpoints: Sequence[Endpoint],
        another: Callable[[], bool],
        began: float,
    ) -> None:
        self.began = began
        self.emit = emit
        self.ledger = ledger
        self.endpoint, *self._others = endpoints
        self._another = another
        self.number = ledger.occasion.next_call()
        self.changes: list[Change] = []
        self.kwargs: dict[str, Any] = {}
        self.failures = 0
        self.waiting: RetryWaiting | None = None
        self.stage: Stage = "asked"
        self.spoke = False
        self.pieces: Pieces | None = None
        self._said: dict[type[Delta], list[str]] = {Text: [], Reasoning: []}

    @property
    def has_another_key(self) -> bool:
        return bool(self._others)

    @property
    def attempt(self) -> int:
        """Which time this key is asked for the same."""
        return self.failures + 1

    def take_another_key(self) -> None:
        self.endpoint, *self._others = self._others
        self.failures = 0

    def begin(self, pieces: "Pieces | None") -> None:
        """A new attempt, whose words go through `pieces` where plugins want to see them."""
        self.pieces = pieces
        self._said = {Text: [], Reasoning: []}

    def hear(self, deltas: Sequence[Delta]) -> None:
        for delta in deltas:
            if self.pieces is not None:
                self._say(type(delta), self.pieces.pass_on(_SORTS[type(delta)], delta.delta))
            else:
                self.spoke = self.spoke or isinstance(delta, Text)
                self.emit(delta)

    def told(self, response: NormalizedResponse) -> NormalizedResponse:
        """The response with the words that were shown, where plugins had a hand in them."""
        if self.pieces is None:
            return response
        for kind, sort in _SORTS.items():
            self._say(kind, self.pieces.end(sort))
        return msgspec.structs.replace(
            response,
            content="".join(self._said[Text]) or (response.content and ""),
            reasoning="".join(self._said[Reasoning]) or (response.reasoning and ""),
        )

    def _say(self, kind: type[Delta], text: str) -> None:
        if text:
            self.spoke = self.spoke or kind is Text
            self._said[kind].append(text)
            self.emit(kind(text))

    def may_repeat(self, error: HermesError) -> bool:
        """Whether the same may be asked of the same once more; takes it from the ledger."""
        others = (self.has_another_key and another_key_helps(error)) or self._another()
        self.failures += 1
        return self.failures < (ATTEMPTS_BESIDE_ANOTHER if others else ATTEMPTS) and self.ledger.spend()


class ModelClient:
    """A model that can be asked: an endpoint, the protocol it speaks, and the wire to it.

    `notebook` is where the health of keys and the lessons of refusals are kept; `sleep` waits before
    the same is asked for again; `hooks` are what plugins have around every attempt; `deadlines` are those
    of a call.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        transport: ProviderTransport,
        wire: Wire,
        notebook: Notebook | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        hooks: HookHost | None = None,
        deadlines: Deadlines = _DEADLINES,
    ) -> None:
        self.endpoint = endpoint
        self._transport = transport
        self._wire = wire
        self._sleep = sleep
        self._clock = clock
        self._hooks = hooks or HookHost()
        self._deadlines = deadlines
        self._keys = KeyRing(endpoint, notebook)
        self._lessons = Lessons(notebook) if notebook is not None else None
        self._changes: tuple[Change, ...] | None = None

    async def send(
        self,
        request: Request,
        emit: Emit,
        ledger: Ledger | None = None,
        another: Callable[[], bool] = lambda: False,
    ) -> NormalizedResponse:
        """Ask, and return the whole answer; what arrives on the way is emitted.

        Another key is tried where a key is refused, and a call that is refused for one of its fields
        is sent once more without it. A reply that breaks off before its first word is asked for again,
        never after it. `another` says whether the caller knows somebody else to ask.

        Raises `NetError` or `ModelError`. An answer that breaks off is never returned as whole:
        it raises `IncompleteResponse` after its text was emitted.
        """
        call = _Call(emit, ledger or Ledger(), self._keys.endpoints(), another, self._clock())
        while True:
            try:
                response = await self._ask(request, call)
            except (NetError, ModelError) as error:
                if not await self._goes_on(error, call):
                    self._give_hint(error)
                    raise
            else:
                self._keep(call.changes)
                return response

    def explain(self, request: Request) -> "tuple[Reason, ...]":
        """What `send` would send, field by field, and why. Nothing is sent."""
        changes, provider = self._known_changes(), self.endpoint.provider
        request = adapt_request(self._addressed(request), provider, changes)
        told = discover.module("hermes.agent.explain")
        reasons = told.explain(type(self._transport), request, adapt_provider(provider, changes))
        why = {reason.field: reason for reason in reasons}
        sent = adapt_kwargs({reason.field: reason.value for reason in reasons}, changes)
        return tuple(
            why[field]
            if field in why and why[field].value == value
            else told.Reason(field, value, (_LEARNED,))
            for field, value in sent.items()
        )

    def _addressed(self, request: Request) -> Request:
        return msgspec.structs.replace(request, model=self.endpoint.model, issuer=self.endpoint.issuer)

    async def _ask(self, request: Request, call: _Call) -> NormalizedResponse:
        """One attempt, with the key and the changes that the call has come to."""
        kwargs = self._build(request, call)
        if self._hooks.is_idle:
            return await self._exchange(kwargs, request, call)
        # Loaded on use: most runs have no plugin.
        watched = discover.module("hermes.agent.model_hooks").WatchedAttempt
        attempt = Attempt(
            endpoint=call.endpoint,
            number=call.number,
            attempt=call.attempt,
            most=ATTEMPTS,
            max_tokens=request.max_output_tokens,
        )
        occasion = call.ledger.occasion
        call.begin(self._hooks.pieces(occasion.context(attempt)))
        response: NormalizedResponse = await watched(self._hooks, occasion, attempt).run(
            kwargs,
            lambda sent: self._exchange(sent, request, call),
            self._transport.normalize_response,
        )
        return response

    async def _exchange(self, kwargs: dict[str, Any], request: Request, call: _Call) -> NormalizedResponse:
        """The call itself: bytes out, an answer in."""
        http = self._transport.encode(kwargs, call.endpoint)
        if call.endpoint.provider.sign is not None and call.endpoint.api_key is None:
            # Credentials may have to be fetched first, from a file or a service.
            http = await asyncio.to_thread(call.endpoint.provider.sign, http)
        assembler = self._transport.assembler([tool.name for tool in request.tools])
        call.stage = "asked"
        try:
            async with self._wire.open(
                self._numbered(http, call), lambda error, wait: self._may_retry(error, wait, call)
            ) as reply:
                call.stage = "answering"
                if "json" in reply.headers.get("content-type", "").lower():
                    call.hear(assembler.feed_whole(await reply.read()))
                else:
                    await _follow(reply, assembler, call)
        except HttpStatus as error:
            raise self._read_error(error) from error
        call.stage = "ended"
        return call.told(_whole(assembler.finish()))

    def _numbered(self, http: HttpRequest, call: _Call) -> HttpRequest:
        """The request as this attempt of the call, within what is left of the call's time."""
        deadlines = self._deadlines
        if call.attempt > 1:
            left = max(deadlines.total - (self._clock() - call.began), 0.001)
            deadlines = msgspec.structs.replace(deadlines, total=left)
        return msgspec.structs.replace(http, attempt=call.attempt, deadlines=deadlines)

    def _build(self, request: Request, call: _Call) -> dict[str, Any]:
        changes = (*self._known_changes(), *call.changes)
        provider, request = self.endpoint.provider, self._addressed(request)
        if not changes:
            call.kwargs = self._transport.build_kwargs(request, provider)
            return call.kwargs
        request = adapt_request(request, provider, changes)
        call.kwargs = self._transport.build_kwargs(request, adapt_provider(provider, changes))
        return adapt_kwargs(call.kwargs, changes)

    def _known_changes(self) -> tuple[Change, ...]:
        if self._changes is None:
            name, model = self.endpoint.provider.name, self.endpoint.model
            self._changes = self._lessons.changes(name, model) if self._lessons is not None else ()
        return self._changes

    def _keep(self, changes: Sequence[Change]) -> None:
        """What helped stays for as long as it holds: a session, or longer in the notebook."""
        if changes:
            staying = (change for change in changes if change.holds != "call")
            self._changes = (*self._known_changes(), *staying)
        for change in changes:
            if change.holds == "model" and self._lessons is not None:
                name, model = self.endpoint.provider.name, self.endpoint.model
                self._lessons.learn(Lesson(name, model, change.field, change.action, change.value))

    def _may_retry(self, error: NetError, waiting: RetryWaiting, call: _Call) -> bool:
        """Asked before the same request is sent again: not where that is known to be of no use."""
        explained = self._read_error(error) if isinstance(error, HttpStatus) else error
        if isinstance(explained, AuthFailed | QuotaExhausted | RequestRejected):
            return False
        if not call.may_repeat(explained):
            return False
        call.waiting = waiting
        return True

    async def _goes_on(self, error: HermesError, call: _Call) -> bool:
        """Whether the call is made again, in another way or after a pause."""
        if call.waiting is not None:
            return await self._waited(call)
        if call.spoke:
            return False
        change = change_for(error, call.kwargs)
        if change is not None:
            return self._changed(change, call)
        if another_key_helps(error):
            return self._rekeyed(error, call) or await self._repeated(error, call)
        return await self._repeated(error, call)

    async def _waited(self, call: _Call) -> bool:
        """The wait that the wire asks for before the same is sent again."""
        waiting, call.waiting = call.waiting, None
        if waiting is not None:
            call.emit(waiting)
            await self._sleep(waiting.seconds)
        return True

    def _changed(self, change: Change, call: _Call) -> bool:
        tried = any((done.field, done.action) == (change.field, change.action) for done in call.changes)
        if tried or change in self._known_changes() or not call.ledger.spend():
            return False
        call.changes.append(change)
        return True

    def _rekeyed(self, error: HermesError, call: _Call) -> bool:
        self._keys.set_back(call.endpoint, error)
        if not call.has_another_key or not call.ledger.spend():
            return False
        call.take_another_key()
        return True

    async def _repeated(self, error: HermesError, call: _Call) -> bool:
        """The pause before a reply that failed after its headers, or never came, is asked for again."""
        if not _may_pass(error, call.stage) or not call.may_repeat(error):
            return False
        pause = _PAUSE * 2.0 ** (call.failures - 1)
        call.emit(RetryWaiting(str(error), pause, call.failures))
        await self._sleep(pause)
        return True

    def _read_error(self, error: HttpStatus) -> ModelError:
        codes = self.endpoint.provider.codes
        explained = self._transport.read_error(error.status, error.body, error.retry_after, codes)
        explained.hint = error.hint or explained.hint
        return explained

    def _give_hint(self, error: HermesError) -> None:
        """Say what helps, where only this end knows."""
        if isinstance(error, AuthFailed) and error.hint is None:
            keys = " or ".join(f"`{name}`" for name in self.endpoint.provider.key_env)
            error.hint = f"check the key in {keys}" if keys else "check the key"
        if isinstance(error, DeadlinePassed) and error.phase in ("first byte", "idle"):
            error.hint = "give a slow server more time with `hermes config set model.timeout SECONDS`"


async def _follow(reply: HttpReply, assembler: Assembler, call: _Call) -> None:
    events = reply.events()
    async for batch in events:
        for payload in batch:
            call.hear(assembler.feed(payload))
        if assembler.has_ended:
            await _see_off(events)
            return


async def _see_off(events: AsyncIterator[Sequence[bytes]]) -> None:
    """Read a stream to its close, so that its connection can be used again; one that stays open is left."""
    with suppress(TimeoutError, NetError):
        async with asyncio.timeout(_GOODBYE):
            async for _ in events:
                pass


def _may_pass(error: HermesError, stage: Stage) -> bool:
    """Whether asking again may help.

    What failed before an answer began was repeated by the wire already, unless it took too long. An
    answer that is no answer is worth another try when it is empty, not when it is malformed.
    """
    match error:
        case DeadlinePassed():
            return error.phase in ("first byte", "idle")
        case InvalidResponse():
            return stage == "ended"
        case Disconnected() | IncompleteResponse() | ProviderDown() | RateLimited():
            return stage != "asked"
        case _:
            return False


def _whole(response: NormalizedResponse) -> NormalizedResponse:
    if (response.provider_data or {}).get("partial"):
        raise IncompleteResponse(
            "the answer stopped before its end", hint="ask again; what had arrived is kept in the session"
        )
    return response
