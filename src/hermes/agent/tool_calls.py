"""What happens to a call that a model asks for, in the one order that holds for every tool.

Read the arguments and make them fit; let plugins rewrite them; see whether the tool can be used, what
plugins say, whether it goes in circles and whether it may be run; run it, wrapped by plugins; tell how it
ended, let plugins change what the model reads, and fence what strangers wrote.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from hermes.agent.approvals import Refused, escalated, joined
from hermes.agent.digest import digest
from hermes.agent.guardrail import Guardrail
from hermes.agent.means import Means
from hermes.agent.occasion import Occasion
from hermes.agent.send import Emit
from hermes.agent.stopping import is_out_of_time, is_stopped
from hermes.agent.tool_hooks import Ended, Say, ToolHooks
from hermes.agent.untrusted import fenced
from hermes.errors import Block, HermesError, ToolError
from hermes.events import ToolFinished, ToolProgress, ToolStarted
from hermes.hooks import Rewritten
from hermes.messages import NOT_JSON, BadArguments, ToolCall
from hermes.protocols import Concern, ToolResult, current_call, progress

LONGEST_RESULT = 100_000
"""Characters of a result that the model reads."""

_EXPLAINED = {
    "truncated": "the call was cut off before its end and was not run; send it again, shorter",
    "not_json": "the arguments are not valid JSON; the call was not run",
    "not_an_object": "the arguments must be a JSON object; the call was not run",
}

_LARGEST_ARGUMENTS = 1024 * 1024
_TOO_LARGE = f"the arguments are longer than {_LARGEST_ARGUMENTS} characters; the call was not run"
_SKIPPED = "skipped: another call beside it could not be read; send both again"


class Refusal(msgspec.Struct, frozen=True):
    """The result that stands in the place of a call, and how plugins are told of it."""

    result: ToolResult
    ended: Ended


class Ready(msgspec.Struct, frozen=True):
    """A call that may be run with these arguments; or why it is not.

    `told` says that plugins were told of it beforehand, so that they are told of its end.
    """

    call: ToolCall
    rewritten: Rewritten = Rewritten({}, {})
    concern: Concern | None = None
    refused: Refusal | None = None
    told: bool = False


class ToolRunner:
    """Runs the calls of a turn's responses.

    `finished` holds the results of the last response's calls by their ids, also when the rest was
    interrupted; `changed` the paths that the turn's calls changed.
    """

    def __init__(
        self,
        means: Means,
        occasion: Occasion,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
        nonce: Callable[[], str] = lambda: os.urandom(8).hex(),
    ) -> None:
        self._tools = means.tools
        self._guard = means.guard
        self._approvals = means.approvals
        self._hooks = ToolHooks(means.hooks, occasion)
        self._occasion = occasion
        self._emit = emit
        self._clock = clock
        self._nonce = nonce
        self._unheard: dict[int, tuple[ToolCall, Rewritten]] = {}
        self.guardrail = Guardrail(means.thresholds)
        self.finished: dict[str | None, ToolResult] = {}
        self.changed: list[str] = []

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """The results, in the order of the calls.

        What only reads runs side by side; what changes something runs alone, after all before it.
        """
        self.finished.clear()
        self._unheard.clear()
        is_unreadable = any(isinstance(call.parse(), BadArguments) for call in calls)
        results: list[ToolResult] = []
        try:
            ready = [await self._prepare(call, is_unreadable) for call in calls]
            for group in self._groups(ready):
                results += await asyncio.gather(*map(self._run, group))
        finally:
            if self._unheard:
                await self._say_goodbye()
        return results

    async def _prepare(self, call: ToolCall, is_beside_unreadable: bool) -> Ready:
        if len(call.arguments) > _LARGEST_ARGUMENTS:
            return Ready(call, refused=_error(_TOO_LARGE))
        arguments = call.parse()
        if isinstance(arguments, BadArguments):
            return Ready(call, refused=_error(_EXPLAINED[arguments.kind]))
        if is_beside_unreadable:
            return Ready(call, refused=_error(_SKIPPED))
        try:
            rewritten = await self._fitted(call, arguments)
        except ToolError as error:
            return Ready(call, refused=_error(str(error)))
        except Block as block:
            return Ready(call, refused=_blocked(str(block), block.code))
        self._unheard[id(rewritten)] = call, rewritten
        try:
            said = await self._hooks.say(call, rewritten.payload, rewritten.trace)
            return await self._judged(call, rewritten, said)
        except Block as block:
            return Ready(call, rewritten, refused=_blocked(str(block), block.code), told=True)

    async def _fitted(self, call: ToolCall, arguments: dict[str, Any]) -> Rewritten:
        """The arguments in the types of the tool's schema, as the model gave them and as plugins want it."""
        rewritten = await self._hooks.rewritten(call, self._tools.fit(call.name, arguments))
        lack = self._tools.lack(call.name)
        if lack is not None:
            raise ToolError(f"`{call.name}` cannot be used: {lack}")
        if not rewritten.changed:
            return rewritten
        return msgspec.structs.replace(rewritten, payload=self._tools.fit(call.name, rewritten.payload))

    async def _judged(self, call: ToolCall, rewritten: Rewritten, said: Say) -> Ready:
        """The call with all that speaks against it."""
        ready = Ready(call, rewritten, told=True)
        if said.blocked:
            return msgspec.structs.replace(ready, refused=_blocked(said.blocked, said.error_type))
        stopped = self.guardrail.before(call.name, rewritten.payload)
        if stopped is not None:
            result = ToolResult(text=stopped.payload(), is_error=True)
            how = Ended(status="blocked", error_type="guardrail_block", error_message=stopped.message)
            return msgspec.structs.replace(ready, refused=Refusal(result, how))
        concern = self._concern(call, rewritten.payload)
        if said.asks:
            concern = escalated(call.name, rewritten.payload, said.message, said.rule_key, concern)
        refused = await self._approvals.judge(
            call.name, rewritten.payload, concern, self._occasion.call_ids(call)
        )
        return msgspec.structs.replace(ready, concern=concern, refused=_refusal(refused))

    def _concern(self, call: ToolCall, arguments: dict[str, Any]) -> Concern | None:
        return joined(
            self._tools.concern(call.name, arguments),
            self._guard.concern(call.name, arguments, self._tools.effect(call.name)),
        )

    def _groups(self, ready: Sequence[Ready]) -> list[list[Ready]]:
        groups: list[list[Ready]] = []
        may_join = False
        for one in ready:
            is_alone = one.refused is None and self._tools.effect(one.call.name) == "changes"
            if may_join and not is_alone:
                groups[-1].append(one)
            else:
                groups.append([one])
            may_join = not is_alone
        return groups

    async def _run(self, ready: Ready) -> ToolResult:
        call, started = ready.call, self._clock()
        self._emit(ToolStarted(id=call.id or "", name=call.name, arguments=_shown(ready)))
        refused = ready.refused or await self._call(ready)
        result, how, seconds = refused.result, refused.ended, self._clock() - started
        try:
            if ready.told:
                del self._unheard[id(ready.rewritten)]
                await self._hooks.ended(call, ready.rewritten, result.text, how, seconds)
            if ready.refused is None:
                result = await self._told(ready, result, how, seconds)
        except Block as block:  # what was done is done; what came of it is not given
            result = failure(str(block))
        self._guard.note(result)
        self._emit(
            ToolFinished(
                id=call.id or "",
                name=call.name,
                result=result.text,
                is_error=result.is_error,
                seconds=seconds,
                served_by=result.served_by,
            )
        )
        text = result.text if result.trusted else fenced(result.text, self._nonce())
        self.finished[call.id] = msgspec.structs.replace(result, text=text)
        return self.finished[call.id]

    async def _told(self, ready: Ready, result: ToolResult, how: Ended, seconds: float) -> ToolResult:
        """A result as the model reads it: changed by plugins, within bounds, warned of going in circles."""
        name, arguments = ready.call.name, ready.rewritten.payload
        shown = await self._hooks.transformed(ready.call, ready.rewritten, result, how, seconds)
        effect = self._tools.effect(name)
        warning = self.guardrail.after(name, arguments, result, effect)
        path = arguments.get("path")
        if effect == "changes" and isinstance(path, str) and not result.is_error:
            self.changed.append(path)
        text = _within(shown.text) + (f"\n{warning}" if warning else "")
        return msgspec.structs.replace(shown, text=text)

    async def _call(self, ready: Ready) -> Refusal:
        """Run a call, wrapped by plugins: its result, and how it ended."""
        call = ready.call
        brought: list[ToolResult] = []
        refusals: list[Refusal] = []

        async def base(arguments: dict[str, Any]) -> str:
            refused, concern, arguments = await self._again(ready, arguments)
            if refused is not None:
                refusals.append(refused)
                return refused.result.text
            brought.append(await self._tools.call(call.name, arguments, concern))
            return brought[-1].text

        told = progress.set(lambda text: self._emit(ToolProgress(call.id or "", call.name, text)))
        current_call.set(self._occasion.call_ids(call))
        try:
            value = await self._hooks.run(call, ready.rewritten, base)
        except Block as block:
            return _blocked(str(block), block.code)
        except HermesError as error:
            return _error(str(error))
        except TimeoutError as error:
            return _error(str(error) or "it took too long", "tool_timeout", "timeout")
        except asyncio.CancelledError:
            if is_stopped():
                raise
            return _error("the tool is broken: it was cancelled, and nobody did", "CancelledError")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - its own fault is no reason to lose its siblings
            return _error(f"the tool is broken: {type(error).__name__}: {error}", type(error).__name__)
        finally:
            progress.reset(told)
        if refusals and not brought:
            return refusals[-1]
        return _outcome(value, brought[-1] if brought else None)

    async def _again(
        self, ready: Ready, arguments: dict[str, Any]
    ) -> tuple[Refusal | None, Concern | None, dict[str, Any]]:
        """Whether the arguments that reach the tool may be used: others than those judged are judged anew."""
        name, judged = ready.call.name, ready.rewritten.payload
        if arguments is judged or digest(name, arguments) == digest(name, judged):
            return None, ready.concern, judged
        fitted = self._tools.fit(name, arguments)
        concern = self._concern(ready.call, fitted)
        refused = await self._approvals.judge(name, fitted, concern, self._occasion.call_ids(ready.call))
        return _refusal(refused), concern, fitted

    async def _say_goodbye(self) -> None:
        """Tell of the calls that an interrupt or the end of the time ended, but do not let it wait."""
        how = Ended(status="cancelled", error_type="keyboard_interrupt", error_message="interrupted")
        if is_out_of_time():
            how = Ended(status="timeout", error_type="tool_timeout", error_message="the time is over")
        unheard = tuple(self._unheard.values())
        await asyncio.gather(*(self._hooks.cut(call, rewritten, how) for call, rewritten in unheard))


def failure(words: str) -> ToolResult:
    return ToolResult(text=msgspec.json.encode({"error": words}).decode(), is_error=True)


def _error(words: str, error_type: str = "tool_error", status: Any = "error") -> Refusal:
    return Refusal(failure(words), Ended(status=status, error_type=error_type, error_message=words))


def _blocked(words: str, error_type: str) -> Refusal:
    return _error(words, error_type, "blocked")


def _refusal(refused: Refused | None) -> Refusal | None:
    return _blocked(refused.words, refused.error_type) if refused is not None else None


def _outcome(value: Any, brought: ToolResult | None) -> Refusal:
    """What came out of the chain: the tool's own result, or what a plugin made of it.

    Nobody knows where the words of a plugin that stands in for a tool come from, so they are a stranger's.
    """
    text = value if isinstance(value, str) else _as_text(value)
    if brought is not None and text == brought.text:
        result = brought
    elif brought is not None:
        result = msgspec.structs.replace(brought, text=text, is_error=tells_error(text))
    else:
        result = ToolResult(text=text, is_error=tells_error(text), trusted=False, served_by="plugin")
    if not result.is_error:
        return Refusal(result, Ended())
    return Refusal(result, Ended(status="error", error_type="tool_error", error_message=text[:500]))


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError):
        return str(value)


def tells_error(text: str) -> bool:
    """Whether a result says of itself, as JSON, that something went wrong."""
    try:
        value = msgspec.json.decode(text)
    except NOT_JSON:
        return False
    return isinstance(value, dict) and bool(value.get("error"))


def _shown(ready: Ready) -> str:
    """The arguments as they are used: as the model wrote them, unless plugins changed them."""
    if not ready.rewritten.changed:
        return ready.call.arguments
    return _as_text(ready.rewritten.payload)


def _within(text: str) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    half = LONGEST_RESULT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
