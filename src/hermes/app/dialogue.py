"""A conversation that is kept: the loop, the session it belongs to, and the log it is written to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from hermes.agent.conversation import Conversation
from hermes.agent.explain import Reason
from hermes.agent.loop import Turn
from hermes.agent.means import Means
from hermes.agent.send import Emit
from hermes.config import Redactor
from hermes.errors import HermesError, Interrupted, StoreError
from hermes.events import Answer, Done, Event, Failed, Notice, Started
from hermes.messages import Image, Message
from hermes.protocols import Effort, Endpoint
from hermes.store import Session, Status, Store

TITLE_LENGTH = 80


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


class Journal:
    """The session log as the loop sees it. A store that fails is said once, and the talk goes on."""

    def __init__(self, store: Store | None, redact: Redactor, notices: list[Notice]) -> None:
        self._store = store
        self._redact = redact
        self._notices = notices

    async def begin(self, session: Session, question: str) -> None:
        """Keep a new session under the beginning of its first question."""
        title = self._redact(" ".join(question.split()))[:TITLE_LENGTH]
        await self._try(lambda store: store.create(msgspec.structs.replace(session, title=title)))

    async def append(self, session_id: str, messages: Sequence[Message]) -> None:
        kept = [redact_message(message, self._redact) for message in messages]
        await self._try(lambda store: store.append(session_id, kept))

    async def rename(self, session_id: str, title: str) -> None:
        await self._try(lambda store: store.rename(session_id, self._redact(title)[:TITLE_LENGTH]))

    async def mark(self, session_id: str, status: Status) -> None:
        await self._try(lambda store: store.mark(session_id, status))

    def take_notices(self) -> list[Notice]:
        """What the user should know, each told once."""
        told = list(self._notices)
        self._notices.clear()
        return told

    async def _try(self, act: Callable[[Store], Awaitable[None]]) -> None:
        if self._store is None:
            return
        try:
            await act(self._store)
        except StoreError as error:
            self._store = None
            self._notices.append(Notice(f"this session is not saved: {error}", error.hint))


def redact_message(message: Message, redact: Redactor) -> Message:
    """The message as it may be written down: no configured secret in any of its texts."""
    written = msgspec.json.encode(message).decode()
    clean = redact(written)
    return message if clean == written else msgspec.json.decode(clean, type=Message)


Lend = Callable[..., AbstractContextManager[None]]
"""Lends the run to plugins for a while; told where its events go, as `emit`."""


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
        lend: Lend = lambda **_: nullcontext(),
    ) -> None:
        self._session = session
        self._conversation = conversation
        self._means = means
        self._journal = journal
        self._is_new = is_new
        self._lend = lend

    @property
    def terms(self) -> Terms:
        """The terms on which another runtime can go on with this conversation."""
        agreed = frozenset(self._means.approvals.agreed)
        return Terms(session=self._session, history=self._conversation.history, agreed=agreed)

    async def ask(self, question: str, emit: Emit, images: Sequence[Image] = ()) -> Answer:
        """Answer one question. Ends with a `Done` event, or with `Failed` and its error raised."""
        with self._lend(emit=emit):
            return await self._ask(question, emit, images)

    async def _ask(self, question: str, emit: Emit, images: Sequence[Image]) -> Answer:
        session_id, endpoint = self._conversation.session_id, self._means.models.endpoint
        is_first, self._is_new = self._is_new, False
        if is_first:
            await self._journal.begin(self._session, question)
        emit(Started(session_id, endpoint.provider.name, endpoint.model, endpoint.provider.api_mode))
        if images and not endpoint.provider.sees:
            emit(_unseen(endpoint))
        turn = self._turn(emit)
        try:
            answer = await turn.answer(question, tuple(images))
        except HermesError as error:
            await self._journal.mark(session_id, "failed")
            self._close(emit, Failed(error, turn.partial()))
            raise
        except asyncio.CancelledError:
            await self._journal.mark(session_id, "interrupted")
            self._close(emit, Failed(Interrupted("interrupted"), turn.partial()))
            raise
        await self._journal.mark(session_id, "done")
        if is_first and (title := await turn.title()):
            await self._journal.rename(session_id, title)
        self._close(emit, Done(answer))
        return answer

    async def end(self, emit: Emit) -> None:
        """Put the conversation away: a model with a memory keeps what will matter later."""
        with self._lend(emit=emit):
            await self._turn(emit).finalize()

    def explain(self, question: str, images: Sequence[Image] = ()) -> tuple[Reason, ...]:
        """What would be sent for this question, field by field, and why; nothing is sent or kept."""
        return self._turn(lambda _event: None).explain(question, tuple(images))

    def _turn(self, emit: Emit) -> Turn:
        return Turn(self._conversation, self._means, emit)

    def _close(self, emit: Emit, last: Event) -> None:
        for notice in self._journal.take_notices():
            emit(notice)
        emit(last)


def _unseen(endpoint: Endpoint) -> Notice:
    model = f"{endpoint.provider.name}/{endpoint.model}"
    return Notice(
        f"`{model}` takes no pictures, and is only told that there is one",
        hint="choose a model that sees with `-m PROVIDER/MODEL`",
    )
