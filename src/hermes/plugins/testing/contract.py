"""The rules of the contract, and every callback of a plugin held against them, one case after the other."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.errors import Block
from hermes.hooks import HOOKS, MIDDLEWARE, Registration
from hermes.hooks.callee import Callee
from hermes.hooks.copying import copied
from hermes.hooks.names import MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA, PAYLOADS, STREAM
from hermes.hooks.workers import Workers
from hermes.messages import NormalizedResponse
from hermes.plugins.testing import samples

_TEXT_HOOKS = frozenset({"transform_tool_result", "transform_terminal_output", "transform_llm_output"})
_RESPONSES = (NormalizedResponse, dict, str, bytes)


class ContractBroken(AssertionError):
    """A plugin breaks rules of the contract; says which callback, which rule, and in which case."""


class Downstream(Exception):
    """The failure of a tool or a model, as a callback meets it."""


class Stopped(BaseException):
    """An interrupt by the user, as a callback meets it."""


class _Case(msgspec.Struct, frozen=True):
    """One call of an execution callback: what the rest of the chain does, in words and in deed."""

    words: str
    raises: BaseException | None = None


_CASES = (
    _Case("what it wraps succeeds"),
    _Case("what it wraps fails", Downstream("down")),
    _Case("what it wraps times out", TimeoutError("late")),
    _Case("the user interrupts", Stopped()),
)


class Outcome(msgspec.Struct, frozen=True):
    """What a callback did: what it returned or raised, and what it passed on."""

    value: Any = None
    error: BaseException | None = None
    passed_on: tuple[Any, ...] = ()
    is_late: bool = False


async def broken_rules(registrations: Sequence[Registration], seconds: float) -> list[str]:
    """Every rule that a callback broke, in a line each."""
    workers = Workers()
    try:
        found: list[str] = []
        for registration in registrations:
            callee = Callee(registration, timeout=seconds, clock=time.monotonic, warn=lambda _words: None)
            trial = _Trial(callee, workers, seconds)
            found += [f"`{callee.title}` ({callee.kind}): {words}" for words in await trial.run()]
        return list(dict.fromkeys(found))
    finally:
        workers.close()


class _Trial:
    """One callback, put through its cases."""

    def __init__(self, callee: Callee, workers: Workers, seconds: float) -> None:
        self._callee = callee
        self._workers = workers
        self._seconds = seconds

    async def run(self) -> list[str]:
        kind = self._callee.kind
        if kind in PAYLOADS:
            trial = self._wraps if kind.endswith("_execution") else self._rewrites
            return [words for given in self._given() for words in await trial(*given)]
        if kind == STREAM:
            return await self._streams()
        if kind in HOOKS:
            return await self._hears()
        kinds = ", ".join(f"`{known}`" for known in sorted(MIDDLEWARE))
        return [f"there is no such hook, and no such kind of middleware ({kinds})"]

    def _given(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], str]]:
        """Every sample of its kind that it wants to see: the context, the payload, and both in words."""
        for with_ids in (True, False):
            told = samples.context(self._callee.kind, with_ids=with_ids)
            ids = "" if with_ids else " and empty ids"
            if self._callee.kind.startswith("llm_"):
                given = [
                    (told, request, f"a request of {', '.join(request)}") for request in samples.REQUESTS
                ]
            else:
                given = [({**told, "tool_name": name}, args, name) for name, args in samples.ARGUMENTS]
            for context, payload, subject in given:
                if self._callee.wants(context):
                    yield context, payload, f"{subject}{ids}"

    async def _rewrites(self, told: dict[str, Any], payload: dict[str, Any], words: str) -> list[str]:
        name = PAYLOADS[self._callee.kind]
        given = copied(payload)
        outcome = await self._call({**told, name: given, f"original_{name}": copied(payload)})
        fault = self._fault(outcome, f"with {words}")
        if fault or isinstance(outcome.error, Block):
            return fault
        if outcome.value is None:
            lost = given != payload
            return [
                f"it changes the payload in place and returns nothing, so the change is lost ({words})"
            ] * lost
        if not isinstance(outcome.value, dict) or not isinstance(outcome.value.get(name), dict):
            return [f"it returns {_shown(outcome.value)}, not `{{{name!r}: {{…}}}}` or None (with {words})"]
        return self._partial(payload, outcome.value[name], words)

    def _partial(self, before: Mapping[str, Any], after: Mapping[str, Any], words: str) -> list[str]:
        kept = [key for key in ("model", "messages", "input") if key in before] or list(before)
        if kept and not any(key in after for key in kept):
            return [
                f"it returns a part, not a complete replacement: {', '.join(kept)} is lost (with {words})"
            ]
        return []

    async def _wraps(self, told: dict[str, Any], payload: dict[str, Any], words: str) -> list[str]:
        found: list[str] = []
        for case in _CASES:
            outcome = await self._wrapped(told, payload, case)
            found += self._judged(outcome, case, f"{case.words}, with {words}")
        return found

    async def _wrapped(self, told: dict[str, Any], payload: dict[str, Any], case: _Case) -> Outcome:
        name, passed_on = PAYLOADS[self._callee.kind], []

        def on(given: Any = None) -> Any:
            passed_on.append(given)
            if case.raises is not None:
                raise case.raises
            return _RESULTS[self._callee.kind]

        async def on_later(given: Any = None) -> Any:
            return on(given)

        arguments = {
            **told,
            **samples.TRACE,
            name: copied(payload),
            f"original_{name}": copied(payload),
            "next_call": on_later if self._callee.is_async else on,
        }
        outcome = await self._call(arguments)
        return msgspec.structs.replace(outcome, passed_on=tuple(passed_on))

    def _judged(self, outcome: Outcome, case: _Case, words: str) -> Iterator[str]:
        """The rules that this outcome breaks."""
        most = self._callee.options.max_calls
        if len(outcome.passed_on) > most:
            yield f"it calls `next_call` {len(outcome.passed_on)} times, and may {most} ({words})"
        if any(given is not None and not isinstance(given, dict) for given in outcome.passed_on):
            yield f"it passes on something that is no dict ({words})"
        if isinstance(outcome.error, Block) or outcome.error is case.raises is not None:
            return
        if outcome.error is not None or outcome.is_late:
            is_translated = (
                case.raises is not None and outcome.passed_on and isinstance(outcome.error, Exception)
            )
            yield from [] if is_translated else self._fault(outcome, _when(outcome, words))
        elif isinstance(case.raises, Stopped) and outcome.passed_on:
            yield f"it swallows an interrupt ({words})"
        elif outcome.value is None and outcome.passed_on:
            yield f"it returns None, and so loses what came of it; is a `return` missing? ({words})"
        elif self._callee.kind == "llm_execution" and not isinstance(outcome.value, _RESPONSES):
            yield f"it answers with {_shown(outcome.value)}, which is no response ({words})"

    async def _streams(self) -> list[str]:
        found: list[str] = []
        for piece, final in (("Hel", False), ("lo", False), ("", True)):
            told = {**samples.context("llm_request"), "delta": piece, "kind": "text", "final": final}
            outcome = await self._call(told | {"ctx": samples.context("llm_request")})
            found += self._fault(outcome, f"with the piece {piece!r}")
            if outcome.value is not None and not isinstance(outcome.value, str):
                found.append(f"it returns {_shown(outcome.value)}, not text or None")
        return found

    async def _hears(self) -> list[str]:
        found: list[str] = []
        for payload in samples.hook(self._callee.kind):
            if not self._callee.wants(payload):
                continue
            words = "with ids" if payload.get("session_id") else "with empty ids"
            outcome = await self._call(copied(payload))
            found += self._fault(outcome, words) or _odd_answer(self._callee.kind, outcome.value)
        return found

    def _fault(self, outcome: Outcome, words: str) -> list[str]:
        if outcome.is_late:
            return [f"it takes longer than {self._seconds:g} seconds ({words})"]
        if outcome.error is None or isinstance(outcome.error, Block):
            return []
        return [f"it raises {type(outcome.error).__name__}: {outcome.error} ({words})"]

    async def _call(self, arguments: dict[str, Any]) -> Outcome:
        """Call it as the engine does: with what it takes, awaited or in a thread, and not for ever."""
        versions = {
            "telemetry_schema_version": OBSERVER_SCHEMA,
            "middleware_schema_version": MIDDLEWARE_SCHEMA,
        }
        given = self._callee.fitting({**versions, **arguments})
        try:
            async with asyncio.timeout(self._seconds) as limit:
                value = await self._called(given)
        except TimeoutError as error:
            return Outcome(is_late=True) if limit.expired() else Outcome(error=error)
        except BaseException as error:  # noqa: BLE001 - whatever a callback raises is its outcome
            return Outcome(error=error)
        return Outcome(value=value)

    async def _called(self, given: dict[str, Any]) -> Any:
        if self._callee.is_async:
            return await self._callee.callback(**given)
        value = await _in_a_thread(self._workers, lambda: self._callee.callback(**given))
        return await value if inspect.isawaitable(value) else value


async def _in_a_thread(workers: Workers, call: Callable[[], Any]) -> Any:
    """Call it in a thread that nobody waits for, should it hang."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()

    def settle(outcome: Outcome) -> None:
        if not done.done():
            done.set_result(outcome)

    def job() -> Callable[[], None]:
        try:
            outcome = Outcome(value=call())
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            outcome = Outcome(error=error)
        return lambda: None if loop.is_closed() else _tell(loop, lambda: settle(outcome))

    workers.start(job)
    outcome = await done
    if outcome.error is not None:
        raise outcome.error
    return outcome.value


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(what)


_RESULTS = {
    "tool_execution": "the result",
    "llm_execution": NormalizedResponse(content="the answer", tool_calls=None, finish_reason="stop"),
}


def _when(outcome: Outcome, words: str) -> str:
    return f"after `next_call`; {words}" if outcome.passed_on else f"before `next_call`; {words}"


def _odd_answer(hook: str, value: Any) -> list[str]:
    """What is wrong with what a hook's callback answered."""
    if value is None:
        return []
    if hook in _TEXT_HOOKS and not isinstance(value, str):
        return [f"it returns {_shown(value)}, not text or None"]
    if hook != "pre_tool_call":
        return []
    match value:
        case {"action": "block", "message": str(message)} if message.strip():
            return []
        case {"action": "block"}:
            return ["it blocks without a `message`, and so does not block"]
        case {"action": "approve" | "modify"}:
            return []
        case _:
            return [f"it returns {_shown(value)}, which decides nothing"]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
