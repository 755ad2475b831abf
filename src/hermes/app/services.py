"""What tools and web backends may use, made from settings when first asked for."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from hermes import __version__, discover
from hermes.app.choosing import Chooser
from hermes.app.web import Web
from hermes.config import Config
from hermes.errors import ConfigError, UsageError
from hermes.events import Notice
from hermes.hooks import HookHost
from hermes.protocols import DocumentReader, Expectation, PageFetcher, Revealable, Wire, current_call
from hermes.store.notebook import Notebook
from hermes.tools.places import Places
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.select import CAPABILITIES
from hermes.tools.x_search.account import Account, Terms, open_account

if TYPE_CHECKING:
    from hermes.index import Index
    from hermes.net.guard import Guard
    from hermes.net.retry import RetryPolicy
    from hermes.tools.memory.facts import Memory
    from hermes.tools.web.backends.base import Sent


class Services:
    """What tools and web backends may use; each part is made when first asked for.

    `folder` is where local tools work: the working directory if not given, empty if that is gone.
    """

    def __init__(self, config: Config, *, folder: str | None = None) -> None:
        self._config = config
        self.redact = config.redactor()
        self.folder = os.path.realpath(folder) if folder is not None else working_folder()
        self.notices: list[Notice] = []
        plugins = config.plugins
        self.hooks = HookHost(
            mode=plugins.mode,
            timeout=plugins.timeout,
            warn=self._warn,
            redact=self.redact,
            fence=_ending_forks,
        )
        self.chooser = Chooser(config, lambda: self.notebook, self.wire)
        self._wires: dict[RetryPolicy | None, Wire] = {}
        self.sent: list[Sent] | None = None
        """What was sent to web backends; kept where somebody put a list here."""

    def _warn(self, text: str) -> None:
        self.notices.append(Notice(text, hint="`hermes plugins stats` shows how plugins fare"))

    async def terminal_output(self, command: str, output: str, exit_code: int | None) -> str:
        """What a command printed, as the first plugin that wants another text gives it."""
        heard = await self.hooks.emit(
            "transform_terminal_output",
            lambda: {
                "command": command,
                "output": output,
                "returncode": exit_code,
                **msgspec.structs.asdict(current_call.get()),
                "env_type": "local",
            },
        )
        return next((answer.value for answer in heard if isinstance(answer.value, str)), output)

    @cached_property
    def places(self) -> Places:
        home = os.path.realpath(os.path.expanduser("~"))
        return Places(folder=self.folder, home=home, own=os.path.realpath(self._config.home))

    def clean_environment(self) -> dict[str, str]:
        """The environment for programs that tools start: without any secret."""
        return self._config.environment.without_secrets(self.redact)

    @cached_property
    def memory(self) -> "Memory":
        # Loaded here because most runs do not offer the tool.
        made: Memory = discover.module("hermes.tools.memory.facts").Memory(
            os.path.join(self._config.home, "memory.md"), self.redact
        )
        return made

    @cached_property
    def _index(self) -> "Index":
        # Loaded here because not every question is searched for.
        home = discover.module("hermes.index")
        index: Index = home.Index.open(os.path.join(self._config.home, "index.db"), home.manual_folder())
        self.notices.extend(Notice(notice) for notice in index.notices)
        return index

    def index(self) -> "Index":
        return self._index

    def setting(self, name: str) -> str | None:
        return self._config.environment.lookup(name)

    def secret(self, name: str) -> Revealable | None:
        found = self._config.environment.secret(name)
        return found.split()[0] if found and found.split() else None

    def option(self, path: str) -> Any:
        return self._config.option(f"web.{path}")

    def admit_key(self, name: str, url: str, own: str) -> None:
        self.web_parts.admit_key(name, url, own)

    def web_names(self) -> tuple[str, ...]:
        """Who searches and who reads, each once; what is wrong with a choice is told when it is used."""
        names: dict[str, None] = {}
        for capability in CAPABILITIES:
            with suppress(ConfigError, UsageError):
                names[self.web_parts.choice(capability).name] = None
        return tuple(names) or ("no backend",)

    @cached_property
    def notebook(self) -> Notebook:
        """What earlier runs learned; opened on first use."""
        return Notebook(os.path.join(self._config.home, "notes.db"))

    @cached_property
    def web_parts(self) -> Web:
        return Web(self._config, self, self.notebook, self.notices, admit=self._why_not)

    def _why_not(self, url: str) -> str | None:
        return self._guard.why_not(url)

    @cached_property
    def web(self) -> WebKernel:
        return self.web_parts.kernel

    def x_account(self) -> Account:
        """What X is searched with; raises `ConfigError` when something is missing for it."""
        return self._x_account

    @cached_property
    def _x_account(self) -> Account:
        settings = self._config.x_search
        terms = Terms(
            source=settings.credential_source,
            model=settings.model,
            effort=settings.reasoning_effort,
            seconds=settings.timeout_seconds,
            retries=settings.retries,
            patience=self._config.model.patience,
        )
        return open_account(terms, self.chooser.find_key)

    def expectation(self, schema: Mapping[str, Any]) -> Expectation:
        """What an answer must be to keep a JSON Schema; raises `UsageError` when it is none."""
        # Loaded on use: a validator is more than most questions need.
        made: Expectation = discover.module("hermes.agent.structured").SchemaExpectation(schema)
        return made

    def wire(self, policy: "RetryPolicy | None" = None) -> Wire:
        """The way to any server; with a policy, one that tries again as the policy says."""
        if policy not in self._wires:
            # Loaded here because a run without a server never needs it, and it costs more than all else.
            retry = policy or discover.module("hermes.net.retry").RetryPolicy(
                patience=self._config.model.patience
            )
            client = discover.module("hermes.net.client").Client
            self._wires[policy] = client(user_agent=f"hermes/{__version__}", retry=retry)
        return self._wires[policy]

    def fetcher(self) -> PageFetcher:
        return self._pages

    @cached_property
    def _pages(self) -> PageFetcher:
        retry = discover.module("hermes.net.retry").RetryPolicy(attempts=2)
        client = discover.module("hermes.net.client").Client(
            user_agent=f"hermes/{__version__}", retry=retry, guard=self._guard
        )
        fetcher = discover.module("hermes.net.fetch").Fetcher
        pages: PageFetcher = fetcher(
            client, cache=self.web_parts.kept_pages, heeds_robots=self._config.web.robots
        )
        return pages

    @cached_property
    def _guard(self) -> "Guard":
        security = self._config.security
        try:
            opened = tuple(map(discover.module("hermes.net.addresses").network, security.allow_networks))
        except ValueError as error:
            raise ConfigError(
                f"`security.allow_networks`: {error}", hint="write a network as `10.0.0.0/8` or `fd00::/8`"
            ) from None
        guard: Guard = discover.module("hermes.net.guard").Guard(
            opened=opened,
            private=security.allow_private_urls,
            may_leave_tls=security.allow_http_redirects,
            blocked=discover.module("hermes.tools.web.blocklist").Hosts(self.web_parts.blocked_sites),
        )
        return guard

    def reader(self) -> DocumentReader:
        return self._reading

    @cached_property
    def _reading(self) -> DocumentReader:
        pool: DocumentReader = discover.module("hermes.tools.web.reading.pool").ReadingPool()
        return pool

    async def close(self) -> None:
        self.hooks.close()
        for wire in self._wires.values():
            await wire.close()
        if "_reading" in self.__dict__:
            await self._reading.close()
        if "_pages" in self.__dict__:
            await self._pages.close()
        if "_index" in self.__dict__:
            self._index.close()
        if "web_parts" in self.__dict__:
            self.web_parts.close()
        if "notebook" in self.__dict__:
            self.notebook.close()


def _ending_forks() -> Callable[[], None]:
    """Ends a process that a callback of a plugin forked, because two of us would both go on."""
    process = os.getpid()

    def end_elsewhere() -> None:
        if os.getpid() != process:
            os._exit(0)

    return end_elsewhere


def working_folder() -> str:
    """Where we are, or empty when that folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
