"""The loop: ask the model, do what it asks for, repeat until it has answered.

Nothing here prints, opens a socket or knows a vendor. What happens is emitted as events; what is
said is appended to the log before the loop goes on.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from hermes.agent.auxiliary import Auxiliary, Task
from hermes.agent.budget import Budget, Limits
from hermes.agent.chain import Models
from hermes.agent.citations import Sources, cite
from hermes.agent.conversation import Conversation
from hermes.agent.endings import Accept, AskAgain, Endings, GiveUp, RunCalls
from hermes.agent.explain import Reason
from hermes.agent.prompt import (
    DESCRIBE,
    DESCRIBED,
    LIMIT_REACHED,
    MEMORY,
    REMEMBER,
    TITLE,
    WRONG_SHAPE,
    is_question,
)
from hermes.agent.room import Room
from hermes.agent.send import Emit
from hermes.agent.tool_calls import ToolRunner, failure
from hermes.agent.untrusted import Guard
from hermes.errors import ContextOverflow, HermesError, InvalidResponse
from hermes.events import Answer, Event, Notice, Reasoning, Text, Used
from hermes.messages import FinishReason, Image, Message, NormalizedResponse, ToolCall, Usage
from hermes.protocols import (
    Effort,
    Endpoint,
    Expectation,
    Mismatch,
    Request,
    Toolbox,
    ToolChoice,
    ToolResult,
)

Price = Callable[[str, str, Usage], float | None]
"""What a call costs in US dollars, from provider, model and usage; None when that is unknown."""

Window = Callable[[str, str], int | None]
"""The context window of a model, from provider and model; None when that is unknown."""

_WORTH_REMEMBERING = 4
"""Questions that a conversation must have had before its model is asked to keep something of it."""
_TITLED = 6
"""Messages at the beginning of a conversation that its title is made from."""
_STRANGE_ROUNDS = 3
"""Rounds of calls to tools that do not exist, in a row, before a model is given up."""
_LONG = 20_000
"""Tokens from which on it is worth asking how long a conversation may be."""
_INTERRUPTED = failure("interrupted before it ended")


RAISE_LIMITS = "the settings that begin with `agent.max_` say how much one answer may take"
RAISE_OUTPUT = "the setting `model.max_tokens` says how long an answer may be"


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn works with, and within which limits."""

    models: Models
    auxiliary: Auxiliary
    tools: Toolbox
    guard: Guard
    limits: Limits = Limits()
    expectation: Expectation | None = None
    price: Price | None = None
    window: Window | None = None
    """Asked where an endpoint does not tell its window, and only of a long conversation."""
    effort: Effort | None = None
    temperature: float | None = None


class Turn:
    """One question on its way to an answer."""

    def __init__(
        self,
        conversation: Conversation,
        means: Means,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conversation = conversation
        self._means = means
        self._chain = means.models.question()
        self._served_by = self._chain.endpoint
        self._emit_event = emit
        self._budget = Budget(means.limits, clock)
        self._runner = ToolRunner(means.tools, means.guard, self._emit, clock)
        self._room = Room(conversation, self._summarise, self._emit)
        self._sources = Sources()
        self._parts: list[str] = []
        self._said: list[str] = []
        self._strange_rounds = 0
        self._is_price_told = False

    async def answer(self, question: str, images: tuple[Image, ...] = ()) -> Answer:
        """Run until the model answers. Whatever stops it, what was said until then is kept."""
        asked = Message(role="user", content=question, images=images)
        self._means.guard.hear([asked])
        try:
            asked = await self._described(asked) if images else asked
        finally:
            await self._conversation.add(asked)
        try:
            return await self._ask_until_answered()
        except (HermesError, asyncio.CancelledError):
            await self._keep_partial()
            raise

    async def _described(self, asked: Message) -> Message:
        """The question with its pictures in words, for a model that sees none, where one is set that does."""
        if self._chain.endpoint.provider.sees or not self._means.auxiliary.has_own("vision"):
            return asked
        shown = Message(role="user", content=DESCRIBE, images=asked.images)
        try:
            words = await self._beside("vision", (shown,))
        except HermesError as error:
            self._emit(Notice(f"the pictures were not described: {error}", error.hint))
            return asked
        return msgspec.structs.replace(asked, content=f"{asked.content}\n\n{DESCRIBED}{words}")

    async def title(self) -> str:
        """A title for the conversation; empty where no model is set for it."""
        if not self._means.auxiliary.has_own("title"):
            return ""
        asked = Message(role="user", content=TITLE)
        try:
            words = await self._beside("title", (*self._conversation.history[:_TITLED], asked))
        except HermesError as error:
            self._emit(Notice(f"the session has no title of its own: {error}", error.hint))
            return ""
        return " ".join(words.split()).strip("\"'“”*#.")

    def partial(self) -> Answer:
        """The answer as far as it came, for a turn that did not end by itself."""
        return self._result("incomplete", None, complete=False)

    def explain(self, question: str, images: tuple[Image, ...] = ()) -> tuple[Reason, ...]:
        """What the first call for this question would send, and why; nothing is sent or kept."""
        asked = Message(role="user", content=question, images=images)
        messages = (*self._conversation.messages, asked)
        return self._chain.explain(self._request(messages, "auto", None))

    async def _ask_until_answered(self) -> Answer:
        endings = self._endings()
        output_limit: int | None = None
        while (reached := self._budget.exceeded()) is None:
            response = await self._ask("auto", output_limit)
            output_limit = None
            match endings.judge(response, after_tools=self._last().role == "tool"):
                case RunCalls():
                    await self._keep(response)
                    await self._run_calls(response.tool_calls or ())
                case Accept():
                    await self._keep(response)
                    return await self._settle(response)
                case AskAgain() as again:
                    output_limit = again.max_output_tokens
                    await self._keep_for_more(response, again)
                case GiveUp(error):
                    if not self._chain.move_on(str(error), self._emit):
                        raise error
                    endings = self._endings()
        return await self._sum_up(reached)

    def _endings(self) -> Endings:
        return Endings(self._chain.endpoint.provider.max_tokens)

    async def _sum_up(self, reached: str) -> Answer:
        """The answer when a limit is reached: from what there is, and marked as not complete."""
        await self._conversation.add(Message(role="user", content=LIMIT_REACHED.format(reached)))
        self._parts.clear()
        response = await self._ask("none", None)
        await self._keep(msgspec.structs.replace(response, tool_calls=None))
        self._emit(Notice(f"the limit of {reached} is reached, and the answer is not complete", RAISE_LIMITS))
        return self._result("incomplete", response, complete=False)

    async def _settle(self, response: NormalizedResponse) -> Answer:
        """The answer; one that should be data and is not may be given once more."""
        answer = self._result(response.finish_reason, response)
        if response.finish_reason == "length":
            self._emit(Notice("the answer is cut at the output limit, and not complete", RAISE_OUTPUT))
        expected = self._means.expectation
        if expected is None:
            return answer
        value = expected.read(answer.text)
        if isinstance(value, Mismatch):
            schema = msgspec.json.encode(expected.schema).decode()
            said = WRONG_SHAPE.format(value.problem, schema)
            await self._conversation.add(Message(role="user", content=said))
            self._parts.clear()
            response = await self._ask("none", None)
            await self._keep(msgspec.structs.replace(response, tool_calls=None))
            answer = self._result(response.finish_reason, response)
            value = expected.read(answer.text)
        if isinstance(value, Mismatch):
            raise InvalidResponse(
                f"the answer does not keep the schema: {value.problem}",
                hint="loosen the schema, or choose another model with `-m PROVIDER/MODEL`",
            )
        return msgspec.structs.replace(answer, parsed=value)

    def _request(
        self, messages: tuple[Message, ...], tool_choice: ToolChoice, output_limit: int | None
    ) -> Request:
        expected = self._means.expectation
        return Request(
            messages=messages,
            tools=self._means.tools.specs(),
            tool_choice=tool_choice,
            max_output_tokens=output_limit,
            effort=self._means.effort,
            temperature=self._means.temperature,
            session_id=self._conversation.session_id,
            output_schema=expected.schema if expected else None,
        )

    async def _ask(self, tool_choice: ToolChoice, output_limit: int | None) -> NormalizedResponse:
        """One call, in a conversation that is made to fit."""
        endpoint = self._chain.endpoint
        await self._room.make(self._window(endpoint), endpoint.provider.max_tokens)
        while True:
            try:
                return await self._call(tool_choice, output_limit)
            except ContextOverflow as error:
                if not await self._room.shrink() and not self._chain.move_on(str(error), self._emit):
                    raise

    def _window(self, endpoint: Endpoint) -> int | None:
        known, look_up = endpoint.provider.context_window, self._means.window
        if known is not None or look_up is None or self._room.tokens() < _LONG:
            return known
        return look_up(endpoint.provider.name, endpoint.model)

    async def _call(self, tool_choice: ToolChoice, output_limit: int | None) -> NormalizedResponse:
        self._said.clear()
        request = self._request(self._conversation.messages, tool_choice, output_limit)
        self._budget.begin_call()
        served = await self._chain.send(request, self._emit)
        response, self._served_by = served.response, served.endpoint
        cost = self._cost(served.endpoint, response.usage)
        self._budget.end_call(response.usage, cost)
        if cost is None and self._means.limits.dollars is not None:
            self._say_price_is_unknown(served.endpoint)
        self._room.count(response.usage)
        self._emit(Used(self._budget.usage, self._budget.cost))
        return response

    async def _keep(self, response: NormalizedResponse) -> None:
        """Keep what the model said, stamped with who made what only they can read."""
        await self._conversation.add(
            Message(
                role="assistant",
                content=response.content,
                tool_calls=tuple(response.tool_calls or ()),
                reasoning=response.reasoning,
                finish_reason=response.finish_reason,
                provider_data=response.provider_data,
                issuer=self._served_by.issuer if response.provider_data else None,
            )
        )
        self._said.clear()
        self._parts.append(response.content or "")

    async def _keep_for_more(self, response: NormalizedResponse, again: AskAgain) -> None:
        if again.keep:
            await self._keep(response)
        if again.say:
            await self._conversation.add(Message(role="user", content=again.say))

    async def _run_calls(self, calls: Sequence[ToolCall]) -> None:
        self._parts.clear()
        results = await self._runner.run(calls)
        await self._conversation.add(*map(_result_message, calls, results))
        for result in results:
            self._sources.add(result.sources)
        self._count_strange_rounds(calls)

    def _count_strange_rounds(self, calls: Sequence[ToolCall]) -> None:
        known = {tool.name for tool in self._means.tools.specs()}
        is_strange = not any(call.name in known for call in calls)
        self._strange_rounds = self._strange_rounds + 1 if is_strange else 0
        if self._strange_rounds == _STRANGE_ROUNDS:
            raise InvalidResponse(
                f"the model keeps calling tools that do not exist, such as `{calls[0].name}`",
                hint="choose another model with `-m PROVIDER/MODEL`",
            )

    async def remember(self) -> None:
        """Let a model with a memory keep what will matter later; nothing of this enters the conversation."""
        memory = tuple(tool for tool in self._means.tools.specs() if tool.name == MEMORY)
        questions = sum(map(is_question, self._conversation.history))
        if not memory or questions < _WORTH_REMEMBERING:
            return
        messages = (*self._conversation.messages, Message(role="user", content=REMEMBER))
        request = Request(messages=messages, tools=memory, session_id=self._conversation.session_id)
        try:
            served = await self._chain.send(request, self._emit_notices)
            self._spend(served.endpoint, served.response.usage)
            await self._runner.run(served.response.tool_calls or ())
        except HermesError as error:
            self._emit(Notice(f"nothing more was kept in memory: {error}", error.hint))

    async def _summarise(self, messages: tuple[Message, ...]) -> str:
        await self.remember()
        return await self._beside("compaction", messages)

    async def _beside(self, task: Task, messages: tuple[Message, ...]) -> str:
        """What a model says to a task that belongs to this question, and counts for it."""
        response = await self._means.auxiliary.complete(
            task, messages, emit=self._emit_notices, ledger=self._chain.ledger, spend=self._spend
        )
        return response.content or ""

    def _spend(self, endpoint: Endpoint, usage: Usage | None) -> None:
        self._budget.spend(usage, self._cost(endpoint, usage))

    def _cost(self, endpoint: Endpoint, usage: Usage | None) -> float | None:
        price = self._means.price
        return price(endpoint.provider.name, endpoint.model, usage) if price and usage else None

    def _say_price_is_unknown(self, endpoint: Endpoint) -> None:
        if not self._is_price_told:
            self._is_price_told = True
            model = f"{endpoint.provider.name}/{endpoint.model}"
            self._emit(Notice(f"the price of `{model}` is unknown, so `agent.max_cost` does not hold"))

    def _emit(self, event: Event) -> None:
        if isinstance(event, Text):
            self._said.append(event.delta)
        self._emit_event(event)

    def _emit_notices(self, event: Event) -> None:
        """What an auxiliary call says is not the answer; that it waits or fails is of interest."""
        if not isinstance(event, Text | Reasoning):
            self._emit_event(event)

    def _last(self) -> Message:
        return self._conversation.messages[-1]

    async def _keep_partial(self) -> None:
        """Leave a history the next call accepts: every call answered, the unfinished text kept."""
        finished = self._runner.finished
        results = [
            _result_message(call, finished.get(call.id, _INTERRUPTED)) for call in self._last().tool_calls
        ]
        text = "".join(self._said)
        closing = [Message(role="assistant", content=text, finish_reason="incomplete")] if text else []
        if results or closing:
            await self._conversation.add(*results, *closing)

    def _result(
        self, reason: FinishReason, response: NormalizedResponse | None, *, complete: bool = True
    ) -> Answer:
        endpoint = self._served_by
        text = "".join((*self._parts, *self._said))
        return Answer(
            session_id=self._conversation.session_id,
            text=text,
            citations=cite(text, response.provider_data if response else None, self._sources),
            messages=self._conversation.history,
            usage=self._budget.usage,
            finish_reason=reason,
            provider=endpoint.provider.name,
            model=endpoint.model,
            api_mode=endpoint.provider.api_mode,
            complete=complete and reason != "length",
            cost=self._budget.cost,
        )


def _result_message(call: ToolCall, result: ToolResult) -> Message:
    return Message(role="tool", tool_call_id=call.id, content=result.text, is_error=result.is_error)
