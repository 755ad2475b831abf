"""The loop: ask the model, do what it asks for, repeat until it has answered.

Nothing here prints, opens a socket or knows a vendor. What happens is emitted as events; what is
said is appended to the log before the loop goes on.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from hermes.agent.calls import Calls
from hermes.agent.citations import Sources, cite
from hermes.agent.conversation import Conversation
from hermes.agent.endings import Accept, AskAgain, Endings, GiveUp, RunCalls
from hermes.agent.means import Means
from hermes.agent.occasion import Occasion
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
from hermes.agent.send import Emit
from hermes.agent.tool_calls import ToolRunner, failure
from hermes.agent.turn_hooks import TurnHooks
from hermes.errors import HermesError, InvalidResponse
from hermes.events import Answer, Event, Notice, Text
from hermes.messages import FinishReason, Image, Message, NormalizedResponse, ToolCall
from hermes.protocols import (
    Mismatch,
    ToolChoice,
    ToolResult,
)

if TYPE_CHECKING:
    from hermes.agent.explain import Reason

_WORTH_REMEMBERING = 4
"""Questions that a conversation must have had before its model is asked to keep something of it."""
_TITLED = 6
"""Messages at the beginning of a conversation that its title is made from."""
_STRANGE_ROUNDS = 3
"""Rounds of calls to tools that do not exist, in a row, before a model is given up."""
_GRACE_SECONDS = 30.0
"""What an answer whose time is over may take to be summed up."""
_INTERRUPTED = failure("interrupted before it ended")
_RAISE_LIMITS = "the settings that begin with `agent.max_` say how much one answer may take"
_RAISE_OUTPUT = "the setting `model.max_tokens` says how long an answer may be"


class Turn:
    """One question on its way to an answer. `spend` counts what others ask of models meanwhile.

    `sources` are the pages that were seen; a turn that goes on begins with those it was left with.
    """

    def __init__(
        self,
        conversation: Conversation,
        means: Means,
        emit: Emit,
        clock: Callable[[], float] = time.monotonic,
        make_id: Callable[[], str] = lambda: os.urandom(4).hex(),
        sources: Sources | None = None,
    ) -> None:
        self._conversation = conversation
        self._means = means
        self._emit_event = emit
        self._occasion = Occasion.of(
            conversation.session_id,
            means.platform,
            history=lambda: conversation.history,
            make_id=make_id,
        )
        self._hooks = TurnHooks(
            means.hooks, self._occasion, lambda: self._calls.chain.endpoint.model, means.spill
        )
        self._calls = Calls(conversation, means, self._emit, self._summarise, clock, self._occasion)
        self.spend = self._calls.spend
        self._runner = ToolRunner(means, self._occasion, self._emit, clock)
        self.sources = sources or Sources()
        self._parts: list[str] = []
        self._said: list[str] = []
        self._strange_rounds = 0

    async def answer(self, question: str, images: tuple[Image, ...] = ()) -> Answer:
        """Run until the model answers. Whatever stops it, what was said until then is kept."""
        asked = Message(role="user", content=question, images=images)
        is_first, self._occasion.question = not self._conversation.history, question
        self._means.guard.hear([asked])
        return await self._run(lambda: self._hear(asked, is_first=is_first))

    async def go_on(self, results: Sequence[Message]) -> Answer:
        """Run on with the results of calls that whoever asks has run; as with `answer`."""
        questions = filter(is_question, reversed(self._conversation.history))
        self._occasion.question = next((asked.content or "" for asked in questions), "")
        return await self._run(lambda: self._conversation.add(*results))

    async def _run(self, begin: Callable[[], Awaitable[None]]) -> Answer:
        try:
            answer = await self._finish(await self._in_time(begin))
        except (HermesError, asyncio.CancelledError) as error:
            await self._keep_partial()
            await self._hooks.end(completed=False, interrupted=isinstance(error, asyncio.CancelledError))
            raise
        await self._hooks.end(completed=answer.complete, interrupted=False)
        return answer

    async def _finish(self, answer: Answer) -> Answer:
        """The answer as plugins leave it."""
        if not answer.text:
            return answer
        if self._hooks.holds_text:
            text = await self._hooks.transform(answer.text)
            self._emit_event(Text(text))
            if text != answer.text:
                cited = cite(text, None, self.sources)
                answer = msgspec.structs.replace(answer, text=text, citations=cited)
        await self._hooks.answered(answer.text)
        return answer

    async def finalize(self) -> None:
        """The conversation is put away: what will matter later is kept, and plugins are told."""
        await self.remember()
        await self._hooks.finalize()

    async def _in_time(self, begin: Callable[[], Awaitable[None]]) -> Answer:
        """The answer to what is begun. A call or a tool that is running when the time is over is cut."""
        budget = self._calls.budget
        try:
            async with asyncio.timeout(budget.seconds_left()) as limit:
                await begin()
                return await self._ask_until_answered()
        except TimeoutError:
            if not limit.expired():
                raise
        await self._keep_partial()
        self._parts += self._said
        self._said.clear()
        return await self._sum_up(budget.time)

    async def _hear(self, asked: Message, *, is_first: bool) -> None:
        """Keep the question. What plugins add to it is read by the model alone, and not kept."""
        try:
            asked = await self._described(asked) if asked.images else asked
        finally:
            await self._conversation.add(asked)
        context = await self._hooks.begin(is_first=is_first)
        if context:
            self._conversation.show_last(
                msgspec.structs.replace(asked, content=f"{asked.content}\n\n{context}")
            )

    async def _described(self, asked: Message) -> Message:
        """The question with its pictures in words, for a model that sees none, where one is set that does."""
        if self._calls.chain.endpoint.provider.sees or not self._means.auxiliary.has_own("vision"):
            return asked
        shown = Message(role="user", content=DESCRIBE, images=asked.images)
        try:
            words = await self._calls.ask_beside("vision", (shown,))
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
            words = await self._calls.ask_beside("title", (*self._conversation.history[:_TITLED], asked))
        except HermesError as error:
            self._emit(Notice(f"the session has no title of its own: {error}", error.hint))
            return ""
        return " ".join(words.split()).strip("\"'“”*#.")

    def partial(self) -> Answer:
        """The answer as far as it came, for a turn that did not end by itself."""
        return self._result("incomplete", None, complete=False)

    def explain(self, question: str, images: tuple[Image, ...] = ()) -> "tuple[Reason, ...]":
        """What the first call for this question would send, and why; nothing is sent or kept."""
        return self._calls.explain(Message(role="user", content=question, images=images))

    async def _ask_until_answered(self) -> Answer:
        endings = self._endings()
        output_limit: int | None = None
        choice = self._means.first_choice
        while (reached := self._calls.budget.exceeded()) is None:
            response = await self._ask(choice, output_limit)
            output_limit, choice = None, "auto"
            match endings.judge(response, after_tools=self._last().role == "tool"):
                case RunCalls() if theirs := self._theirs(response):
                    await self._keep(theirs)
                    return self._result("tool_calls", theirs)
                case RunCalls():
                    await self._keep(response)
                    await self._run_calls(response.tool_calls or ())
                    if self._runner.guardrail.stopped is not None:
                        return await self._sum_up("calls that lead nowhere")
                case Accept():
                    await self._keep(response)
                    nudge = await self._hooks.verify(
                        response.content or "", self._runner.changed, self._means.verify_nudges
                    )
                    if not nudge:
                        return await self._settle(response)
                    self._parts.clear()
                    await self._conversation.add(Message(role="user", content=nudge))
                case AskAgain() as again:
                    output_limit = again.max_output_tokens
                    await self._keep_for_more(response, again)
                case GiveUp(error):
                    if not self._calls.chain.move_on(str(error), self._emit):
                        raise error
                    endings = self._endings()
        self._parts.clear()
        return await self._sum_up(reached)

    def _endings(self) -> Endings:
        most = self._means.max_output_tokens
        return Endings(most or self._calls.chain.endpoint.provider.max_tokens, is_cut=most is not None)

    def _theirs(self, response: NormalizedResponse) -> NormalizedResponse | None:
        """The response with its calls of tools that whoever asks runs; None where there is none.

        Calls of our own beside them are left out: the model makes them again when it still wants them.
        """
        names = {tool.name for tool in self._means.theirs}
        called = [call for call in response.tool_calls or () if call.name in names]
        return msgspec.structs.replace(response, tool_calls=called) if called else None

    async def _sum_up(self, reached: str) -> Answer:
        """The answer when a limit is reached: from what there is, and marked as not complete.

        Under the beginning of an answer that was cut, where there is one.
        """
        await self._conversation.add(Message(role="user", content=LIMIT_REACHED.format(reached)))
        if self._parts:
            self._parts.append("\n\n")
            self._emit_event(Text("\n\n"))
        response = await self._last_words()
        called = (response.tool_calls if response else None) or ()
        left = f"; {len(called)} more tool calls were not run" if called else ""
        self._emit(
            Notice(f"the limit of {reached} is reached, and the answer is not complete{left}", _RAISE_LIMITS)
        )
        return self._result("incomplete", response, complete=False)

    async def _last_words(self) -> NormalizedResponse | None:
        """What the model says to a limit; None when its time is over and it does not come to an end."""
        left = self._calls.budget.seconds_left()
        try:
            async with asyncio.timeout(None if left is None else max(left, _GRACE_SECONDS)) as limit:
                response = await self._ask("none")
        except TimeoutError:
            if not limit.expired():
                raise
            await self._keep_partial()
            return None
        await self._keep(msgspec.structs.replace(response, tool_calls=None))
        return response

    async def _settle(self, response: NormalizedResponse) -> Answer:
        """The answer; one that should be data and is not may be given once more."""
        answer = self._result(response.finish_reason, response)
        if response.finish_reason == "length":
            self._emit(Notice("the answer is cut at the output limit, and not complete", _RAISE_OUTPUT))
        expected = self._means.expectation
        if expected is None:
            return answer
        value = expected.read(answer.text)
        if isinstance(value, Mismatch):
            schema = msgspec.json.encode(expected.schema).decode()
            said = WRONG_SHAPE.format(value.problem, schema)
            await self._conversation.add(Message(role="user", content=said))
            self._parts.clear()
            response = await self._ask("none")
            await self._keep(msgspec.structs.replace(response, tool_calls=None))
            answer = self._result(response.finish_reason, response)
            value = expected.read(answer.text)
        if isinstance(value, Mismatch):
            raise InvalidResponse(
                f"the answer does not keep the schema: {value.problem}",
                hint="loosen the schema, or choose another model with `-m PROVIDER/MODEL`",
            )
        return msgspec.structs.replace(answer, parsed=value)

    async def _ask(self, tool_choice: ToolChoice, output_limit: int | None = None) -> NormalizedResponse:
        self._said.clear()
        return await self._calls.ask(tool_choice, output_limit)

    async def _keep(self, response: NormalizedResponse) -> None:
        """Keep what the model said, stamped with who made what only they can read."""
        self._said.clear()
        self._parts.append(response.content or "")
        self._runner.finished.clear()
        await self._conversation.add(
            Message(
                role="assistant",
                content=response.content,
                tool_calls=tuple(response.tool_calls or ()),
                reasoning=response.reasoning,
                finish_reason=response.finish_reason,
                provider_data=response.provider_data,
                issuer=self._calls.served_by.issuer if response.provider_data else None,
                usage=response.usage,
                cost=self._calls.budget.last_cost,
            )
        )

    async def _keep_for_more(self, response: NormalizedResponse, again: AskAgain) -> None:
        if again.keep:
            await self._keep(response)
        if again.say:
            await self._conversation.add(Message(role="user", content=again.say))

    async def _run_calls(self, calls: Sequence[ToolCall]) -> None:
        if self._hooks.holds_text and any(self._parts):
            self._emit_event(Text("".join(self._parts)))
        self._parts.clear()
        results = await self._runner.run(calls)
        for result in results:
            self.sources.add(result.sources)
        await self._conversation.add(*map(_result_message, calls, results))
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
        try:
            response = await self._calls.ask_aside(REMEMBER, memory)
            await self._runner.run(response.tool_calls or ())
        except HermesError as error:
            self._emit(Notice(f"nothing more was kept in memory: {error}", error.hint))

    async def _summarise(self, messages: tuple[Message, ...]) -> str:
        await self.remember()
        return await self._calls.ask_beside("compaction", messages)

    def _emit(self, event: Event) -> None:
        if isinstance(event, Text):
            self._said.append(event.delta)
            if self._hooks.holds_text:
                return
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
        endpoint = self._calls.served_by
        text = "".join((*self._parts, *self._said))
        return Answer(
            session_id=self._conversation.session_id,
            text=text,
            citations=cite(text, response.provider_data if response else None, self.sources),
            messages=self._conversation.history,
            usage=self._calls.budget.usage,
            finish_reason=reason,
            provider=endpoint.provider.name,
            model=endpoint.model,
            api_mode=endpoint.provider.api_mode,
            complete=complete and reason != "length",
            cost=self._calls.budget.cost,
        )


def _result_message(call: ToolCall, result: ToolResult) -> Message:
    return Message(
        role="tool",
        tool_call_id=call.id,
        content=result.text,
        is_error=result.is_error,
        served_by=result.served_by,
    )
