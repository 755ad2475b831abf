"""A server as the settings name it."""

import shlex
from collections.abc import Callable, Mapping

import msgspec

PREFIX = "mcp-"
"""How the toolset of a server begins."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """A server to use: a program to start, or an address to connect to."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    timeout: int = 60
    tools: tuple[str, ...] | None = None
    """Which of its tools are offered; None for all."""
    environment: Callable[[], Mapping[str, str]] = dict
    """The variables that its program gets; raises `NotConfigured` where one is missing."""
    headers: Callable[[], Mapping[str, str]] = dict
    """The headers that its address gets; the same."""

    version: str = ""
    """Ours, as the server is told."""

    @property
    def toolset(self) -> str:
        return f"{PREFIX}{self.name}"

    @property
    def who(self) -> str:
        """What a consent is given to: the program with its arguments, or the address."""
        return self.url or shlex.join((self.command, *self.args))
