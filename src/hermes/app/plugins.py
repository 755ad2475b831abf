"""Enabled plugins as a part of a runtime: loaded where there are any, and lent what a run has."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from hermes import discover
from hermes.config import Config
from hermes.errors import HermesError, PluginError
from hermes.events import Notice
from hermes.hooks import HookHost
from hermes.protocols import Notebook, Reranker
from hermes.tools.base import Tool
from hermes.tools.toolbox import NONE

if TYPE_CHECKING:
    from hermes.plugins.context import Command
    from hermes.plugins.lending import Host
    from hermes.plugins.loading import Loaded

TOPIC = "plugins"
"""Where the notebook keeps what became of callbacks, by plugin."""

_THIRTY_DAYS = 30 * 24 * 3600.0


class Plugins:
    """What the enabled plugins brought into a runtime.

    `inbox` holds what they said in the user's place, None where nobody reads it.
    """

    def __init__(self, config: Config, folder: str, hooks: HookHost, notices: list[Notice]) -> None:
        self.inbox: deque[str] | None = None
        self._hooks = hooks
        self._loaded: Loaded | None = None
        if config.wants_plugins():
            loaded: Loaded = discover.module("hermes.plugins.loading").load_plugins(config, folder)
            hooks.add(loaded.registrations)
            notices.extend(Notice(words, hint="see `hermes plugins list`") for words in loaded.warnings)
            notices.extend(map(Notice, loaded.details))
            self._loaded = loaded

    @property
    def tools(self) -> Sequence[Tool]:
        return self._loaded.tools if self._loaded else ()

    @property
    def web_backends(self) -> Sequence[Any]:
        return self._loaded.web_backends if self._loaded else ()

    @property
    def rerankers(self) -> Sequence[Reranker]:
        return self._loaded.rerankers if self._loaded else ()

    @property
    def commands(self) -> Mapping[str, "Command"]:
        """The words with a slash that they offer in a conversation."""
        return {command.name: command for command in self._loaded.commands} if self._loaded else {}

    async def run_command(self, name: str, text: str) -> str | None:
        """Run one of these words, with the text after it; gives what is to be shown."""
        call = discover.module("hermes.plugins.tooling").called
        try:
            told = await call(self.commands[name].handler, text)
        except HermesError:
            raise
        except (Exception, SystemExit) as error:  # a plugin's own code may raise anything
            raise PluginError(f"`/{name}` failed: {type(error).__name__}: {error}") from error
        return None if told is None else str(told)

    def offered(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """The toolsets of the settings, with those of plugins; who wants no tool gets none of theirs."""
        own = () if NONE in wanted else dict.fromkeys(tool.toolset for tool in self.tools)
        return (*wanted, *own)

    @contextmanager
    def lend(self, **run: Any) -> Iterator[None]:
        """Within this, plugins can ask models and call tools; `run` is what `hermes.app.lent.Lent` takes."""
        if self._loaded is None:
            yield
            return
        host: Host = discover.module("hermes.app.lent").Lent(inbox=self.inbox, **run)
        with self._loaded.lender.lend(host):
            yield

    def note(self, notebook: Notebook) -> None:
        """Keep what became of the callbacks for `hermes plugins stats`."""
        tallies: dict[str, list[Any]] = {}
        for tally in self._hooks.stats() if self._loaded else ():
            tallies.setdefault(tally.plugin, []).append(msgspec.structs.asdict(tally))
        for plugin, rows in tallies.items():
            notebook.write(TOPIC, plugin, rows, _THIRTY_DAYS)
