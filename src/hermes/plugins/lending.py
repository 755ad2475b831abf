"""What a running agent lends to plugins: its models, its tools, its ear."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import msgspec

from hermes.errors import PluginError, UsageError
from hermes.protocols import ToolResult

T = TypeVar("T")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question of a plugin to a model. An empty provider or model is the conversation's own."""

    plugin: str
    messages: tuple[Mapping[str, Any], ...]
    provider: str = ""
    model: str = ""
    schema: Mapping[str, Any] | None = None
    """A JSON Schema that the answer must keep."""
    max_tokens: int | None = None
    temperature: float | None = None
    timeout: float | None = None
    purpose: str = ""


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered; `parsed` is the value in it when data was asked for, None if there is none."""

    text: str
    parsed: Any = None
    provider: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Mapping[str, int] = {}
    audit: Mapping[str, str] = {}


class Host(Protocol):
    """A run as a plugin may use it. Whoever runs an agent makes one and lends it for that time."""

    async def complete(self, asked: Asked) -> Completion:
        """Ask a model, through the middleware that every request goes through."""
        ...

    async def dispatch_tool(self, name: str, arguments: Mapping[str, Any], *, pipeline: bool) -> ToolResult:
        """Call a tool: as a model would, or past middleware, hooks and checks."""
        ...

    def inject_message(self, content: str, role: str) -> bool:
        """Say something in the conversation; False where nobody listens."""
        ...


class _Lent(msgspec.Struct, frozen=True, eq=False):
    host: Host
    loop: asyncio.AbstractEventLoop


class Lender:
    """Where plugins find the run that they are part of."""

    def __init__(self) -> None:
        self._here: ContextVar[_Lent | None] = ContextVar("lent", default=None)
        self._all: list[_Lent] = []

    @contextmanager
    def lend(self, host: Host) -> Iterator[None]:
        """Within this, in the running loop, plugins use this host; threads of their own do, too."""
        lent = _Lent(host, asyncio.get_running_loop())
        self._all.append(lent)
        token = self._here.set(lent)
        try:
            yield
        finally:
            self._here.reset(token)
            self._all.remove(lent)

    def host(self) -> Host | None:
        lent = self._lent()
        return lent.host if lent else None

    def wait(self, what: str, ask: Callable[[Host], Coroutine[Any, Any, T]]) -> T:
        """Ask the host from code that is not async, which runs in a thread of its own."""
        lent = self._needed(what)
        if _running_loop() is lent.loop:
            raise UsageError(
                f"`{what}` would wait for the loop it runs in",
                hint=f"in async code, `await` `a{what}` instead",
            )
        return asyncio.run_coroutine_threadsafe(ask(lent.host), lent.loop).result()

    async def ask(self, what: str, ask: Callable[[Host], Coroutine[Any, Any, T]]) -> T:
        """Ask the host from async code, in whatever loop that runs."""
        lent = self._needed(what)
        if _running_loop() is lent.loop:
            return await ask(lent.host)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(lent.host), lent.loop))

    def _needed(self, what: str) -> _Lent:
        lent = self._lent()
        if lent is None:
            raise PluginError(
                f"`{what}` needs a running conversation",
                hint="use it in a callback, a tool or a command, not while the plugin is loaded",
            )
        return lent

    def _lent(self) -> _Lent | None:
        return self._here.get() or (self._all[-1] if self._all else None)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
