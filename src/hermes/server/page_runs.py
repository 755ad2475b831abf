"""Runs of the page, which outlive a connection: one request begins them, others watch or stop them."""

import secrets
import time
from collections.abc import Callable

from hermes.app import Dialogue, Runtime, Terms
from hermes.errors import Interrupted, RequestFault
from hermes.events import Answer
from hermes.server.holding import Holding
from hermes.server.metrics import Metrics
from hermes.server.model_calls import ModelCalls
from hermes.server.run_log import RunLog
from hermes.server.runs import Run, Runs
from hermes.server.sources import Seen
from hermes.store import Session

MOST_AT_ONCE = 8
MOST_KEPT = 16
"""Runs that are over and can still be read from the beginning; older ones are in their sessions."""
PLATFORM = "page"


class PageRun:
    """One question on its way to an answer; `before` is how many messages its session held at the start."""

    def __init__(self, question: str, session_id: str, before: int, log: RunLog) -> None:
        self.id = secrets.token_urlsafe(12)
        self.question = question
        self.session_id = session_id
        self.before = before
        self.log = log
        self.run: Run | None = None

    @property
    def is_over(self) -> bool:
        return self.log.is_closed

    async def stop(self) -> None:
        """Stop it; what was said is kept."""
        if self.run is not None:
            self.run.stop(Interrupted("the run was stopped"))
            await self.run.ended()


class PageRuns:
    """What the page began. One session has one run at a time."""

    def __init__(
        self,
        runtime: Runtime,
        runs: Runs,
        metrics: Metrics,
        tools: tuple[str, ...] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._runtime = runtime
        self._all = runs
        self._metrics = metrics
        self._tools = tools
        self._clock = clock
        self._runs: dict[str, PageRun] = {}
        self._starting: set[str] = set()
        self._model_calls = ModelCalls(runtime.hooks)

    async def start(self, question: str, session_id: str = "", model: str = "") -> PageRun:
        """Begin to answer a question, in a session of its own or in a given one."""
        session = await self._runtime.store().find(session_id) if session_id else None
        key = session.id if session else secrets.token_urlsafe(12)
        self._refuse_too_many(key)
        self._starting.add(key)
        try:
            run, dialogue = await self._prepare(question, session, model)
        finally:
            self._starting.discard(key)
        run.run = self._all.start(lambda _emit: self._answer(run, dialogue), Seen())
        self._runs[run.id] = run
        self._forget_oldest()
        return run

    def get(self, run_id: str) -> PageRun:
        """A run that is under way or was lately; raises `RequestFault`."""
        try:
            return self._runs[run_id]
        except KeyError:
            raise RequestFault(
                "this run is not known, or no longer",
                status=404,
                code="run_not_found",
                hint="look for its answer in its session",
            ) from None

    def of_session(self, session_id: str) -> PageRun | None:
        """The run that is under way in a session."""
        return next((run for run in self._under_way() if run.session_id == session_id), None)

    async def close(self) -> None:
        """Stop what is under way."""
        for run in self._under_way():
            await run.stop()

    def _under_way(self) -> list[PageRun]:
        return [run for run in self._runs.values() if not run.is_over]

    def _refuse_too_many(self, session_id: str) -> None:
        if session_id in self._starting or self.of_session(session_id):
            raise RequestFault(
                "a question of this session is being answered",
                status=409,
                code="session_busy",
                hint="wait for the answer, or stop it",
            )
        if len(self._under_way()) + len(self._starting) >= MOST_AT_ONCE:
            raise RequestFault(
                f"{MOST_AT_ONCE} questions are being answered",
                status=503,
                code="overloaded",
                hint="wait for an answer, or stop one",
            )

    async def _prepare(self, question: str, session: Session | None, model: str) -> tuple[PageRun, Dialogue]:
        runtime = self._runtime
        history = await runtime.store().messages(session.id) if session else ()
        dialogue = runtime.converse(
            Terms(
                model=model,
                tools=self._tools,
                session=session,
                history=history,
                platform=PLATFORM,
                priced=True,
            )
        )
        redact = runtime.services.redact
        log = RunLog(self._clock, Holding(redact if redact.hides else None))
        return PageRun(question, dialogue.session_id, len(history), log), dialogue

    async def _answer(self, run: PageRun, dialogue: Dialogue) -> Answer:
        self._model_calls.watch(run.session_id, run.log.add)
        try:
            with self._metrics.counting():
                answer = await dialogue.ask(run.question, run.log.add)
        finally:
            self._model_calls.leave(run.session_id)
            run.log.close()
        self._metrics.answered(answer)
        return answer

    def _forget_oldest(self) -> None:
        over = [run.id for run in self._runs.values() if run.is_over]
        for run_id in over[: max(0, len(over) - MOST_KEPT)]:
            del self._runs[run_id]
