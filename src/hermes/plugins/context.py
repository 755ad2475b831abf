"""`ctx`: what a plugin is given to register itself with, and what it may use later."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from hermes import discover
from hermes.config import PluginEntry
from hermes.errors import NotAllowed, PluginError
from hermes.hooks import Breaker, Options, Registration
from hermes.plugins.capabilities import INJECT_MESSAGES, OVERRIDE_TOOLS, only_observes
from hermes.plugins.lending import Lender
from hermes.plugins.llm import PluginLlm
from hermes.plugins.manifest import Manifest
from hermes.plugins.tooling import Offer, as_tool, called, names_of
from hermes.protocols import Effect, Query, Reranker, SearchRow
from hermes.tools.base import Tool

Callback = Callable[..., Any]

_SKILL = re.compile(r"[A-Za-z0-9_-]+")


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A word with a slash in a conversation; `handler` takes what follows it as text."""

    plugin: str
    name: str
    handler: Callback
    description: str = ""
    args_hint: str = ""


class CliCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command `hermes NAME`: `setup` is given an argparse parser, `handler` what it parsed."""

    plugin: str
    name: str
    help: str
    setup: Callback
    handler: Callback | None = None
    description: str = ""


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A text for a model on how to do something."""

    plugin: str
    name: str
    path: str
    description: str = ""

    @property
    def address(self) -> str:
        return f"{self.plugin}:{self.name}"


class Ranking(msgspec.Struct, frozen=True):
    """A plugin's reranker; its `rank` may be async or not."""

    name: str
    score: Callback

    async def rank(self, query: Query, rows: Sequence[SearchRow]) -> Sequence[float]:
        given: Sequence[float] = await called(lambda asked: self.score(*asked), (query, rows))
        return given


class Collected:
    """What plugins registered, in the order they did. Their warnings are words for a person."""

    def __init__(self) -> None:
        self.registrations: list[Registration] = []
        self.tools: dict[str, Tool] = {}
        self.commands: dict[str, Command] = {}
        self.cli_commands: dict[str, CliCommand] = {}
        self.skills: dict[str, Skill] = {}
        self.web_backends: list[Any] = []
        self.rerankers: list[Reranker] = []
        self.warnings: list[str] = []

    def add(self, other: "Collected") -> None:
        """Take over all that another one holds."""
        self.registrations += other.registrations
        self.tools |= other.tools
        self.commands |= other.commands
        self.cli_commands |= other.cli_commands
        self.skills |= other.skills
        self.web_backends += other.web_backends
        self.rerankers += other.rerankers
        self.warnings += other.warnings


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin may do."""

    capabilities: frozenset[str]
    entry: PluginEntry = PluginEntry()
    is_bundled: bool = False

    @property
    def replaces_tools(self) -> bool:
        return self.is_bundled or self.entry.allow_tool_override or OVERRIDE_TOOLS in self.capabilities


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Where plugins run: the Hermes home, and a filter for every secret that the settings know."""

    home: str = ""
    redact: Callable[[str], str] = str


class Context:
    """One plugin's way into Hermes. What it registers counts once its `register` has returned."""

    profile_name = "default"

    def __init__(
        self,
        key: str,
        manifest: Manifest,
        rights: Rights,
        lender: Lender,
        *,
        others: Collected,
        around: Surroundings | None = None,
    ) -> None:
        self.key = key
        self.manifest = manifest
        self.llm = PluginLlm(key, rights.entry, rights.capabilities, lender)
        self.collected = Collected()
        self._rights = rights
        self._lender = lender
        self._others = others
        self._around = around or Surroundings()

    @property
    def settings(self) -> Mapping[str, Any]:
        """The plugin's own settings: `plugins.entries.KEY.settings` in config.yaml."""
        return self._rights.entry.settings

    @property
    def folder(self) -> str:
        """Where the plugin may keep files of its own; it is for the user alone, and made when asked for."""
        if not self._around.home:
            raise PluginError("nobody has said where plugins keep files", hint="give `home` to the harness")
        path = os.path.join(self._around.home, "plugin-data", *self.key.split("/"))
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def redact(self, text: str) -> str:
        """The text without the keys and passwords that the settings hold."""
        return self._around.redact(text)

    def has_capability(self, name: str) -> bool:
        return name in self._rights.capabilities

    def register_middleware(
        self,
        kind: str,
        callback: Callback,
        *,
        name: str | None = None,
        priority: int = 0,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        when: Any = None,
        on_error: Literal["open", "closed"] = "open",
        timeout: float | None = None,
        breaker: Breaker | Literal["default"] | None = "default",
        max_calls: int = 1,
        permissions: Sequence[str] | None = None,
    ) -> None:
        """Have a callback change or wrap what is done; `hermes.hooks.Options` says what the terms mean.

        `permissions=("observe",)` says that it only looks.
        """
        options = Options(
            name=name or "",
            priority=priority,
            before=_names(before),
            after=_names(after),
            when=when,
            on_error=on_error,
            timeout=timeout,
            breaker=Breaker() if breaker == "default" else breaker,
            max_calls=max_calls,
        )
        self._register(
            kind, callback, options, looks=permissions is not None and set(permissions) <= {"observe"}
        )

    def register_hook(
        self,
        name: str,
        callback: Callback,
        *,
        policy: bool = False,
        priority: int = 0,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        when: Any = None,
        timeout: float | None = None,
        breaker: Breaker | Literal["default"] | None = "default",
    ) -> None:
        """Have a callback told of what happens. With `policy` it decides, and its failure is a no."""
        options = Options(
            priority=priority,
            before=_names(before),
            after=_names(after),
            when=when,
            on_error="closed" if policy else "open",
            timeout=timeout,
            breaker=Breaker() if breaker == "default" else breaker,
            policy=policy,
        )
        self._register(name, callback, options)

    def _register(self, kind: str, callback: Callback, options: Options, *, looks: bool = False) -> None:
        _check(options)
        if not callable(callback):
            raise TypeError(f"the callback for `{kind}` is {type(callback).__name__}, which cannot be called")
        observes = looks or only_observes(kind, self._rights.capabilities)
        if observes and options.policy:
            raise NotAllowed(
                f"`{self.key}` may not decide in `{kind}`",
                hint=f"allow it with `hermes plugins enable {self.key}`",
            )
        self.collected.registrations.append(
            Registration(plugin=self.key, kind=kind, callback=callback, options=options, observes=observes)
        )

    def register_tool(
        self,
        name: str,
        toolset: str,
        schema: Mapping[str, Any],
        handler: Callback,
        check_fn: Callable[[], Any] | None = None,
        requires_env: Sequence[Any] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        override: bool = False,
        *,
        effect: Effect = "changes",
        trusted: bool = True,
    ) -> None:
        """Offer a tool. `handler(args)` gives text, or anything that JSON can hold; it may be async.

        A name that is taken is refused, unless `override` says that it is meant to be and the user allowed
        it. `effect="reads"` says that it leaves nothing behind, `trusted=False` that its words are a
        stranger's. `is_async` and `emoji` are taken and not needed.
        """
        owner = self._owner_of(name)
        if owner and not override:
            self._warn(f"the tool `{name}` is not registered: there is one already, of {owner}")
            return
        if owner and not self._rights.replaces_tools:
            raise NotAllowed(
                f"`{self.key}` may not replace the tool `{name}` of {owner}",
                hint=f"allow it with `hermes plugins enable {self.key}`",
            )
        self.collected.tools[name] = as_tool(
            Offer(
                name=name,
                toolset=toolset,
                schema=schema,
                handler=handler,
                check=check_fn,
                requires_env=names_of(requires_env),
                description=description,
                effect=effect,
                trusted=trusted,
            )
        )

    def _owner_of(self, name: str) -> str:
        """Whose tool has this name, in words; empty when nobody's."""
        if name in self._others.tools:
            return "another plugin"
        is_ours = name in discover.names("hermes.tools") and hasattr(
            discover.load("hermes.tools", name, "tool"), "TOOL"
        )
        return "Hermes" if is_ours else ""

    def register_command(
        self, name: str, handler: Callback, description: str = "", args_hint: str = ""
    ) -> None:
        """Offer a word with a slash in a conversation; `handler(text)` gives what is shown, or None."""
        word = "-".join(name.strip().lstrip("/").lower().split())
        if not word:
            self._warn("a command without a name is not registered")
        elif word in self._others.commands:
            self._warn(f"the command `/{word}` is not registered: there is one already")
        else:
            self.collected.commands[word] = Command(
                plugin=self.key, name=word, handler=handler, description=description, args_hint=args_hint
            )

    def register_cli_command(
        self,
        name: str,
        help: str,
        setup_fn: Callback,
        handler_fn: Callback | None = None,
        description: str = "",
    ) -> None:
        """Offer a command `hermes NAME`.

        `setup_fn(parser)` adds arguments to an argparse parser; `handler_fn(args)` runs the command, or what
        the parser has as its default `func` does.
        """
        if name in discover.names("hermes.cli") or name in self._others.cli_commands:
            self._warn(f"the command `hermes {name}` is not registered: there is one already")
            return
        self.collected.cli_commands[name] = CliCommand(
            plugin=self.key, name=name, help=help, setup=setup_fn, handler=handler_fn, description=description
        )

    def register_skill(self, name: str, path: str | os.PathLike[str], description: str = "") -> None:
        """Offer a skill, addressed as `PLUGIN:NAME`."""
        if not _SKILL.fullmatch(name):
            raise ValueError(f"`{name}` cannot be a skill's name: letters, digits, `-` and `_` can")
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no skill at `{os.fspath(path)}`")
        skill = Skill(plugin=self.key, name=name, path=os.fspath(path), description=description)
        self.collected.skills[skill.address] = skill

    def register_web_search_provider(self, provider: Any) -> None:
        """Offer a web backend: something with a `name` that can `search` or `extract`."""
        if not getattr(provider, "name", "") or not (
            hasattr(provider, "search") or hasattr(provider, "extract") or hasattr(provider, "connect")
        ):
            self._warn("what it registered as a web backend is none, and is ignored")
            return
        self.collected.web_backends.append(provider)

    def register_reranker(self, reranker: Any) -> None:
        """Offer a reranker: something with a `name` and `rank(query, rows)`, which gives a number per row."""
        name, rank = getattr(reranker, "name", ""), getattr(reranker, "rank", None)
        if not isinstance(name, str) or not name or not callable(rank):
            self._warn("what it registered as a reranker is none, and is ignored")
            return
        self.collected.rerankers.append(Ranking(name, rank))

    def dispatch_tool(
        self, tool_name: str, args: Mapping[str, Any], *, pipeline: bool = True, **_: Any
    ) -> str:
        """Call a tool as a model would; gives its text. `pipeline=False` goes past middleware and checks."""
        result = self._lender.wait(
            "dispatch_tool", lambda host: host.dispatch_tool(tool_name, args, pipeline=pipeline)
        )
        return result.text

    async def adispatch_tool(
        self, tool_name: str, args: Mapping[str, Any], *, pipeline: bool = True, **_: Any
    ) -> str:
        """The same for async code."""
        result = await self._lender.ask(
            "dispatch_tool", lambda host: host.dispatch_tool(tool_name, args, pipeline=pipeline)
        )
        return result.text

    def inject_message(self, content: str, role: str = "user") -> bool:
        """Say something in the conversation; False where there is none that listens."""
        if INJECT_MESSAGES not in self._rights.capabilities:
            raise NotAllowed(
                f"the plugin `{self.key}` may not speak in the user's place",
                hint=f"it needs the capability `{INJECT_MESSAGES}`, which `hermes plugins enable` grants",
            )
        host = self._lender.host()
        return host is not None and host.inject_message(content, role)

    def __getattr__(self, name: str) -> Callback:
        """What other systems let plugins register, and Hermes does not have: said, and passed over."""
        if not name.startswith("register_"):
            raise AttributeError(f"a plugin's context has no `{name}`")

        def ignore(*_: Any, **__: Any) -> None:
            self._warn(f"`ctx.{name}` is not there in this version of Hermes, and did nothing")

        return ignore

    def _warn(self, words: str) -> None:
        self.collected.warnings.append(f"the plugin `{self.key}`: {words}")


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _check(options: Options) -> None:
    """Raises for terms that nobody could keep; a plugin's author reads it."""
    when, limit = options.when, options.timeout
    checks = {
        "priority": isinstance(options.priority, int),
        "on_error": options.on_error in ("open", "closed"),
        "max_calls": isinstance(options.max_calls, int) and options.max_calls >= 1,
        "timeout": limit is None or (isinstance(limit, int | float) and limit > 0),
        "when": when is None or isinstance(when, Mapping) or callable(when),
        "breaker": options.breaker is None or isinstance(options.breaker, Breaker),
    }
    for name, is_right in checks.items():
        if not is_right:
            raise ValueError(f"`{name}` cannot be {getattr(options, name)!r}")
