"""The model calls of one question: whom they go to, what they take, and that the conversation fits."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes.agent.auxiliary import Task
from hermes.agent.budget import Budget
from hermes.agent.conversation import Conversation
from hermes.agent.means import Means
from hermes.agent.occasion import Occasion
from hermes.agent.room import Room, Summarise
from hermes.agent.send import Emit
from hermes.errors import ContextOverflow
from hermes.events import Event, Notice, Reasoning, Text, Used
from hermes.messages import Message, NormalizedResponse, Usage
from hermes.protocols import Endpoint, Request, ToolChoice, ToolSpec

if TYPE_CHECKING:
    from hermes.agent.explain import Reason

_LONG = 20_000
"""Tokens from which on it is worth asking how long a conversation may be."""


class Calls:
    """Asks models for one turn and keeps its accounts. `summarise` makes a long conversation shorter."""

    def __init__(
        self,
        conversation: Conversation,
        means: Means,
        emit: Emit,
        summarise: Summarise,
        clock: Callable[[], float],
        occasion: Occasion,
    ) -> None:
        self._conversation = conversation
        self._means = means
        self._emit = emit
        self._room = Room(conversation, summarise, emit)
        self._is_price_told = False
        self.chain = means.models.question(occasion)
        self.served_by = self.chain.endpoint
        self.budget = Budget(means.limits, clock)

    async def ask(self, tool_choice: ToolChoice, output_limit: int | None) -> NormalizedResponse:
        """What the model says to the conversation, which is made to fit first."""
        endpoint = self.chain.endpoint
        await self._room.make(self._window(endpoint), endpoint.provider.max_tokens)
        while True:
            try:
                return await self._ask_once(tool_choice, output_limit)
            except ContextOverflow as error:
                if not await self._room.shrink() and not self.chain.move_on(str(error), self._emit):
                    raise

    async def ask_aside(self, question: str, tools: tuple[ToolSpec, ...]) -> NormalizedResponse:
        """What the model says to something that is not part of the conversation, but counts for the turn."""
        messages = (*self._conversation.messages, Message(role="user", content=question))
        request = Request(messages=messages, tools=tools, session_id=self._conversation.session_id)
        served = await self.chain.send(request, self._emit_notices)
        self.spend(served.endpoint, served.response.usage)
        return served.response

    async def ask_beside(self, task: Task, messages: tuple[Message, ...]) -> str:
        """What the model of a task says to it; counts for the turn, too."""
        response = await self._means.auxiliary.complete(
            task, messages, emit=self._emit_notices, ledger=self.chain.ledger, spend=self.spend
        )
        return response.content or ""

    def explain(self, asked: Message) -> "tuple[Reason, ...]":
        """What the first call for a question would send, and why; nothing is sent or kept."""
        return self.chain.explain(self._request((*self._conversation.messages, asked), "auto", None))

    async def _ask_once(self, tool_choice: ToolChoice, output_limit: int | None) -> NormalizedResponse:
        request = self._request(self._conversation.messages, tool_choice, output_limit)
        self.budget.begin_call()
        served = await self.chain.send(request, self._emit)
        response, self.served_by = served.response, served.endpoint
        cost = self._cost(served.endpoint, response.usage)
        self.budget.end_call(response.usage, cost)
        if cost is None and self._means.limits.dollars is not None:
            self._say_price_is_unknown(served.endpoint)
        self._room.count(response.usage)
        self._emit(Used(self.budget.usage, self.budget.cost))
        return response

    def _request(
        self, messages: tuple[Message, ...], tool_choice: ToolChoice, output_limit: int | None
    ) -> Request:
        expected = self._means.expectation
        return Request(
            messages=messages,
            tools=(*self._means.tools.specs(), *self._means.theirs),
            tool_choice=tool_choice,
            max_output_tokens=output_limit or self._means.max_output_tokens,
            effort=self._means.effort,
            temperature=self._means.temperature,
            session_id=self._conversation.session_id,
            output_schema=expected.schema if expected else None,
        )

    def _window(self, endpoint: Endpoint) -> int | None:
        known, look_up = endpoint.provider.context_window, self._means.window
        if known is not None or look_up is None or self._room.tokens() < _LONG:
            return known
        return look_up(endpoint.provider.name, endpoint.model)

    def spend(self, endpoint: Endpoint, usage: Usage | None) -> None:
        """Count what was asked beside the conversation."""
        self.budget.spend(usage, self._cost(endpoint, usage))

    def _cost(self, endpoint: Endpoint, usage: Usage | None) -> float | None:
        price = self._means.price
        return price(endpoint.provider.name, endpoint.model, usage) if price and usage else None

    def _say_price_is_unknown(self, endpoint: Endpoint) -> None:
        if not self._is_price_told:
            self._is_price_told = True
            model = f"{endpoint.provider.name}/{endpoint.model}"
            self._emit(Notice(f"the price of `{model}` is unknown, so `agent.max_cost` does not hold"))

    def _emit_notices(self, event: Event) -> None:
        """What is said aside is not the answer; that a call waits or fails is of interest."""
        if not isinstance(event, Text | Reasoning):
            self._emit(event)
