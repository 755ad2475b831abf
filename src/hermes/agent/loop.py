"""The loop: ask the model, do what it asks for, repeat until it has answered.

Nothing here prints, opens a socket or knows a vendor. What happens is emitted as events; what is
said is appended to the log before the loop goes on.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from hermes.agent.chain import Chain
from hermes.agent.citations import Sources, cite
from hermes.agent.explain import Reason
from hermes.agent.prompt import SYSTEM
from hermes.agent.send import Emit
from hermes.errors import HermesError, InvalidResponse, ToolError
from hermes.events import Answer, Event, Text, ToolFinished, ToolStarted
from hermes.messages import BadArguments, FinishReason, Message, NormalizedResponse, ToolCall, Usage
from hermes.protocols import (
    Effort,
    Expectation,
    Mismatch,
    Request,
    SessionLog,
    Toolbox,
    ToolChoice,
    ToolResult,
)

Price = Callable[[str, str, Usage], float | None]
"""What a call costs in US dollars, from provider, model and usage; None when that is unknown."""

WRONG_SHAPE = (
    "Your answer does not keep the JSON Schema that was asked for: {}. Answer again, with the JSON alone."
)
LIMIT_REACHED = "The limit of model calls is reached. Answer now from what you have, and say what is missing."


class Conversation:
    """One session's messages: what was said so far, and what the running turn adds."""

    def __init__(self, session_id: str, history: Sequence[Message], log: SessionLog) -> None:
        self.session_id = session_id
        self._messages = [Message(role="system", content=SYSTEM), *history]
        self._log = log

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    async def add(self, *messages: Message) -> None:
        """Keep messages; they are in the log when this returns."""
        await self._log.append(self.session_id, messages)
        self._messages.extend(messages)


class Turn:
    """One question on its way to an answer."""

    def __init__(
        self,
        conversation: Conversation,
        model: Chain,
        tools: Toolbox,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
        expectation: Expectation | None = None,
        price: Price | None = None,
        effort: Effort | None = None,
        temperature: float | None = None,
    ) -> None:
        self._expectation = expectation
        self._price = price
        self._effort = effort
        self._temperature = temperature
        self._conversation = conversation
        self._model = model
        self._served_by = model.endpoint
        self._tools = tools
        self._emit_event = emit
        self._clock = clock
        self._sources = Sources()
        self._usage = Usage()
        self._costs: list[float | None] = []
        self._said: list[str] = []

    async def answer(self, question: str, max_turns: int) -> Answer:
        """Run until the model answers. Whatever stops it, what was said until then is kept."""
        await self._conversation.add(Message(role="user", content=question))
        try:
            return await self._ask_until_answered(max_turns)
        except (HermesError, asyncio.CancelledError):
            await self._keep_partial()
            raise

    def partial(self) -> Answer:
        """The answer as far as it came, for a turn that did not end by itself."""
        return self._result("".join(self._said), "incomplete", None, complete=False)

    async def _ask_until_answered(self, max_turns: int) -> Answer:
        for _ in range(max_turns):
            response = await self._ask("auto")
            if response.tool_calls:
                await self._run_calls(response.tool_calls)
            elif response.finish_reason != "incomplete":
                return await self._settle(response)
        await self._conversation.add(Message(role="user", content=LIMIT_REACHED))
        response = await self._ask("none")
        return self._result(response.content or "", "incomplete", response, complete=False)

    async def _settle(self, response: NormalizedResponse) -> Answer:
        """The answer; one that should be data and is not may be given once more."""
        answer = self._result(response.content or "", response.finish_reason, response)
        if self._expectation is None:
            return answer
        value = self._expectation.read(answer.text)
        if isinstance(value, Mismatch):
            await self._conversation.add(Message(role="user", content=WRONG_SHAPE.format(value.problem)))
            response = await self._ask("none")
            answer = self._result(response.content or "", response.finish_reason, response)
            value = self._expectation.read(answer.text)
        if isinstance(value, Mismatch):
            raise InvalidResponse(
                f"the answer does not keep the schema: {value.problem}",
                hint="loosen the schema, or choose another model with `-m PROVIDER/MODEL`",
            )
        return msgspec.structs.replace(answer, parsed=value)

    def explain(self, question: str) -> tuple[Reason, ...]:
        """What the first call for this question would send, and why; nothing is sent or kept."""
        asked = (*self._conversation.messages, Message(role="user", content=question))
        return self._model.explain(self._request(asked, "auto"))

    def _request(self, messages: tuple[Message, ...], tool_choice: ToolChoice) -> Request:
        return Request(
            messages=messages,
            tools=self._tools.specs(),
            tool_choice=tool_choice,
            session_id=self._conversation.session_id,
            effort=self._effort,
            temperature=self._temperature,
            output_schema=self._expectation.schema if self._expectation else None,
        )

    async def _ask(self, tool_choice: ToolChoice) -> NormalizedResponse:
        self._said.clear()
        request = self._request(self._conversation.messages, tool_choice)
        self._costs.append(None)  # a call that breaks off may be charged for, and nobody says how much
        served = await self._model.send(request, self._emit)
        response, self._served_by = served.response, served.endpoint
        if response.usage is not None:
            self._usage += response.usage
            self._costs[-1] = self._cost_of(response.usage)
        calls = response.tool_calls if tool_choice != "none" else None
        await self._conversation.add(
            Message(
                role="assistant",
                content=response.content,
                tool_calls=tuple(calls or ()),
                reasoning=response.reasoning,
                finish_reason=response.finish_reason,
                provider_data=response.provider_data,
                issuer=self._served_by.issuer if response.provider_data else None,
            )
        )
        return response

    def _cost_of(self, usage: Usage) -> float | None:
        if self._price is None:
            return None
        endpoint = self._served_by
        return self._price(endpoint.provider.name, endpoint.model, usage)

    def _cost(self) -> float | None:
        known = [cost for cost in self._costs if cost is not None]
        return sum(known) if known and len(known) == len(self._costs) else None

    async def _run_calls(self, calls: Sequence[ToolCall]) -> None:
        """Run the calls of one response side by side; results keep the order of the calls."""
        results = await asyncio.gather(*(self._run_call(call) for call in calls))
        await self._conversation.add(
            *(
                Message(role="tool", tool_call_id=call.id, content=result.text, is_error=result.is_error)
                for call, result in zip(calls, results, strict=True)
            )
        )
        for result in results:
            self._sources.add(result.sources)

    async def _run_call(self, call: ToolCall) -> ToolResult:
        id, started = call.id or "", self._clock()
        self._emit(ToolStarted(id=id, name=call.name, arguments=call.arguments))
        try:
            result = await self._dispatch(call)
        except ToolError as error:
            result = _tool_failure(str(error))
        self._emit(
            ToolFinished(
                id=id,
                name=call.name,
                result=result.text,
                is_error=result.is_error,
                seconds=self._clock() - started,
                served_by=result.served_by,
            )
        )
        return result

    async def _dispatch(self, call: ToolCall) -> ToolResult:
        arguments = call.parse()
        if isinstance(arguments, BadArguments):
            return _tool_failure(_EXPLAINED[arguments.kind])
        return await self._tools.call(call.name, arguments)

    def _emit(self, event: Event) -> None:
        if isinstance(event, Text):
            self._said.append(event.delta)
        self._emit_event(event)

    async def _keep_partial(self) -> None:
        """Leave a history the next call accepts: every call answered, the unfinished text kept."""
        last = self._conversation.messages[-1]
        unanswered = [
            Message(role="tool", tool_call_id=call.id, content="interrupted", is_error=True)
            for call in last.tool_calls
        ]
        text = "".join(self._said) if last.role != "assistant" else ""
        closing = [Message(role="assistant", content=text, finish_reason="incomplete")] if text else []
        if unanswered or closing:
            await self._conversation.add(*unanswered, *closing)

    def _result(
        self, text: str, reason: FinishReason, response: NormalizedResponse | None, *, complete: bool = True
    ) -> Answer:
        endpoint = self._served_by
        return Answer(
            session_id=self._conversation.session_id,
            text=text,
            citations=cite(text, response.provider_data if response else None, self._sources),
            messages=self._conversation.messages[1:],
            usage=self._usage,
            finish_reason=reason,
            provider=endpoint.provider.name,
            model=endpoint.model,
            api_mode=endpoint.provider.api_mode,
            complete=complete and reason != "length",
            cost=self._cost(),
        )


_EXPLAINED = {
    "truncated": "the call was cut off before its end and was not run; send it again, shorter",
    "not_json": "the arguments are not valid JSON; the call was not run",
    "not_an_object": "the arguments must be a JSON object; the call was not run",
}


def _tool_failure(words: str) -> ToolResult:
    return ToolResult(text=msgspec.json.encode({"error": words}).decode(), is_error=True)
