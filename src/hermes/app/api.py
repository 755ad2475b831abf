"""Hermes from Python: the names that `import hermes` offers."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.agent.send import Emit
from hermes.app.dialogue import DEFAULT_TOOLS, Dialogue, Terms
from hermes.app.runtime import Runtime
from hermes.app.services import Services
from hermes.config import Config, load
from hermes.events import Answer, Event
from hermes.tools.web_extract import extract_payload
from hermes.tools.web_search import search_payload


class Agent:
    """A conversation with a model that can search and read.

    `model` is `PROVIDER/MODEL`, a provider, or empty for what the settings say; `tools` are toolsets
    or tool names. With `output_schema`, a JSON Schema, each answer is data that keeps it, in `parsed`.
    Questions to one agent belong to one session. Use it as an async context manager,
    or call `run_sync` from code without an event loop.
    """

    def __init__(
        self,
        model: str = "",
        tools: Sequence[str] = DEFAULT_TOOLS,
        config: Config | None = None,
        output_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._config = config or load(os.environ)
        self._terms = Terms(model=model, tools=tuple(tools), output_schema=output_schema)
        self._runtime = Runtime(self._config)
        self._dialogue: Dialogue | None = None

    async def run(self, question: str) -> Answer:
        """Ask, and wait for the whole answer."""
        return await self._ask(question, lambda _event: None)

    async def stream(self, question: str) -> AsyncIterator[Event]:
        """Ask, and receive what happens as it happens. Leaving the loop early cancels the run."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        run = asyncio.ensure_future(self._ask(question, events.put_nowait))
        run.add_done_callback(lambda _run: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await run
        finally:
            run.cancel()
            await asyncio.wait([run])

    def run_sync(self, question: str) -> Answer:
        """Ask from code that has no event loop."""

        async def ask_and_close() -> Answer:
            async with self:
                return await self.run(question)

        return asyncio.run(ask_and_close())

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what is open. The conversation stays, and goes on with the next question."""
        await self._runtime.__aexit__()
        if self._dialogue is not None:
            going_on = self._dialogue.terms
            self._terms = msgspec.structs.replace(
                self._terms, session=going_on.session, history=going_on.history
            )
        self._runtime, self._dialogue = Runtime(self._config), None

    async def _ask(self, question: str, emit: Emit) -> Answer:
        if self._dialogue is None:
            await self._runtime.chooser.look_around(self._terms.model)
            self._dialogue = self._runtime.converse(self._terms)
        return await self._dialogue.ask(question, emit)


async def web_search(query: str, limit: int = 5, config: Config | None = None) -> dict[str, Any]:
    """Search with the configured backend: `{"success": true, "data": {"web": [...]}}`."""
    services = Services(config or load(os.environ))
    try:
        return search_payload(await services.web.search(query, limit))
    finally:
        await services.close()


async def web_extract(
    urls: Sequence[str], char_limit: int | None = None, config: Config | None = None
) -> dict[str, Any]:
    """Read pages with the configured backend: `{"results": [...]}`, one per URL, in order."""
    services = Services(config or load(os.environ))
    try:
        return extract_payload(await services.web.extract(list(urls), char_limit))
    finally:
        await services.close()
