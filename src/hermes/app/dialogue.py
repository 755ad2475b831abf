"""A conversation that is kept: the loop, the session it belongs to, and the log it is written to."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from hermes.agent.auxiliary import counted_by
from hermes.agent.citations import Sources
from hermes.agent.conversation import Conversation
from hermes.agent.loop import Turn
from hermes.agent.means import Means
from hermes.agent.prompt import is_question
from hermes.agent.send import Emit
from hermes.agent.stopping import is_stopped
from hermes.config import Redactor
from hermes.errors import HermesError, Interrupted, StoreError, StoreUnavailable
from hermes.events import Answer, Done, Event, Failed, Notice, Started
from hermes.messages import Image, Message
from hermes.protocols import Effort, Endpoint, ToolChoice, ToolSpec
from hermes.store import Happening, Session, Status, Store, kept

if TYPE_CHECKING:
    from hermes.agent.explain import Reason

TITLE_LENGTH = 80
_HURRY_SECONDS = 0.1
"""How long somebody who stopped a turn waits for each thing that is still written of it."""

T = TypeVar("T")


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a conversation is held: with whom, with which tools, in which session."""

    model: str = ""
    tools: tuple[str, ...] | None = None
    """Toolsets or tools to offer; None is what the settings say."""
    session: Session | None = None
    history: tuple[Message, ...] = ()
    max_turns: int | None = None
    output_schema: Mapping[str, Any] | None = None
    """A JSON Schema that every answer must keep."""
    effort: Effort | None = None
    """How hard to think; None is what the settings say."""
    agreed: frozenset[str] = frozenset()
    """What a person has consented to for the rest of this conversation, as the keys of rules."""
    platform: str = "python"
    """Where the questions come from, as plugins are told."""
    priced: bool = False
    """Whether answers say what they cost at a vendor; the price list is slow to load."""
    kept: bool = True
    """Whether the conversation is written down."""
    temperature: float | None = None
    """None is what the settings say."""
    max_output_tokens: int | None = None
    """Where an answer is cut; None is what the settings say, and then a long one is asked to go on."""
    narrowed: Mapping[str, Any] = {}
    """Filters that hold for every search, whatever the model asks for."""
    theirs: tuple[ToolSpec, ...] = ()
    """Tools that whoever asks runs themselves: a call of one ends the turn, and `go_on` takes its result."""
    first_choice: ToolChoice = "auto"
    """Whether the first call has to use a tool."""
    sources: Sources | None = None
    """The pages that the turn which goes on has seen."""


class Journal:
    """The session log as the loop sees it. A store that fails is said once, and the talk goes on.

    What happens is noted, and written with what is said next. Everything is on its way to the disk
    when it is called for; who has to hurry, because a person stopped the turn, hardly waits for it.
    """

    def __init__(
        self,
        store: Store | None,
        redact: Redactor,
        notices: list[Notice],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._redact = redact
        self._notices = notices
        self._clock = clock
        self._happened: list[Happening] = []

    def begin(self, session: Session, question: str) -> None:
        """Keep a new session under the beginning of its first question; what is said next waits for it."""
        title = self._redact(" ".join(question.split()))[:TITLE_LENGTH]
        self._begin(lambda store: store.create(msgspec.structs.replace(session, title=title)))

    @property
    def has_news(self) -> bool:
        """Whether something was noted that is not written yet."""
        return bool(self._happened)

    def note(self, event: Event) -> None:
        """Note what happens."""
        if self._store is not None and (part := kept(event)) is not None:
            self._happened.append(Happening(self._clock(), part))

    async def append(self, session_id: str, messages: Sequence[Message]) -> None:
        said = [redacted(message, self._redact, Message) for message in messages]
        await self._write(lambda store: store.append(session_id, said, self._take_events()))

    async def summarise(self, session_id: str, summary: Message, known: Sequence[Message]) -> None:
        note, *others = (redacted(message, self._redact, Message) for message in (summary, *known))
        await self._write(lambda store: store.summarise(session_id, note, others, self._take_events()))

    async def rename(self, session_id: str, title: str) -> None:
        short = self._redact(title)[:TITLE_LENGTH]
        await self._write(lambda store: store.rename(session_id, short, self._take_events()))

    async def mark(self, session_id: str, status: Status) -> None:
        await self._write(lambda store: store.mark(session_id, status, self._take_events()))

    async def cut(self, session_id: str, keep: int, known: int) -> None:
        """Take back all but the first messages; raises where that cannot be done."""
        if self._store is not None:
            await self._store.cut(session_id, keep, known)

    def take_notices(self) -> list[Notice]:
        """What the user should know, each told once."""
        told = list(self._notices)
        self._notices.clear()
        return told

    def _take_events(self) -> list[Happening]:
        taken, self._happened = self._happened, []
        return redacted(taken, self._redact, list[Happening]) if taken else taken

    async def _write(self, act: Callable[[Store], asyncio.Future[None]]) -> None:
        written = self._begin(act)
        if written is not None and not written.done():
            await asyncio.wait([written], timeout=_HURRY_SECONDS if is_stopped() else None)

    def _begin(self, act: Callable[[Store], asyncio.Future[None]]) -> asyncio.Future[None] | None:
        if self._store is None:
            return None
        written = act(self._store)
        if written.done():
            self._judge(written)
        else:
            written.add_done_callback(self._judge)
        return written

    def _judge(self, written: asyncio.Future[None]) -> None:
        try:
            written.result()
        except StoreError as error:
            self._give_up(error)
        except asyncio.CancelledError:
            self._give_up(StoreUnavailable("the session history stayed locked until the end"))

    def _give_up(self, error: StoreError) -> None:
        if self._store is not None:
            self._store = None
            self._notices.append(Notice(f"this session is not saved: {error}", error.hint))


def redacted(value: T, redact: Redactor, kind: type[T]) -> T:
    """A value of this kind as it may be written down: no configured secret in any of its texts."""
    written = msgspec.json.encode(value).decode()
    clean = redact(written)
    return value if clean == written else msgspec.json.decode(clean, type=kind)


Lend = Callable[..., AbstractContextManager[None]]
"""Lends the run to plugins for a while; told where its events go, as `emit`, and who counts, as `spend`."""

Prepare = Callable[[Emit], Awaitable[None]]
"""Gets ready for a question, and says what does not work."""


class Dialogue:
    """A conversation that can be asked again and again; `is_new` where its session is not begun."""

    def __init__(
        self,
        session: Session,
        conversation: Conversation,
        means: Means,
        journal: Journal,
        *,
        is_new: bool,
        sources: Sources | None = None,
        lend: Lend = lambda **_: nullcontext(),
        prepare: Prepare | None = None,
    ) -> None:
        self._session = session
        self._conversation = conversation
        self._means = means
        self._journal = journal
        self._is_new = is_new
        self._sources = sources
        self._prepare = prepare
        self.lend = lend

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def terms(self) -> Terms:
        """The terms on which another runtime can go on with this conversation."""
        return Terms(
            session=self._session,
            history=self._conversation.history,
            agreed=frozenset(self._means.approvals.agreed),
            sources=self._sources,
        )

    async def ask(self, question: str, emit: Emit, images: Sequence[Image] = ()) -> Answer:
        """Answer one question. Ends with a `Done` event, or with `Failed` and its error raised."""
        turn = self._turn(self._noting(emit))
        asked = partial(turn.answer, question, tuple(images))
        with self.lend(emit=emit, spend=turn.spend), counted_by(turn.spend):
            return await self._ask(turn, asked, question, emit, images)

    async def go_on(self, results: Sequence[Message], emit: Emit) -> Answer:
        """Answer on, with the results of calls that whoever asks has run; as with `ask`."""
        turn = self._turn(self._noting(emit), self._sources)
        with self.lend(emit=emit, spend=turn.spend), counted_by(turn.spend):
            return await self._ask(turn, partial(turn.go_on, results), "", emit)

    async def _ask(
        self,
        turn: Turn,
        asked: Callable[[], Awaitable[Answer]],
        question: str,
        emit: Emit,
        images: Sequence[Image] = (),
    ) -> Answer:
        self._sources = turn.sources
        session_id, endpoint = self._conversation.session_id, self._means.models.endpoint
        is_first, self._is_new = self._is_new, False
        if is_first:
            self._journal.begin(self._session, question)
        emit(Started(session_id, endpoint.provider.name, endpoint.model, endpoint.provider.api_mode))
        if images and not endpoint.provider.sees:
            self._noting(emit)(_unseen(endpoint))
        try:
            if self._prepare is not None:
                await self._prepare(self._noting(emit))
            answer = await asked()
        except HermesError as error:
            await self._finish(emit, "failed", Failed(error, turn.partial()))
            raise
        except asyncio.CancelledError:
            await self._finish(emit, "interrupted", Failed(Interrupted("interrupted"), turn.partial()))
            raise
        await self._finish(emit, "done", Done(answer), untitled=turn if is_first else None)
        return answer

    async def end(self, emit: Emit) -> None:
        """Put the conversation away: a model with a memory keeps what will matter later."""
        with self.lend(emit=emit):
            await self._turn(self._noting(emit)).finalize()

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is offered."""
        return self._means.tools.specs()

    async def take_back(self) -> tuple[Message, tuple[Message, ...]] | None:
        """Take the last question and all that followed it out of the store, and say what was asked.

        Gives the question and the messages before it, to go on from; None where nothing was asked.
        """
        history = self._conversation.history
        places = [at for at, message in enumerate(history) if is_question(message)]
        if not places:
            return None
        await self._journal.cut(self._conversation.session_id, places[-1], len(history))
        return history[places[-1]], history[: places[-1]]

    def explain(self, question: str, images: Sequence[Image] = ()) -> "tuple[Reason, ...]":
        """What would be sent for this question, field by field, and why; nothing is sent or kept."""
        return self._turn(lambda _event: None).explain(question, tuple(images))

    def _turn(self, emit: Emit, sources: Sources | None = None) -> Turn:
        return Turn(self._conversation, self._means, emit, sources=sources)

    async def _finish(
        self, emit: Emit, status: Status, last: Done | Failed, untitled: Turn | None = None
    ) -> None:
        """Write down how the turn ended and all that is noted of it, give it a title, and say it."""
        self._tell(self._noting(emit))
        self._journal.note(last)
        await self._journal.mark(self._conversation.session_id, status)
        if untitled is not None:
            await self._give_title(untitled)
        self._tell(emit)
        emit(last)

    async def _give_title(self, turn: Turn) -> None:
        session_id, title = self._conversation.session_id, await turn.title()
        if title:
            await self._journal.rename(session_id, title)
        elif self._journal.has_news:
            await self._journal.mark(session_id, "done")

    def _tell(self, emit: Emit) -> None:
        for notice in self._journal.take_notices():
            emit(notice)

    def _noting(self, emit: Emit) -> Emit:
        def note(event: Event) -> None:
            self._journal.note(event)
            emit(event)

        return note


def _unseen(endpoint: Endpoint) -> Notice:
    model = f"{endpoint.provider.name}/{endpoint.model}"
    return Notice(
        f"`{model}` takes no pictures, and is only told that there is one",
        hint="choose a model that sees with `-m PROVIDER/MODEL`",
    )
