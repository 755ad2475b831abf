"""Calls beside the conversation: the same way to a model as the loop's, each task with a model of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from hermes.agent.send import Emit, Ledger, ModelClient
from hermes.errors import InvalidResponse
from hermes.messages import Message, NormalizedResponse, Usage
from hermes.protocols import Endpoint, Request

Task = Literal["compaction", "title", "vision", "web"]
Spend = Callable[[Endpoint, Usage | None], None]
"""Told what a call took, so that it counts for the answer it was made for."""

spending: ContextVar[Spend] = ContextVar("spending", default=lambda _endpoint, _usage: None)
"""Who counts what a tool asks of models: the answer that the tool runs for."""


class Auxiliary:
    """Small tasks for a model. `own` gives the model that is set for a task; without one it is `default`."""

    def __init__(
        self, default: ModelClient, own: Callable[[Task], ModelClient | None] = lambda _task: None
    ) -> None:
        self._default = default
        self._own = own

    def has_own(self, task: Task) -> bool:
        """Whether a model is set for this task: some are done only then."""
        return self._own(task) is not None

    async def complete(
        self, task: Task, messages: tuple[Message, ...], *, emit: Emit, ledger: Ledger, spend: Spend
    ) -> NormalizedResponse:
        """Ask once, without tools and without a stream; an answer without words is an error.

        Retries come from the ledger of the question that the task belongs to.
        """
        model = self._own(task) or self._default
        response = await model.send(Request(messages=messages, stream=False), emit, ledger)
        spend(model.endpoint, response.usage)
        if not (response.content or "").strip():
            raise InvalidResponse(f"the model gave nothing for the task `{task}`")
        return response


@contextmanager
def counted_by(spend: Spend) -> Iterator[None]:
    """Whatever is asked of models within counts there."""
    before = spending.set(spend)
    try:
        yield
    finally:
        spending.reset(before)
