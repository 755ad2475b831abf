"""Search and reading as the settings say: who serves, with which memory, behind which gate."""

import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hermes import discover
from hermes.config import Config, Origin, Secret
from hermes.events import Notice
from hermes.protocols import Compressor, Notebook, Query, Reranker, SearchRow, WebBackend
from hermes.providers.base import Keys, address
from hermes.tools.web.addresses import Admit, Gate
from hermes.tools.web.backends.base import Option, Services, texts
from hermes.tools.web.blocklist import Blocklist
from hermes.tools.web.budget import PageArchive
from hermes.tools.web.connecting import Connector
from hermes.tools.web.debug import DebugLog
from hermes.tools.web.kernel import WebKernel, today
from hermes.tools.web.options import given
from hermes.tools.web.select import Backends, Capability, Chosen, Preferences, Selector

if TYPE_CHECKING:
    from hermes.tools.web.cache import Cache, KeptPages

BLOCKLIST = "security.website_blocklist"
LONGEST_KEPT = 1440
"""Minutes that an answer may be kept."""
PAGES_KEPT = 7 * 86_400.0
"""Seconds that a page is kept to ask its server only for changes."""


class Web:
    """The web of one configuration.

    `services` is what backends may use, `notices` is told what is odd, `admit` judges where an address leads.
    """

    def __init__(
        self, config: Config, services: Services, notebook: Notebook, notices: list[Notice], *, admit: Admit
    ) -> None:
        self.backends = Backends(config.home)
        self.compressor: Compressor | None = None
        self.rerankers: dict[str, Reranker] = {}
        self._config = config
        self._services = services
        self._notebook = notebook
        self._notices = notices
        self._admit = admit

    def choice(self, capability: Capability) -> Chosen:
        """Which backends serve; raises `NotConfigured` or `UnknownName` when the settings cannot be kept."""
        web = self._config.web
        own = web.search_backend if capability == "search" else web.extract_backend
        source = self._config.origins.get(f"web.{capability}_backend", Origin("default")).source
        wanted = Preferences(
            own=own,
            shared=web.backend,
            failover=web.failover,
            federate=web.federate,
            alone=source == "flag",
        )
        return self._selector.choose(capability, wanted)

    def admit_key(self, name: str, url: str, own: str) -> None:
        """Let the key of a variable or a setting go to an address; raises `NotConfigured` otherwise."""
        keys = self._keys(name)
        if keys is not None and keys.are_stored:
            hosts = (address.host(own),) if own else ()
            discover.module("hermes.app.key_hosts").admit(keys, url, hosts, self._notebook, None)

    def bind(self, name: str) -> None:
        """Take the stored key of a variable or a setting as entered for where it would go now."""
        keys = self._keys(name)
        for backend in self.backends.all() if keys is not None and keys.are_stored else ():
            if not any(_holds(option, name) for option in backend.options):
                continue
            place = next((each for each in backend.options if each.name == backend.sent_to), None)
            url = place and (given(place, self._services) or place.default)
            if keys is not None and url:
                discover.module("hermes.app.key_hosts").bind(keys, str(url), self._notebook)

    def _keys(self, name: str) -> Keys | None:
        stored = ("file", ".env")
        if name.startswith("web."):
            value = self._config.option(name)
            source = self._config.origins.get(name, Origin("file")).source
            return Keys(name, (value,), source in stored) if isinstance(value, Secret) else None
        value = self._services.secret(name)
        origin = self._config.environment.origin(name)
        return Keys(name, (value,), origin in stored) if value is not None else None

    @cached_property
    def kernel(self) -> WebKernel:
        redact = self._services.redact
        return WebKernel(
            lambda: self._searcher,
            lambda: self._reader,
            archive=PageArchive(os.path.join(self._config.home, "cache", "web")),
            char_limit=self._config.web.extract_char_limit,
            gate=Gate(lambda text: redact(text) != text, self.blocked_sites, self._admit),
            compressor=self.compressor,
            reorder=self._reordered if self._config.web.rerank or self._config.web.federate else None,
            log=self.log.note if self.log.is_on else None,
        )

    async def _reordered(
        self, query: Query, rows: Sequence[SearchRow]
    ) -> tuple[list[SearchRow], tuple[str, ...]]:
        """The rows in the order that `web.rerank` wants; unasked, only those of several backends move."""
        reranking = discover.module("hermes.tools.web.reranking")
        unasked = reranking.LEXICAL if self.choice("search").how == "federate" else reranking.OFF
        name = self._config.web.rerank or unasked
        if name == reranking.OFF:
            return list(rows), ()
        made: tuple[list[SearchRow], tuple[str, ...]] = await reranking.reordered(
            query, rows, name, self.rerankers
        )
        return made

    @cached_property
    def log(self) -> DebugLog:
        enabled = (self._services.setting("WEB_TOOLS_DEBUG") or "").lower() == "true"
        return DebugLog(self._config.home, enabled=enabled, now=_now, redact=self._services.redact)

    @cached_property
    def blocked_sites(self) -> Blocklist:
        """The rules of `security.website_blocklist`, each with the place it stands in."""
        held = self._config.option(BLOCKLIST)
        if held is None:
            return Blocklist()
        if not isinstance(held, Mapping):
            self._notices.append(Notice(f"`{BLOCKLIST}` is not a mapping: no site is blocked"))
            return Blocklist()
        if str(held.get("enabled", True)).lower() in ("false", "no", "off"):
            return Blocklist()
        files = texts(held.get("shared_files"))
        places = {path: os.path.join(self._config.home, os.path.expanduser(path)) for path in files}
        return Blocklist(texts(held.get("domains")), places)

    @cached_property
    def kept_pages(self) -> "KeptPages | None":
        """What the reader fetched before; None where nothing is kept."""
        made: KeptPages | None = None
        if self._pages is not None:
            made = discover.module("hermes.tools.web.cache").KeptPages(
                self._pages, self._config.web.cache_exempt_hosts
            )
        return made

    def close(self) -> None:
        for name in ("_cache", "_pages"):
            held: Cache | None = self.__dict__.get(name)
            if held is not None:
                held.close()

    @cached_property
    def _selector(self) -> Selector:
        return Selector(self.backends, self._services)

    @cached_property
    def _searcher(self) -> WebBackend:
        return self._connect("search")

    @cached_property
    def _reader(self) -> WebBackend:
        return self._connect("extract")

    def _connect(self, capability: Capability) -> WebBackend:
        chosen = self.choice(capability)
        if chosen.warning:
            self._notices.append(Notice(chosen.warning))
        connector = Connector(
            services=self._services,
            notebook=lambda: self._notebook,
            remember=self._remember,
            today=today,
            on_empty=self._config.web.failover_on_empty,
            patience=self._config.web.federate_patience,
        )
        return connector.connect(chosen)

    def _remember(self, backend: WebBackend, identity: str) -> WebBackend:
        made: WebBackend = discover.module("hermes.tools.web.cache").Cached(
            backend, self._cache, identity, self._config.web.cache_exempt_hosts
        )
        return made

    @cached_property
    def _cache(self) -> "Cache | None":
        return self._open("web.db", min(self._config.web.cache_ttl_minutes, LONGEST_KEPT) * 60)

    @cached_property
    def _pages(self) -> "Cache | None":
        return self._open("pages.db", PAGES_KEPT)

    def _open(self, name: str, seconds: float) -> "Cache | None":
        if not self._config.web.cache_enabled:
            return None
        path = os.path.join(self._config.home, "cache", name)
        made: Cache = discover.module("hermes.tools.web.cache").Cache(path, seconds, time.time)
        return made


def _holds(option: Option, name: str) -> bool:
    """Whether a key of this name is the option, or in the mapping that it is."""
    setting = f"web.{option.setting}"
    if option.secret:
        return name in (*option.env, setting)
    return isinstance(option.default, Mapping) and name.startswith(f"{setting}.")


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
