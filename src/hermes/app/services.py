"""What tools and web backends may use, made from settings when first asked for."""

import os
from functools import cached_property
from typing import Any

from hermes import __version__, discover
from hermes.config import Config
from hermes.errors import ConfigError
from hermes.events import Notice
from hermes.index import Index, manual_folder
from hermes.protocols import Approval, Approver, DocumentReader, PageFetcher, WebBackend, Wire
from hermes.tools.memory.facts import Memory
from hermes.tools.places import Places
from hermes.tools.web.budget import PageArchive
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.routing import ByScheme
from hermes.tools.web.select import choose, load


class Services:
    """What tools and web backends may use; each part is made when first asked for.

    `folder` is where local tools work: the working directory if not given, empty if that is gone.
    `approve` is asked before what needs a person's consent; without one the answer is no.
    """

    def __init__(self, config: Config, *, folder: str | None = None, approve: Approver | None = None) -> None:
        self._config = config
        self.redact = config.redactor()
        self.folder = os.path.realpath(folder) if folder is not None else working_folder()
        self.approve: Approver = _nobody if approve is None else approve
        self.notices: list[Notice] = []

    @cached_property
    def places(self) -> Places:
        home = os.path.realpath(os.path.expanduser("~"))
        return Places(folder=self.folder, home=home, own=os.path.realpath(self._config.home))

    def clean_environment(self) -> dict[str, str]:
        """The environment for programs that tools start: without any secret."""
        return self._config.environment.without_secrets(self.redact)

    @cached_property
    def memory(self) -> Memory:
        return Memory(os.path.join(self._config.home, "memory.md"), self.redact)

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
            self._beside_local(choose("extract", self, own=web.extract_backend, shared=web.backend)),
            archive=PageArchive(os.path.join(self._config.home, "cache", "web")),
            char_limit=web.extract_char_limit,
        )

    def _beside_local(self, chosen: WebBackend) -> WebBackend:
        """Who reads pages, and beside it the local documents, which nobody else can read."""
        local = load("local").connect(self)
        return chosen if chosen.name == local.name else ByScheme(chosen, local)

    def wire(self) -> Wire:
        return self._sockets

    @cached_property
    def _sockets(self) -> Wire:
        # Loaded here because a run without a server never needs it, and it costs more than all else.
        policy = discover.module("hermes.net.retry").RetryPolicy(patience=self._config.model.patience)
        client = discover.module("hermes.net.client").Client
        wire: Wire = client(user_agent=f"hermes/{__version__}", retry=policy)
        return wire

    def fetcher(self) -> PageFetcher:
        return self._pages

    @cached_property
    def _pages(self) -> PageFetcher:
        retry = discover.module("hermes.net.retry").RetryPolicy(attempts=2)
        client = discover.module("hermes.net.client").Client(
            user_agent=f"hermes/{__version__}", retry=retry, guard=self._guard()
        )
        fetcher = discover.module("hermes.net.fetch").Fetcher
        pages: PageFetcher = fetcher(client, heeds_robots=self._config.web.robots)
        return pages

    def _guard(self) -> Any:
        security = self._config.security
        try:
            opened = tuple(map(discover.module("hermes.net.addresses").network, security.allow_networks))
        except ValueError as error:
            raise ConfigError(
                f"`security.allow_networks`: {error}", hint="write a network as `10.0.0.0/8` or `fd00::/8`"
            ) from None
        return discover.module("hermes.net.guard").Guard(
            opened=opened, private=security.allow_private_urls, may_leave_tls=security.allow_http_redirects
        )

    def reader(self) -> DocumentReader:
        return self._reading

    @cached_property
    def _reading(self) -> DocumentReader:
        pool: DocumentReader = discover.module("hermes.tools.web.reading.pool").ReadingPool()
        return pool

    async def close(self) -> None:
        if "_reading" in self.__dict__:
            await self._reading.close()
        if "_pages" in self.__dict__:
            await self._pages.close()
        if "_sockets" in self.__dict__:
            await self._sockets.close()
        if "_index" in self.__dict__:
            self._index.close()


async def _nobody(wanted: Approval) -> bool:  # noqa: ARG001 - the name is the seam's
    return False


def working_folder() -> str:
    """Where we are, or empty when that folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
