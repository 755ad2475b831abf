"""What happens to a call that a model asks for, in the one order that holds for every tool.

Read the arguments, make them fit, ask whether it may be run, run it, fence what strangers wrote.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence

import msgspec

from hermes.agent.send import Emit
from hermes.agent.untrusted import Guard, fenced
from hermes.errors import HermesError, ToolError
from hermes.events import ToolFinished, ToolProgress, ToolStarted
from hermes.messages import BadArguments, ToolCall
from hermes.protocols import Toolbox, ToolResult, progress

LONGEST_RESULT = 100_000
"""Characters of a result that the model reads."""

_EXPLAINED = {
    "truncated": "the call was cut off before its end and was not run; send it again, shorter",
    "not_json": "the arguments are not valid JSON; the call was not run",
    "not_an_object": "the arguments must be a JSON object; the call was not run",
}

_SKIPPED = "skipped: another call beside it could not be read; send both again"


class Ready(msgspec.Struct, frozen=True):
    """A call that may be run, with arguments that fit its tool; or the result that stands in its place."""

    call: ToolCall
    arguments: dict[str, object] = {}
    refused: ToolResult | None = None


class ToolRunner:
    """Runs the calls of a response over one toolbox.

    `finished` holds the results of the last response's calls by their ids, also when the rest was
    interrupted.
    """

    def __init__(
        self,
        tools: Toolbox,
        guard: Guard,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._tools = tools
        self._guard = guard
        self._emit = emit
        self._clock = clock
        self._nonce = nonce
        self.finished: dict[str | None, ToolResult] = {}
        self.changed: list[str] = []

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """The results, in the order of the calls.

        What only reads runs side by side; what changes something runs alone, after all before it.
        """
        self.finished.clear()
        is_unreadable = any(isinstance(call.parse(), BadArguments) for call in calls)
        ready = [await self._prepare(call, is_unreadable) for call in calls]
        results: list[ToolResult] = []
        for group in self._groups(ready):
            results += await asyncio.gather(*map(self._run, group))
        return results

    async def _prepare(self, call: ToolCall, is_beside_unreadable: bool) -> Ready:
        arguments = call.parse()
        if isinstance(arguments, BadArguments):
            return Ready(call, refused=failure(_EXPLAINED[arguments.kind]))
        if is_beside_unreadable:
            return Ready(call, refused=failure(_SKIPPED))
        try:
            fitted = self._tools.fit(call.name, arguments)
        except ToolError as error:
            return Ready(call, refused=failure(str(error)))
        refusal = await self._guard.refusal(call.name, fitted, self._tools.effect(call.name))
        return Ready(call, fitted, failure(refusal) if refusal else None)

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
        self._emit(ToolStarted(id=call.id or "", name=call.name, arguments=call.arguments))
        result = ready.refused or await self._call(ready)
        self._guard.note(result)
        self._emit(
            ToolFinished(
                id=call.id or "",
                name=call.name,
                result=result.text,
                is_error=result.is_error,
                seconds=self._clock() - started,
                served_by=result.served_by,
            )
        )
        text = result.text if result.trusted else fenced(result.text, self._nonce())
        self.finished[call.id] = msgspec.structs.replace(result, text=text)
        return self.finished[call.id]

    async def _call(self, ready: Ready) -> ToolResult:
        call = ready.call
        told = progress.set(lambda text: self._emit(ToolProgress(call.id or "", call.name, text)))
        try:
            result = await self._tools.call(call.name, ready.arguments)
        except HermesError as error:
            return failure(str(error))
        except Exception as error:  # noqa: BLE001 - a tool's own fault is no reason to lose what its siblings bring
            return failure(f"the tool is broken: {type(error).__name__}: {error}")
        finally:
            progress.reset(told)
        return msgspec.structs.replace(result, text=_within(result.text))


def failure(words: str) -> ToolResult:
    return ToolResult(text=msgspec.json.encode({"error": words}).decode(), is_error=True)


def _within(text: str) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    half = LONGEST_RESULT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
