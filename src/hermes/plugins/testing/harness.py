"""A plugin, loaded, and calls of tools and models to put it through."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from hermes.config import PluginEntry
from hermes.errors import PluginError
from hermes.hooks import HookHost, Mode, Registration
from hermes.plugins.capabilities import CAPABILITIES
from hermes.plugins.context import Collected, Context, Rights, Surroundings
from hermes.plugins.discovery import Found, at
from hermes.plugins.lending import Lender
from hermes.plugins.loading import run
from hermes.plugins.manifest import Manifest
from hermes.plugins.testing import samples
from hermes.plugins.testing.contract import ContractBroken, broken_rules
from hermes.plugins.testing.scene import (
    Failure,
    Heard,
    LlmRun,
    Scene,
    ScriptedHost,
    ToolRun,
    watchers,
)
from hermes.protocols import Choice

T = TypeVar("T")


class Harness:
    """A plugin's `register`, run once; then calls to put it through.

    `settings` are the plugin's own; `granted` are its capabilities, all of them if not given.
    `answers` are what `ctx.llm` gets, one after the other; `home` is where its files are kept.
    """

    def __init__(
        self,
        register: Callable[[Any], None],
        *,
        key: str = "plugin",
        manifest: Manifest | None = None,
        mode: Mode = "full",
        settings: Mapping[str, Any] | None = None,
        granted: Sequence[str] = tuple(CAPABILITIES),
        answers: Sequence[str] = (),
        home: str = "",
        timeout: float = 5.0,
    ) -> None:
        rights = Rights(
            capabilities=frozenset({"observe", *granted}), entry=PluginEntry(settings=settings or {})
        )
        self._lender = Lender()
        self._context = Context(
            key,
            manifest or Manifest(name=key),
            rights,
            self._lender,
            others=Collected(),
            around=Surroundings(home=home),
        )
        self._mode: Mode = mode
        self._timeout = timeout
        self._answers = list(answers)
        register(self._context)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> "Harness":
        """The plugin in a folder, loaded as Hermes would; raises `PluginError` if it cannot be."""
        found = at(os.path.abspath(path), "user")
        if found.refused:
            raise PluginError(found.refused)
        options = {"key": found.key, "manifest": found.manifest, **options}
        return cls(lambda context: _load(found, context), **options)

    @property
    def registrations(self) -> tuple[Registration, ...]:
        return tuple(self._context.collected.registrations)

    @property
    def collected(self) -> Collected:
        """What the plugin registered: tools, commands, skills, warnings."""
        return self._context.collected

    def tool(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        *,
        result: Any = "ok",
        fail: Failure = None,
        approver: Choice | None = None,
        **ids: str,
    ) -> ToolRun:
        """Call a tool through the plugin. A tool that the plugin has is called itself.

        `result` is what any other tool gives, or a function of its arguments; `fail` is what it raises.
        `approver` is the answer of the person who is asked; without one nobody is there.
        """
        return self._play(ids, lambda scene: scene.tool(name, dict(args or {}), result, fail, approver))

    def llm(
        self,
        request: Mapping[str, Any] | None = None,
        *,
        response: Any = "ok",
        fail: Sequence[Failure] = (),
        **ids: str,
    ) -> LlmRun:
        """Call a model through the plugin. `fail` is what each attempt raises, None for one that succeeds."""
        body = dict(samples.REQUESTS[0] if request is None else request)
        return self._play(ids, lambda scene: scene.llm(body, response, list(fail)))

    def emit(self, hook: str, **payload: Any) -> list[Any]:
        """Call a hook with a payload as Hermes makes it, changed by yours; gives what was answered."""
        told = {**samples.hook(hook)[0], **payload}
        return self._play({}, lambda scene: scene.emit(hook, told))

    def assert_contract(self) -> None:
        """Put every callback through the corner cases of the contract; raises `ContractBroken`."""
        broken = _finished(self._judge())
        if broken:
            raise ContractBroken(
                "the plugin breaks the contract:\n" + "\n".join(f"- {line}" for line in broken)
            )

    async def _judge(self) -> list[str]:
        with self._lender.lend(ScriptedHost(self._answers)):
            return await broken_rules(self.registrations, self._timeout)

    def _play(self, ids: Mapping[str, str], act: Callable[[Scene], Coroutine[Any, Any, T]]) -> T:
        """A call in a host of its own, with a watcher behind the plugin's callbacks."""
        warnings: list[str] = []
        heard: list[Heard] = []
        host = HookHost(mode=self._mode, timeout=self._timeout, warn=warnings.append)
        host.add([*self.registrations, *watchers(heard)])
        scene = Scene(host, self.collected.tools, {**samples.IDS, **ids}, heard, warnings)

        async def play() -> T:
            with self._lender.lend(ScriptedHost(self._answers)):
                return await act(scene)

        try:
            return _finished(play())
        finally:
            host.close()


def _load(found: Found, context: Context) -> None:
    run(found, context, 30.0)


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, in a loop of its own; from async code, in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    box: list[Any] = []

    def finish() -> None:
        try:
            box.append((asyncio.run(work), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits
            box.append((None, error))

    thread = threading.Thread(target=finish)
    thread.start()
    thread.join()
    value, error = box[0]
    if error is not None:
        raise error
    finished: T = value
    return finished
