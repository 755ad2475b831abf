"""See, enable, check and begin plugins."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from hermes.app.plugins import TOPIC
from hermes.app.services import working_folder
from hermes.cli import _complete
from hermes.cli._border import border
from hermes.cli._json import json_option, show_json
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.config import Config
from hermes.config.edit import update
from hermes.errors import PluginError, UsageError
from hermes.hooks import HookHost
from hermes.hooks.host import Place
from hermes.plugins import consent, scaffold
from hermes.plugins.capabilities import CAPABILITIES, OVERRIDE_TOOLS
from hermes.plugins.consent import Consent
from hermes.plugins.discovery import FOLDER, Found, at
from hermes.plugins.loading import (
    Loaded,
    PluginRecord,
    entry_of,
    found_plugins,
    load_found,
    load_plugins,
    standing,
)
from hermes.store.notebook import Notebook

SHOWN_HASH = 12


class Row(msgspec.Struct, frozen=True):
    """One plugin: what it is, whether it runs, and why not."""

    key: str
    name: str
    version: str
    description: str
    source: str
    kind: str
    state: str
    reason: str
    path: str
    hash: str
    capabilities: tuple[str, ...] | None
    held: tuple[str, ...]
    tools: tuple[str, ...]
    hooks: tuple[str, ...]
    middleware: tuple[str, ...]
    commands: tuple[str, ...]
    warnings: tuple[str, ...]


@click.group()
def command() -> None:
    """See, enable, check and begin plugins. NAME is a key, a plugin's own name, or the end of a key."""


@command.command("list")
@json_option
def list_plugins(as_json: bool) -> None:
    """List the plugins there are; those that are enabled are loaded, no other is."""
    config = read_settings()
    found = found_plugins(config, working_folder())
    rows = [_row(one, record) for one, record in zip(found, load_found(found, config).plugins, strict=True)]
    if as_json:
        show_json({"mode": config.plugins.mode, "plugins": rows})
        return
    if not rows:
        border().say("there are no plugins; begin one with `hermes plugins new NAME`")
        return
    show_table(plugin_table(rows, is_on=config.plugins.mode != "off"))
    for row in rows:
        for warning in row.warnings:
            border().say(f"warning: {warning}")
    mode = "" if config.plugins.mode == "full" else f"; `plugins.mode` is `{config.plugins.mode}`"
    border().say(f"✓ is loaded; enable one with `hermes plugins enable NAME`{mode}")


def _row(found: Found, record: PluginRecord) -> Row:
    fields = {name: getattr(record, name) for name in Row.__struct_fields__ if hasattr(record, name)}
    return Row(**fields, hash=_hash(found))


def _hash(found: Found) -> str:
    try:
        return consent.hash_of(found)
    except PluginError:
        return ""


def plugin_table(rows: Sequence[Row], *, is_on: bool) -> Table:
    """Plugins with their state, and what they bring or lack."""
    columns = (
        Column(""),
        Column("plugin", least=12),
        Column("version"),
        Column("source"),
        Column("state"),
        Column("detail", least=24),
    )
    return Table(columns, [_cells(row, is_on=is_on) for row in rows])


def _cells(row: Row, *, is_on: bool) -> list[str]:
    mark = (
        "✓"
        if row.state == "enabled" and is_on
        else "✗"
        if row.state in ("failed", "changed", "refused")
        else "·"
    )
    parts = {
        "tools": row.tools,
        "hooks": row.hooks,
        "middleware": row.middleware,
        "commands": row.commands,
    }
    counted = ", ".join(f"{len(names)} {kind}" for kind, names in parts.items() if names)
    told = row.reason or counted or row.description
    return [mark, row.key, row.version, row.source, row.state, told]


@command.command()
@click.argument("name", shell_complete=_complete.plugins)
@click.option("--yes", is_flag=True, help="Grant what it asks for, without asking.")
@json_option
def enable(name: str, yes: bool, as_json: bool) -> None:
    """Enable a plugin from the next start on, and agree to its files as they are now."""
    config = read_settings()
    found = consent.resolve(name, found_plugins(config, working_folder()))
    state, reason = standing(found, config.plugins)
    entry = entry_of(found, config.plugins)
    if state in ("refused", "not loaded"):
        raise PluginError(
            f"the plugin `{found.key}` cannot be enabled: {reason}",
            hint=f"`hermes plugins check {found.key}` says what is wrong with it",
        )
    now = consent.hash_of(found)
    if state == "enabled" and entry.hash == now and not _lacks(found, entry.granted) and not yes:
        border().say(f"`{found.key}` is enabled already")
        _tell(found.key, "enabled", as_json)
        return
    if state == "changed":
        border().say(
            f"its files have changed: {entry.hash[:SHOWN_HASH]} was agreed to, now it is {now[:SHOWN_HASH]}"
        )
    agreed = _agreed(found, now, sure=yes)
    update(config.home, "plugins", consent.enabling(found, agreed))
    shown = f" as it is now ({now[:SHOWN_HASH]})" if now else ""
    border().say(f"enabled `{found.key}`{shown}; it runs from the next start on")
    _say_what_is_missing(found, config)
    _tell(found.key, "enabled", as_json)


def _tell(key: str, state: str, as_json: bool) -> None:
    if as_json:
        show_json({"plugin": key, "state": state})


def _lacks(found: Found, granted: tuple[str, ...] | None) -> bool:
    """Whether it asks for something that nobody has decided on."""
    return found.source != "bundled" and found.manifest.capabilities is not None and granted is None


def _agreed(found: Found, now: str, *, sure: bool) -> Consent:
    """Ask about what a plugin wants; what came with Hermes is not asked about."""
    if found.source == "bundled":
        return Consent()
    wanted = found.manifest.capabilities
    granted: tuple[str, ...] | None = None
    if wanted is not None:
        for capability in wanted:
            border().say(f"{capability}: it wants to {CAPABILITIES[capability]}")
        granted = wanted if not wanted or sure or _says_yes("may it do that?") else ()
    may_ask = wanted is None and not sure
    replaces = OVERRIDE_TOOLS in (granted or ()) or (may_ask and _says_yes("may it replace built-in tools?"))
    return Consent(hash=now, granted=granted, allow_tool_override=replaces)


def _says_yes(question: str) -> bool:
    """The answer of whoever is there; the end of input is a no."""
    border().say(f"{question} [y/N]")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    return answer.strip().lower() in ("y", "yes")


def _say_what_is_missing(found: Found, config: Config) -> None:
    for variable in found.manifest.requires_env:
        if config.environment.lookup(variable.name) is None:
            told = f" ({variable.description})" if variable.description else ""
            border().say(f"it needs `{variable.name}`{told}: run `hermes config set {variable.name}`")
    for setting in ("HERMES_PLUGINS_ENABLED", "HERMES_PLUGINS_DISABLED"):
        if config.environment.lookup(setting):
            border().say(f"warning: `{setting}` in the environment overrides it")
    if config.plugins.mode == "off":
        border().say("warning: `plugins.mode` is `off`, so no plugin runs")


@command.command()
@click.argument("name", shell_complete=_complete.plugins)
@json_option
def disable(name: str, as_json: bool) -> None:
    """Disable a plugin from the next start on."""
    config = read_settings()
    try:
        found = consent.resolve(name, found_plugins(config, working_folder()))
        key, aliases = found.key, {*found.names, found.leaf}
    except (PluginError, UsageError):
        if name not in config.plugins.enabled:  # one that is gone can still be taken off the list
            raise
        key, aliases = name, {name}
    update(config.home, "plugins", consent.disabling(key, aliases))
    border().say(f"disabled `{key}`; it runs no more from the next start on")
    _tell(key, "disabled", as_json)


@command.command()
@click.argument("target", metavar="PATH|NAME", shell_complete=_complete.plugins)
@json_option
def check(target: str, as_json: bool) -> int:
    """Look a plugin over and run its `register` once: manifest, signatures, names."""
    config = read_settings()
    found = _target(target, config)
    alone = msgspec.structs.replace(
        config.plugins, enabled=(found.key,), disabled=(), mode="full", entries={}
    )
    loaded = load_found([found], msgspec.structs.replace(config, plugins=alone))
    (record,) = loaded.plugins
    if as_json:
        show_json({"ok": record.state == "enabled", "plugin": _row(found, record)})
    else:
        _show_check(record, loaded)
    return 0 if record.state == "enabled" else 1


def _target(target: str, config: Config) -> Found:
    if os.path.isdir(target):
        return at(os.path.abspath(target), "user")
    return consent.resolve(target, found_plugins(config, working_folder()))


def _show_check(record: PluginRecord, loaded: Loaded) -> None:
    for warning in record.warnings:
        border().show(f"warning: {warning}\n")
    if record.state != "enabled":
        border().show(f"✗ {record.key}: {record.reason}\n")
        return
    for registration in loaded.registrations:
        border().show(f"  {registration.kind}  {_name(registration.callback)}\n")
    for tool in record.tools:
        border().show(f"  tool  {tool}\n")
    for name in record.commands:
        border().show(f"  command  {name}\n")
    border().show(f"✓ {record.key}: it registers without a fault\n")


def _name(callback: Any) -> str:
    return getattr(callback, "__name__", None) or type(callback).__name__


@command.command()
@click.argument("tool", required=False, default="")
@json_option
def trace(tool: str, as_json: bool) -> None:
    """Show which callbacks are called in which order, for a call of TOOL if one is named."""
    config = read_settings()
    loaded = load_plugins(config, working_folder())
    for warning in loaded.warnings:
        border().say(f"warning: {warning}")
    host = HookHost(mode=config.plugins.mode)
    host.add(loaded.registrations)
    places = host.explain({"tool_name": tool} if tool else {})
    if as_json:
        show_json({"tool": tool or None, "callbacks": places})
    elif places:
        show_table(trace_table(places))
    else:
        border().say("no enabled plugin has registered a callback; see `hermes plugins list`")
    host.close()


def trace_table(places: Sequence[Place]) -> Table:
    """Callbacks in the order they are called in."""
    columns = (Column("kind"), Column("plugin", least=10), Column("name", least=12), Column("note", least=16))
    return Table(columns, [_place(place) for place in places])


def _place(place: Place) -> list[str]:
    return [place.kind, place.plugin, place.name, f"passed over: {place.skipped}" if place.skipped else ""]


@command.command()
@json_option
def stats(as_json: bool) -> None:
    """Show what became of the callbacks in the last runs: calls, failures, times of their own."""
    notebook = Notebook(os.path.join(read_settings().home, "notes.db"))
    try:
        noted = notebook.entries(TOPIC)
    finally:
        notebook.close()
    rows = [row for tallies in noted.values() for row in tallies if isinstance(row, dict)]
    if as_json:
        show_json({"callbacks": rows})
    elif rows:
        show_table(stats_table(rows))
    else:
        border().say("no plugin has been called yet; enable one with `hermes plugins enable NAME`")


def stats_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What became of each callback, with times in milliseconds."""
    words = tuple(Column(name, least=8) for name in _COLUMNS[:3])
    numbers = tuple(Column(name, right=True) for name in _COLUMNS[3:])
    return Table((*words, *numbers), [_tally(row) for row in rows])


_COLUMNS = (
    "plugin",
    "kind",
    "name",
    "calls",
    "errors",
    "timeouts",
    "skips",
    "breaker",
    "p50",
    "p95",
    "longest",
)


def _tally(row: Mapping[str, Any]) -> list[str]:
    values = (row.get(column, "") for column in _COLUMNS)
    return [f"{value:.2f}" if isinstance(value, float) else str(value) for value in values]


@command.command()
@click.argument("name")
@click.option("--into", metavar="DIR", help="The folder to write it into; that of your plugins if not given.")
@json_option
def new(name: str, into: str | None, as_json: bool) -> None:
    """Write a new plugin with a test that passes."""
    folder = into or os.path.join(read_settings().home, FOLDER)
    path = scaffold.write(folder, name)
    if as_json:
        show_json({"plugin": name, "path": path})
    else:
        border().show(f"{path}\n")
    border().say(f"test it with `pytest {path}`; enable it with `hermes plugins enable {name}`")
