"""Enabled plugins, run: what all of them registered, as one value."""

import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Literal

import msgspec

from hermes import discover
from hermes.config import Config, PluginEntry, PluginSettings
from hermes.errors import ConfigError, HermesError, PluginError
from hermes.hooks import HOOKS, HookHost, Registration
from hermes.plugins import discovery
from hermes.plugins.capabilities import held
from hermes.plugins.contents import content_hash
from hermes.plugins.context import CliCommand, Collected, Command, Context, Rights, Skill, Surroundings
from hermes.plugins.discovery import Found, Source
from hermes.plugins.enclosure import TookTooLong, enclosed
from hermes.plugins.lending import Lender
from hermes.plugins.skills import NAME, skill_tool
from hermes.protocols import Reranker
from hermes.tools.base import Tool

State = Literal["enabled", "disabled", "not enabled", "changed", "failed", "refused", "not loaded"]
NAMESPACE = "hermes_plugins"

_NOT_OURS = {
    "exclusive": "plugins of the kind `exclusive` are not loaded in this version",
    "model-provider": "model providers are not loaded as plugins; see `hermes models`",
    "platform": "plugins of the kind `platform` are not loaded in this version",
}


class PluginRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin that is there, and what became of it. `reason` says why it does not run."""

    key: str
    name: str
    source: Source
    state: State
    reason: str = ""
    version: str = ""
    description: str = ""
    kind: str = "standalone"
    path: str = ""
    capabilities: tuple[str, ...] | None = None
    """What it declares; None where it says nothing of that."""
    held: tuple[str, ...] = ()
    """What it may do."""
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """All that the enabled plugins registered. A tool of theirs stands in the place of ours of that name."""

    registrations: tuple[Registration, ...] = ()
    tools: tuple[Tool, ...] = ()
    commands: tuple[Command, ...] = ()
    cli_commands: tuple[CliCommand, ...] = ()
    skills: tuple[Skill, ...] = ()
    web_backends: tuple[Any, ...] = ()
    rerankers: tuple[Reranker, ...] = ()
    plugins: tuple[PluginRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    """What a person should know: which plugin could not be loaded, and why."""
    details: tuple[str, ...] = ()
    """What became of each plugin, and where those that failed did: lines for whoever looks for a fault."""
    lender: Lender = msgspec.field(default_factory=Lender)
    """Lend a run to it, and plugins can ask models and call tools."""


def found_plugins(config: Config, folder: str) -> tuple[Found, ...]:
    """Every plugin there is for these settings and this working folder; none of them is run."""
    variables = {name: config.environment.lookup(name) for name in discovery.VARIABLES}
    return discovery.find(discovery.places(config.home, variables, folder))


def load_plugins(config: Config, folder: str) -> Loaded:
    """Run what is enabled. A plugin that fails leaves nothing behind, and keeps no other from loading."""
    loaded = load_found(found_plugins(config, folder), config)
    if discovery.is_true(config.environment.lookup("HERMES_PLUGINS_DEBUG")):
        return loaded
    return msgspec.structs.replace(loaded, details=())


def load_found(found: Iterable[Found], config: Config) -> Loaded:
    """The same for plugins that were found before."""
    loading = _Loading(config.plugins, Surroundings(home=config.home, redact=config.redactor()))
    records = tuple(loading.take(one) for one in found)
    everything = loading.collected
    return Loaded(
        registrations=tuple(everything.registrations),
        tools=_tools(everything),
        commands=tuple(everything.commands.values()),
        cli_commands=tuple(everything.cli_commands.values()),
        skills=tuple(everything.skills.values()),
        web_backends=tuple(everything.web_backends),
        rerankers=tuple(everything.rerankers),
        plugins=records,
        warnings=tuple(everything.warnings),
        details=tuple(loading.details),
        lender=loading.lender,
    )


def _tools(everything: Collected) -> tuple[Tool, ...]:
    """The tools of plugins, and the one that reads their skills where there are any."""
    own, skills = everything.tools, tuple(everything.skills.values())
    reads = (skill_tool(skills),) if skills and NAME not in own else ()
    return (*own.values(), *reads)


class _Loading:
    """Plugins taken one after the other, each with all that it registers or nothing."""

    def __init__(self, settings: PluginSettings, around: Surroundings) -> None:
        self._around = around
        self.collected = Collected()
        self.lender = Lender()
        self.details: list[str] = []
        self._settings = settings
        self._heard: list[str] = []
        self._host = HookHost(warn=self._heard.append)  # finds out which callbacks do not go together

    def take(self, found: Found) -> PluginRecord:
        state, reason = standing(found, self._settings)
        record = record_of(found, state, reason, rights(found, self._settings))
        if state == "enabled" and self._settings.mode != "off":
            record = self._run(found, record)
        why = f": {record.reason}" if record.reason else ""
        self.details.append(f"the plugin `{found.key}` ({found.source}) is {record.state}{why}")
        if record.state in ("failed", "changed"):
            self.collected.warnings.append(f"the plugin `{found.key}` is not loaded: {record.reason}")
        return record

    def _run(self, found: Found, record: PluginRecord) -> PluginRecord:
        own = rights(found, self._settings)
        context = Context(
            found.key, found.manifest, own, self.lender, others=self.collected, around=self._around
        )
        self._heard.clear()
        try:
            run(found, context, self._settings.timeout)
            self._host.add(context.collected.registrations)
        except HermesError as error:
            discover.forget(f"{NAMESPACE}.{discovery.slug(found.key)}")
            self.details += "".join(traceback.format_exception(error)).splitlines()
            return msgspec.structs.replace(record, state="failed", reason=str(error))
        self.collected.add(context.collected)
        return _counted(record, context.collected, self._heard)


def standing(found: Found, settings: PluginSettings) -> tuple[State, str]:
    """Whether the settings want a plugin to run, and if not, why."""
    if found.refused is not None:
        return "refused", found.refused
    if found.names & set(settings.disabled):
        return "disabled", "disabled via config"
    if found.manifest.kind in _NOT_OURS:
        return "not loaded", _NOT_OURS[found.manifest.kind]
    comes_by_itself = found.source == "bundled" and found.manifest.kind == "backend"
    if not found.names & set(settings.enabled) and not comes_by_itself:
        return "not enabled", f"not enabled in config (run `hermes plugins enable {found.key}`)"
    return _as_agreed(found, entry_of(found, settings).hash)


def _as_agreed(found: Found, agreed: str) -> tuple[State, str]:
    """Whether a plugin's files are still what was agreed to; what came with Hermes needs no agreement."""
    if not found.path or found.source == "bundled":
        return "enabled", ""
    try:
        now = content_hash(found.path)
    except PluginError as error:
        return "refused", str(error)
    if agreed and now != agreed:
        again = f"run `hermes plugins enable {found.key}` to agree to them"
        return "changed", f"its files have changed since it was enabled ({again})"
    return "enabled", ""


def entry_of(found: Found, settings: PluginSettings) -> PluginEntry:
    """What a person has settled about a plugin."""
    entries = settings.entries
    return entries.get(found.key) or entries.get(found.manifest.name) or PluginEntry()


def rights(found: Found, settings: PluginSettings) -> Rights:
    entry, is_bundled = entry_of(found, settings), found.source == "bundled"
    capabilities = held(found.manifest.capabilities, entry.granted, trusted=is_bundled)
    return Rights(capabilities=capabilities, entry=entry, is_bundled=is_bundled)


def record_of(found: Found, state: State, reason: str, rights: Rights) -> PluginRecord:
    manifest = found.manifest
    return PluginRecord(
        key=found.key,
        name=manifest.name,
        source=found.source,
        state=state,
        reason=reason,
        version=manifest.version,
        description=manifest.description,
        kind=manifest.kind,
        path=found.path,
        capabilities=manifest.capabilities,
        held=tuple(sorted(rights.capabilities)),
        warnings=manifest.warnings,
    )


def _counted(record: PluginRecord, collected: Collected, heard: Sequence[str]) -> PluginRecord:
    kinds = [registration.kind for registration in collected.registrations]
    return msgspec.structs.replace(
        record,
        tools=tuple(collected.tools),
        hooks=tuple(kind for kind in kinds if kind in HOOKS),
        middleware=tuple(kind for kind in kinds if kind not in HOOKS),
        commands=(*(f"/{name}" for name in collected.commands), *collected.cli_commands),
        warnings=(*record.warnings, *collected.warnings, *heard),
    )


def run(found: Found, context: Context, seconds: float) -> None:
    """Import a plugin and let it register. Whatever goes wrong in its code is one `PluginError`."""
    try:
        with enclosed(seconds):
            _register_function(found)(context)
    except (KeyboardInterrupt, PluginError):
        raise
    except ConfigError as error:
        raise PluginError(str(error), hint=error.hint) from error
    except BaseException as error:  # a stranger's code may raise anything, and must not end the program
        raise PluginError(_words(error)) from error


def _register_function(found: Found) -> Callable[[Context], None]:
    """The plugin's `register`, which it must have."""
    module = _module(found)
    register = getattr(module, "register", None) or (None if isinstance(module, ModuleType) else module)
    if not callable(register):
        raise PluginError("no register() function", hint="write `def register(ctx):` in its `__init__.py`")
    if inspect.iscoroutinefunction(register):
        raise PluginError("its register() is async", hint="make it a plain function")
    return register  # type: ignore[no-any-return]


def _module(found: Found) -> object:
    if found.target:
        return discover.offered(found.target)
    return discover.folder(found.path, f"{NAMESPACE}.{discovery.slug(found.key)}")


def _words(error: BaseException) -> str:
    if isinstance(error, HermesError | TookTooLong):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
