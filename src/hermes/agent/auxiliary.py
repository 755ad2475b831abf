"""Calls beside the conversation: the same way to a model as the loop's, each task with a model of its own."""

from collections.abc import Callable

from hermes.agent.send import Emit, Ledger, ModelClient
from hermes.errors import InvalidResponse
from hermes.messages import Message, NormalizedResponse, Usage
from hermes.protocols import Endpoint, Request

Spend = Callable[[Endpoint, Usage | None], None]
"""Told what a call took, so that it counts for the answer it was made for."""


class Auxiliary:
    """Small tasks for a model. `model_for` gives the model of a task: its own, or the conversation's."""

    def __init__(self, model_for: Callable[[str], ModelClient]) -> None:
        self._model_for = model_for

    async def complete(
        self, task: str, messages: tuple[Message, ...], *, emit: Emit, ledger: Ledger, spend: Spend
    ) -> NormalizedResponse:
        """Ask once, without tools and without a stream; an answer without words is an error.

        Retries come from the ledger of the question that the task belongs to.
        """
        model = self._model_for(task)
        response = await model.send(Request(messages=messages, stream=False), emit, ledger)
        spend(model.endpoint, response.usage)
        if not (response.content or "").strip():
            raise InvalidResponse(f"the model gave nothing for the task `{task}`")
        return response
