"""Hermes from Python: the names that `import hermes` offers."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from hermes.agent.send import Emit
from hermes.app.dialogue import Dialogue, Terms
from hermes.app.runtime import Runtime
from hermes.app.services import Services
from hermes.config import Config, load
from hermes.errors import Interrupted
from hermes.events import Answer, Event
from hermes.messages import Image
from hermes.protocols import Approver, Fetched
from hermes.tools.web_extract import extract_payload
from hermes.tools.web_search import search_payload


class Agent:
    """A conversation with a model that can search and read.

    `model` is `PROVIDER/MODEL`, a provider, or empty for what the settings say; `tools` are toolsets
    or tool names, None for what the settings say. With `output_schema`, a JSON Schema, each answer is
    data that keeps it, in `parsed`.
    `approve` is asked before what needs a person's consent, and answers `once`, `session`, `always` or
    `deny`; without it the answer is no.
    Questions to one agent belong to one session, and are answered one after the other. Use it as an
    async context manager, or call `run_sync` from code without an event loop.
    """

    def __init__(
        self,
        model: str = "",
        tools: Sequence[str] | None = None,
        config: Config | None = None,
        output_schema: Mapping[str, Any] | None = None,
        approve: Approver | None = None,
    ) -> None:
        self._config = config or load(os.environ)
        offered = None if tools is None else tuple(tools)
        self._terms = Terms(model=model, tools=offered, output_schema=output_schema)
        self._approve = approve
        self._runtime = Runtime(self._config, approve)
        self._dialogue: Dialogue | None = None
        self._running: set[asyncio.Task[Answer]] = set()
        self._one_at_a_time = asyncio.Lock()

    async def run(self, question: str, images: Sequence[Image] = ()) -> Answer:
        """Ask, and wait for the whole answer. `images` are what the question is about."""
        return await self._ask(question, images, lambda _event: None)

    def cancel(self) -> None:
        """Stop what is being answered, from anywhere in the same event loop; what was said is kept.

        Whoever waits for the answer gets `Interrupted`.
        """
        for run in self._running:
            run.cancel()

    async def stream(self, question: str, images: Sequence[Image] = ()) -> AsyncIterator[Event]:
        """Ask, and receive what happens as it happens. Leaving the loop early cancels the run."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        run = asyncio.ensure_future(self._ask(question, images, events.put_nowait))
        run.add_done_callback(lambda _run: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await run
        finally:
            run.cancel()
            await asyncio.wait([run])

    def run_sync(self, question: str, images: Sequence[Image] = ()) -> Answer:
        """Ask from code that has no event loop."""

        async def ask_and_close() -> Answer:
            async with self:
                return await self.run(question, images)

        return asyncio.run(ask_and_close())

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what is open. The conversation stays, and goes on with the next question."""
        await self._runtime.__aexit__()
        if self._dialogue is not None:
            going_on = self._dialogue.terms
            self._terms = msgspec.structs.replace(
                self._terms, session=going_on.session, history=going_on.history, agreed=going_on.agreed
            )
        self._runtime, self._dialogue = Runtime(self._config, self._approve), None
        self._one_at_a_time = asyncio.Lock()  # one belongs to the event loop it was used in

    async def _ask(self, question: str, images: Sequence[Image], emit: Emit) -> Answer:
        run = asyncio.ensure_future(self._answer(question, images, emit))
        self._running.add(run)
        try:
            return await run
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                raise
            raise Interrupted("the run was cancelled") from None
        finally:
            self._running.discard(run)

    async def _answer(self, question: str, images: Sequence[Image], emit: Emit) -> Answer:
        async with self._one_at_a_time:
            if self._dialogue is None:
                await self._runtime.chooser.look_around(self._terms.model)
                self._dialogue = self._runtime.converse(self._terms)
            return await self._dialogue.ask(question, emit, images)


async def web_search(
    query: str, limit: int = 5, config: Config | None = None, **filters: Any
) -> dict[str, Any]:
    """Search with the configured backend: `{"success": true, "data": {"web": [...]}}`.

    `filters` narrow it: `freshness`, `after`, `before`, `include_domains`, `exclude_domains`, `language`,
    `region`, `topic`.
    """
    services = Services(config or load(os.environ))
    try:
        return search_payload(await services.web.search(query, limit, filters))
    finally:
        await services.close()


async def fetch_page(url: str, config: Config | None = None) -> Fetched:
    """Get a page as its server sends it; raises `NetError` when there is none to be had."""
    services = Services(config or load(os.environ))
    try:
        return await services.fetcher().fetch(url)
    finally:
        await services.close()


async def web_extract(
    urls: Sequence[str], char_limit: int | None = None, config: Config | None = None
) -> dict[str, Any]:
    """Read pages with the configured backend: `{"results": [...]}`, one per URL, in order."""
    async with Runtime(config or load(os.environ)) as runtime:
        runtime.shorten_pages()
        return extract_payload(await runtime.services.web.extract(list(urls), char_limit))
