"""What a handler may use, made once for the whole server."""

import os
import time
from collections.abc import Callable

import msgspec
from starlette.requests import Request

from hermes import discover
from hermes.agent.send import Emit
from hermes.app import Runtime, Terms
from hermes.config import Config
from hermes.errors import NotConfigured, RequestFault, UsageError
from hermes.events import Answer
from hermes.server.asked import OWN_MODEL, Asked
from hermes.server.holding import Holding
from hermes.server.limits import Room
from hermes.server.metrics import Metrics
from hermes.server.page_runs import PageRuns
from hermes.server.pending import Pending
from hermes.server.responses.kept import KeptResponses
from hermes.server.runs import Ask, Run, Runs
from hermes.server.sources import Seen
from hermes.server.streams import stopped_when_left
from hermes.server.tokens import Tokens

_DAY = 24 * 3600.0
_LOOK_AGAIN = 30.0
"""Seconds after which model servers on this machine are looked for again."""


class Services:
    """The runtime that answers, who may ask it, and what is going on.

    Nobody can be asked for consent here, so whatever needs one is denied.
    """

    def __init__(
        self,
        config: Config,
        tokens: Tokens,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        make_id: Callable[[], str] = lambda: os.urandom(16).hex(),
    ) -> None:
        self.config = config
        self.settings = config.server
        self.tokens = tokens
        self.clock = clock
        self.now = now
        self.make_id = make_id
        self.runtime = Runtime(config)
        self.redact = self.runtime.services.redact
        self.room = Room(self.settings.max_runs)
        self.runs = Runs()
        self.metrics = Metrics()
        self.page_runs = PageRuns(self.runtime, self.runs, self.metrics, self.settings.tools, now)
        self.pending = Pending(clock)
        self.responses = KeptResponses(
            os.path.join(config.home, "responses.db"), self.settings.keep_days * _DAY, self.redact, now
        )
        self._looked: dict[str, float] = {}

    def prepare(self) -> None:
        """Load what the first answer would have to wait for; raises for settings that allow no answer."""
        self.runtime.converse(Terms(tools=self.settings.tools, kept=False))
        discover.module("hermes.agent.cost")

    def holding(self) -> Holding:
        """A way out for words in pieces."""
        return Holding(self.redact if self.redact.hides else None)

    def cleaned(self, value: object) -> bytes:
        """A value as JSON, without a secret in it."""
        body = msgspec.json.encode(value)
        return self.redact(body.decode()).encode() if self.redact.hides else body

    def ask(self, asked: Asked) -> Run:
        """Begin to answer. The run is the caller's to end: see `streams`."""
        known, pages = self.pending.resume(asked)
        seen = Seen(pages)
        return self.runs.start(lambda emit: self._answer(known, emit, seen), seen)

    def begin(self, ask: Ask) -> Run:
        """Begin a run of which only the answer is read; it is counted, and ended with the server."""

        async def counted(emit: Emit) -> Answer:
            with self.metrics.counting():
                answer = await ask(emit)
            self.metrics.answered(answer)
            return answer

        return self.runs.start(counted, Seen())

    async def answered(self, request: Request, asked: Asked) -> tuple[Answer, Seen]:
        """The whole answer, and what was seen for it. A caller who leaves ends it."""
        run = self.ask(asked)
        async with stopped_when_left(run, request.receive):
            return await run.answer(), run.seen

    async def _answer(self, asked: Asked, emit: Emit, seen: Seen) -> Answer:
        with self.metrics.counting():
            await self.check_model(asked.terms.model)
            dialogue = self.runtime.converse(asked.terms)
            answer = await (
                dialogue.go_on(asked.results, emit)
                if asked.results
                else dialogue.ask(asked.question, emit, asked.images)
            )
        self.metrics.answered(answer)
        left = dialogue.terms
        seen.number(left.sources or ())
        self.pending.keep(asked, answer, left, seen.results(answer))
        return answer

    async def check_model(self, wanted: str) -> None:
        """Raise `RequestFault` when there is no such model, or nothing to reach it with."""
        try:
            await self._look_around(wanted)
            self.runtime.choose_model(wanted)
        except (UsageError, NotConfigured) as error:
            if not wanted:
                raise
            raise RequestFault(
                f"there is no model `{wanted}` here: {error}",
                status=404,
                code="model_not_found",
                param="model",
                hint=f"`{OWN_MODEL}` is always there; `/v1/models` lists others",
            ) from None

    async def _look_around(self, wanted: str) -> None:
        """Find the model servers of this machine, now and then."""
        now = self.clock()
        if now - self._looked.get(wanted, now - 2 * _LOOK_AGAIN) > _LOOK_AGAIN:
            self._looked = {wanted: now}
            await self.runtime.chooser.look_around(wanted)

    async def close(self) -> None:
        await self.page_runs.close()
        await self.runs.drain(0)
        self.responses.close()
        await self.runtime.__aexit__()
