"""Settings in, a running Hermes out. The only place that knows every part."""

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import msgspec

from hermes import discover
from hermes.agent import prompt
from hermes.agent.approval_hooks import ApprovalHooks
from hermes.agent.approvals import Approvals, Policy
from hermes.agent.auxiliary import Auxiliary, Task, spending
from hermes.agent.budget import Limits
from hermes.agent.chain import Models
from hermes.agent.conversation import Conversation
from hermes.agent.guardrail import Thresholds
from hermes.agent.means import Means
from hermes.agent.send import Ledger, ModelClient
from hermes.agent.untrusted import Guard
from hermes.app.dialogue import Dialogue, Journal, Prepare, Terms
from hermes.app.plugins import Plugins
from hermes.app.services import Services, working_folder
from hermes.config import Config
from hermes.errors import HermesError, StoreError
from hermes.events import Notice
from hermes.messages import Message, Usage
from hermes.protocols import (
    ApprovalListener,
    Approver,
    Deadlines,
    Endpoint,
    Provider,
    ProviderTransport,
    Wire,
)
from hermes.providers.base import Choice
from hermes.store import Session, Store, new_session_id
from hermes.store.notebook import Notebook
from hermes.tools.base import Tool
from hermes.tools.toolbox import Toolbox, select
from hermes.tools.web.narrowing import narrowed

if TYPE_CHECKING:
    from hermes.app.mcp import Mcp


class Runtime:
    """Everything a run needs, made from one Config. Close it when done: it holds files and sockets.

    `approve` is asked before what needs a person's consent; without one the answer is no, unless `yes`
    gave it beforehand. `listeners` are told of every such question.
    """

    def __init__(
        self,
        config: Config,
        approve: Approver | None = None,
        *,
        yes: bool = False,
        listeners: Sequence[ApprovalListener] = (),
    ) -> None:
        self.config = config
        self.services = Services(config)
        self._approve = approve
        self._yes = yes
        self._listeners = listeners
        self.chooser = self.services.chooser
        self.hooks = self.services.hooks
        self._engines: dict[str, Wire] = {}
        self._tasks: dict[Task, ModelClient] = {}
        self._store: Store | None = None

    async def __aenter__(self) -> "Runtime":
        return self

    async def __aexit__(self, *_: object) -> None:
        for engine in self._engines.values():
            await engine.close()
        if self._store is not None:
            await self._store.close()
        if "plugins" in self.__dict__:
            self.plugins.note(self.notebook)
        if "mcp" in self.__dict__ and self.mcp is not None:
            await self.mcp.close()
        await self.services.close()

    @property
    def notebook(self) -> Notebook:
        """What earlier runs learned; opened on first use."""
        return self.services.notebook

    @cached_property
    def plugins(self) -> Plugins:
        """What enabled plugins brought; loaded with the first conversation."""
        plugins = Plugins(self.config, working_folder(), self.hooks, self.services.notices)
        for backend in plugins.web_backends:
            self.services.web_parts.backends.register(backend)
        self.services.web_parts.rerankers |= {each.name: each for each in plugins.rerankers}
        return plugins

    @cached_property
    def mcp(self) -> "Mcp | None":
        """The MCP servers of the settings; None where there are none."""
        if not self.config.mcp.servers:
            return None
        made: Mcp = discover.module("hermes.app.mcp").Mcp(
            self.config,
            self.services.clean_environment(),
            self.services.notices,
            None if self._approve is None else self._asking,
        )
        return made

    def added_tools(self) -> tuple[Tool, ...]:
        """The tools beside ours: those of plugins, and those of MCP servers that were agreed to."""
        brought = tuple(self.plugins.tools)
        taken = [tool.spec.name for tool in brought]
        return brought if self.mcp is None else (*brought, *self.mcp.tools(taken))

    def offered(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The toolsets of the settings, with those of plugins and of MCP servers."""
        own = self.plugins.offered(wanted)
        return own if self.mcp is None else self.mcp.offered(own)

    def known(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The names without the toolsets of MCP servers that bring no tool, such as new ones."""
        return tuple(wanted) if self.mcp is None else self.mcp.known(wanted)

    def store(self) -> Store:
        """The sessions; opened on first use, and then what is odd about them is noted."""
        if self._store is None:
            self._store = Store.open(os.path.join(self.config.home, "sessions.db"))
            self.services.notices.extend(Notice(notice) for notice in self._store.notices)
        return self._store

    def choose_model(self, wanted: str = "") -> Choice:
        """Who answers: the name asked for, or what the settings say."""
        return self.chooser.choose(wanted)

    def converse(self, terms: Terms) -> Dialogue:
        """A conversation on these terms: a new session, or the given one with its history."""
        endpoint = self.choose_model(terms.model).endpoint
        session = terms.session or _new_session(endpoint)
        store = self._open_store() if terms.kept else None
        journal = Journal(store, self.services.redact, self.services.notices)
        box = Toolbox(self._select(terms), self.services)
        means = self._means(terms, endpoint, box)
        has_memory = any(tool.name == prompt.MEMORY for tool in means.tools.specs())
        facts = self.services.memory.facts() if has_memory else ()
        conversation = Conversation(session.id, terms.history, journal, prompt.system(facts))
        lend = partial(
            self.plugins.lend,
            means=means,
            session_id=session.id,
            model=lambda name: self._fallback(name) if name else self._model(endpoint),
        )
        return Dialogue(
            session,
            conversation,
            means,
            journal,
            is_new=terms.session is None,
            sources=terms.sources,
            lend=lend,
            prepare=self._introducing(terms, box),
        )

    def _means(self, terms: Terms, endpoint: Endpoint, box: Toolbox) -> Means:
        settings, schema = self.config.agent, terms.output_schema
        chosen = self._model(endpoint)
        self.shorten_pages(chosen)
        is_priced = terms.priced or settings.max_cost is not None or endpoint.provider.engine is not None
        return Means(
            models=Models(chosen, self.config.model.fallback, self._fallback, self.notebook),
            auxiliary=Auxiliary(chosen, self._task_model),
            tools=box,
            guard=self._guard(terms.history),
            approvals=self._approvals(terms),
            limits=Limits(
                calls=terms.max_turns or settings.max_turns,
                tokens=settings.max_tokens,
                dollars=settings.max_cost,
                seconds=settings.max_seconds,
            ),
            expectation=None if schema is None else self.services.expectation(schema),
            price=self.price if is_priced else None,
            thresholds=Thresholds(**msgspec.structs.asdict(self.config.tool_loop_guardrails)),
            hooks=self.hooks,
            platform=terms.platform,
            spill=self._spill,
            verify_nudges=settings.max_verify_nudges,
            window=self._window,
            effort=terms.effort or self.config.model.effort,
            temperature=self.config.model.temperature if terms.temperature is None else terms.temperature,
            max_output_tokens=terms.max_output_tokens,
            theirs=terms.theirs,
            first_choice=terms.first_choice,
        )

    def _select(self, terms: Terms) -> tuple[Tool, ...]:
        """The tools to offer, but for those that whoever asks brings under the same name."""
        theirs = {tool.name for tool in terms.theirs}
        offered = select(self.known(self._wanted(terms)), self.added_tools())
        ours = (tool for tool in offered if tool.spec.name not in theirs)
        return tuple(narrowed(tool, terms.narrowed) for tool in ours)

    def _wanted(self, terms: Terms) -> tuple[str, ...]:
        """What the terms say, or what the settings say and whatever was brought."""
        return self.offered(self.config.agent.tools) if terms.tools is None else terms.tools

    def _introducing(self, terms: Terms, box: Toolbox) -> Prepare | None:
        """What has to be done before a question: a person has to look at MCP servers that are new."""
        if self.mcp is None:
            return None
        strangers = self.mcp.strangers(self._wanted(terms))
        return partial(self.mcp.introduce, strangers, box)

    def shorten_pages(self, chosen: ModelClient | None = None) -> None:
        """Let a model make long pages shorter where `web.compress` asks for it: its own, or the chosen one.

        A model without weights quotes what it is given, so it shortens nothing.
        """
        if not self.config.web.compress:
            return
        model = self._task_model("web") or chosen or self._model(self.choose_model().endpoint)
        if model.endpoint.provider.engine is None:
            auxiliary = Auxiliary(model)

            async def shorten(text: str, instruction: str) -> str:
                asked = Message(role="user", content=f"{instruction}\n\n<page>\n{text}\n</page>")
                reply = await auxiliary.complete(
                    "web",
                    (asked,),
                    emit=lambda _event: None,
                    ledger=Ledger(),
                    spend=spending.get(),
                )
                return reply.content or ""

            self.services.web_parts.compressor = shorten

    def _guard(self, history: Sequence[Message]) -> Guard:
        redact = self.services.redact
        guard = Guard(lambda text: redact(text) != text)
        guard.hear(history)
        return guard

    def _approvals(self, terms: Terms) -> Approvals:
        settings = self.config.approvals
        return Approvals(
            Policy(allow=settings.allow, deny=settings.deny, yes=self._yes, timeout=settings.timeout),
            self._approve,
            agreed=terms.agreed,
            remember=self._allow_for_good,
            listeners=(*self._listeners, ApprovalHooks(self.hooks, terms.platform)),
        )

    def _asking(self, remember: Callable[[str], None]) -> Approvals:
        """Who asks whether an MCP server may be used: nothing allows that beforehand."""
        policy = Policy(timeout=self.config.approvals.timeout)
        return Approvals(policy, self._approve, remember=remember, listeners=self._listeners)

    def _allow_for_good(self, text: str) -> None:
        """Keep what a person allows always; where that cannot be they are told, and the run goes on."""
        shown, problem, hint = self.services.redact(text), "it holds a key", None
        try:
            if shown == text:
                discover.module("hermes.config.edit").add_value(self.config.home, "approvals.allow", text)
                return
        except HermesError as error:
            problem, hint = str(error), error.hint
        self.services.notices.append(Notice(f"`{shown}` is allowed in this run only: {problem}", hint))

    def _spill(self, text: str) -> str:
        """Keep what is too long for a question in a file, and say where."""
        folder = os.path.join(self.config.home, "hook_outputs")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}.txt")
        with open(path, "w", encoding="utf-8", opener=_private) as file:
            file.write(self.services.redact(text))
        return path

    def _task_model(self, task: Task) -> ModelClient | None:
        """The model that is set for a task, made once."""
        name: str = getattr(self.config.auxiliary, task)
        if name and task not in self._tasks:
            self._tasks[task] = self._fallback(name)
        return self._tasks.get(task)

    def _open_store(self) -> Store | None:
        try:
            return self.store()
        except StoreError as error:
            self.services.notices.append(Notice(f"this session is not saved: {error}", error.hint))
            return None

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
        notebook = None if endpoint.provider.engine is not None else self.notebook
        silence = self.config.model.timeout
        deadlines = Deadlines(first_byte=silence, idle=silence, total=max(Deadlines().total, silence))
        wire = self.wire(endpoint.provider)
        return ModelClient(endpoint, transport, wire, notebook, hooks=self.hooks, deadlines=deadlines)

    def price(self, provider: str, model: str, usage: Usage) -> float | None:
        """What a call costs. A model in this process is free, and that needs no price list."""
        if provider in self._engines:
            return 0.0
        cost: float | None = discover.module("hermes.agent.cost").in_dollars(provider, model, usage)
        return cost

    def _window(self, provider: str, model: str) -> int | None:
        """A context window by the price list, for who tells none."""
        window: int | None = discover.module("hermes.agent.cost").facts(provider, model)[0]
        return window

    def _fallback(self, name: str) -> ModelClient:
        """A model to fall back on, with a key and an address of its own."""
        return self._model(self.chooser.choose_stand_in(name).endpoint)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


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
