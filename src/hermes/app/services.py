"""What tools and web backends may use, made from settings when first asked for."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hermes import __version__, discover
from hermes.app.web import Web
from hermes.config import Config
from hermes.errors import ConfigError, UsageError
from hermes.events import Notice
from hermes.index import Index, manual_folder
from hermes.protocols import Approval, Approver, Revealable, Wire
from hermes.store.notebook import Notebook
from hermes.tools.memory.facts import Memory
from hermes.tools.places import Places
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.select import CAPABILITIES

if TYPE_CHECKING:
    from hermes.tools.web.backends.base import Sent


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
        self.sent: list[Sent] | None = None
        """What was sent to web backends; kept where somebody put a list here."""

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

    def secret(self, name: str) -> Revealable | None:
        found = self._config.environment.secret(name)
        return found.split()[0] if found and found.split() else None

    def option(self, path: str) -> Any:
        return self._config.option(f"web.{path}")

    def admit_key(self, name: str, url: str, own: str) -> None:
        self.web_parts.admit_key(name, url, own)

    @property
    def watch(self) -> "Callable[[Sent], None] | None":
        return None if self.sent is None else self.sent.append

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
        return Web(self._config, self, self.notebook, self.notices)

    @cached_property
    def web(self) -> WebKernel:
        return self.web_parts.kernel

    def wire(self) -> Wire:
        return self._sockets

    @cached_property
    def _sockets(self) -> Wire:
        # Loaded here because a run without a server never needs it, and it costs more than all else.
        policy = discover.module("hermes.net.retry").RetryPolicy(patience=self._config.model.patience)
        client = discover.module("hermes.net.client").Client
        wire: Wire = client(user_agent=f"hermes/{__version__}", retry=policy)
        return wire

    async def close(self) -> None:
        if "_sockets" in self.__dict__:
            await self._sockets.close()
        if "_index" in self.__dict__:
            self._index.close()
        if "web_parts" in self.__dict__:
            self.web_parts.close()
        if "notebook" in self.__dict__:
            self.notebook.close()


async def _nobody(wanted: Approval) -> bool:  # noqa: ARG001 - the name is the seam's
    return False


def working_folder() -> str:
    """Where we are, or empty when that folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
