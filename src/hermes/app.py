"""The composition root: settings in, a running Hermes out. The only place that knows every part."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any

import msgspec

from hermes import discover
from hermes.agent.loop import Conversation, Turn
from hermes.agent.send import Emit, ModelClient
from hermes.config import Config, Redactor, load
from hermes.errors import HermesError, Interrupted, StoreError
from hermes.events import Answer, Done, Event, Failed, Notice, Started
from hermes.index import Index, manual_folder
from hermes.messages import Message
from hermes.protocols import Endpoint, Provider, ProviderTransport, Wire
from hermes.providers.base import Choice, Preferences, resolve
from hermes.store import Session, Status, Store, new_session_id
from hermes.tools.toolbox import Toolbox, select
from hermes.tools.web.budget import PageArchive
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.select import choose
from hermes.tools.web_extract import extract_payload
from hermes.tools.web_search import search_payload

DEFAULT_TOOLS = ("web",)
TITLE_LENGTH = 80


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a conversation is held: with whom, with which tools, in which session."""

    model: str = ""
    tools: tuple[str, ...] = DEFAULT_TOOLS
    session: Session | None = None
    history: tuple[Message, ...] = ()
    max_turns: int | None = None


class Services:
    """What tools and web backends may use; each part is made when first asked for."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.notices: list[Notice] = []

    @cached_property
    def _index(self) -> Index:
        index = Index.open(os.path.join(self._config.home, "index.db"), manual_folder())
        self.notices.extend(Notice(notice) for notice in index.notices)
        return index

    def index(self) -> Index:
        return self._index

    def setting(self, name: str) -> str | None:
        return self._config.environment.lookup(name)

    @cached_property
    def web(self) -> WebKernel:
        web = self._config.web
        return WebKernel(
            choose("search", self, own=web.search_backend, shared=web.backend),
            choose("extract", self, own=web.extract_backend, shared=web.backend),
            archive=PageArchive(os.path.join(self._config.home, "cache", "web")),
            char_limit=web.extract_char_limit,
        )

    def wire(self) -> Wire:
        return self._sockets

    @cached_property
    def _sockets(self) -> Wire:
        # Loaded here because a run without a server never needs it, and it costs more than all else.
        wire: Wire = discover.module("hermes.net.client").Client()
        return wire

    async def close(self) -> None:
        if "_sockets" in self.__dict__:
            await self._sockets.close()
        if "_index" in self.__dict__:
            self._index.close()


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


class Runtime:
    """Everything a run needs, made from one Config. Close it when done: it holds files and sockets."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.services = Services(config)
        self._engines: dict[str, Wire] = {}
        self._store: Store | None = None

    async def __aenter__(self) -> "Runtime":
        return self

    async def __aexit__(self, *_: object) -> None:
        for engine in self._engines.values():
            await engine.close()
        if self._store is not None:
            await self._store.close()
        await self.services.close()

    def store(self) -> Store:
        if self._store is None:
            self._store = Store.open(os.path.join(self.config.home, "sessions.db"))
        return self._store

    def choose_model(self, wanted: str = "") -> Choice:
        """Who answers: the name asked for, or what the settings say."""
        model = self.config.model
        preferences = Preferences(
            model.provider, model.default, model.base_url, model.api_key, model.max_tokens
        )
        return resolve(wanted, preferences, self.config.environment.secret)

    def converse(self, terms: Terms) -> "Dialogue":
        """A conversation on these terms: a new session, or the given one with its history."""
        endpoint = self.choose_model(terms.model).endpoint
        session = terms.session or _new_session(endpoint)
        journal = Journal(self._open_store(), self.config.redactor(), self.services.notices)
        return Dialogue(
            Conversation(session.id, terms.history, journal),
            self._model(endpoint),
            Toolbox(select(terms.tools), self.services),
            journal,
            Standing(session, terms.session is None, terms.max_turns or self.config.agent.max_turns),
        )

    def _open_store(self) -> Store | None:
        try:
            store = self.store()
        except StoreError as error:
            self.services.notices.append(Notice(f"this session is not saved: {error}", error.hint))
            return None
        self.services.notices.extend(Notice(notice) for notice in store.notices)
        return store

    def wire(self, provider: Provider) -> Wire:
        """The way to a provider: through sockets, or into this process."""
        if provider.engine is None:
            return self.services.wire()
        if provider.name not in self._engines:
            self._engines[provider.name] = provider.engine()
        return self._engines[provider.name]

    def _model(self, endpoint: Endpoint) -> ModelClient:
        mode = endpoint.provider.api_mode
        transport: ProviderTransport = discover.load("hermes.transports", mode, "protocol").Transport()
        return ModelClient(endpoint, transport, self.wire(endpoint.provider))


class Standing(msgspec.Struct):
    """What a dialogue knows of itself: its session, whether that is begun, and its limit."""

    session: Session
    is_new: bool
    max_turns: int


class Dialogue:
    """A conversation that can be asked again and again."""

    def __init__(
        self,
        conversation: Conversation,
        model: ModelClient,
        tools: Toolbox,
        journal: Journal,
        standing: Standing,
    ) -> None:
        self._conversation = conversation
        self._model = model
        self._tools = tools
        self._journal = journal
        self._standing = standing

    @property
    def terms(self) -> Terms:
        """The terms on which another runtime can go on with this conversation."""
        history = self._conversation.messages[1:]
        return Terms(session=self._standing.session, history=history, max_turns=self._standing.max_turns)

    async def ask(self, question: str, emit: Emit) -> Answer:
        """Answer one question. Ends with a `Done` event, or with `Failed` and its error raised."""
        session_id, endpoint = self._conversation.session_id, self._model.endpoint
        if self._standing.is_new:
            await self._journal.begin(self._standing.session, question)
            self._standing.is_new = False
        emit(Started(session_id, endpoint.provider.name, endpoint.model, endpoint.provider.api_mode))
        turn = Turn(self._conversation, self._model, self._tools, emit)
        try:
            answer = await turn.answer(question, self._standing.max_turns)
        except HermesError as error:
            await self._journal.mark(session_id, "failed")
            self._close(emit, Failed(error, turn.partial()))
            raise
        except asyncio.CancelledError:
            await self._journal.mark(session_id, "interrupted")
            self._close(emit, Failed(Interrupted("interrupted"), turn.partial()))
            raise
        await self._journal.mark(session_id, "done")
        self._close(emit, Done(answer))
        return answer

    def _close(self, emit: Emit, last: Event) -> None:
        for notice in self._journal.take_notices():
            emit(notice)
        emit(last)


class Agent:
    """A conversation with a model that can search and read.

    `model` is `PROVIDER/MODEL`, a provider, or empty for what the settings say; `tools` are toolsets
    or tool names. Questions to one agent belong to one session. Use it as an async context manager,
    or call `run_sync` from code without an event loop.
    """

    def __init__(
        self, model: str = "", tools: Sequence[str] = DEFAULT_TOOLS, config: Config | None = None
    ) -> None:
        self._config = config or load(os.environ)
        self._terms = Terms(model=model, tools=tuple(tools))
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
            self._terms = msgspec.structs.replace(
                self._dialogue.terms, model=self._terms.model, tools=self._terms.tools
            )
        self._runtime, self._dialogue = Runtime(self._config), None

    async def _ask(self, question: str, emit: Emit) -> Answer:
        if self._dialogue is None:
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


def _new_session(endpoint: Endpoint) -> Session:
    now = time.time()
    return Session(
        id=new_session_id(now, os.urandom(4)),
        title="",
        created=now,
        updated=now,
        provider=endpoint.provider.name,
        model=endpoint.model,
        cwd=working_folder(),
    )


def working_folder() -> str:
    """Where we are, or empty when that folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
