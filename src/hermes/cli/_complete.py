"""Values that a shell completes. They come from files: no server is asked, and no plugin is run."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from hermes import discover
from hermes.cli._border import one_line, visible
from hermes.config.loading import find_home

MOST_SESSIONS = 50

Completer = Callable[[click.Context, click.Parameter, str], list[Any]]


def providers(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Providers by name."""
    return _items(begun, _registry().names())


def models(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Providers, and the models of the only one that is left."""
    registry = _registry()
    prefix = begun.partition("/")[0]
    names = [name for name in registry.names() if name.startswith(prefix)]
    if "/" in begun:
        names = [name for name in names if name == prefix]
    if len(names) != 1:
        return _items(begun, names)
    return _items(begun, (f"{names[0]}/{model}" for model in _models_of(registry, names[0])))


def _models_of(registry: Any, name: str) -> Iterable[str]:
    """The models that its file names, and those that its server listed lately."""
    notes = discover.module("hermes.store.notebook").Notebook(os.path.join(_home(), "notes.db"))
    try:
        noted = [rows for key, rows in notes.entries("models").items() if key.startswith(f"{name} ")]
    finally:
        notes.close()
    listed = (row["id"] for rows in noted for row in rows if isinstance(row, dict) and "id" in row)
    return dict.fromkeys((*registry.load(name).models, *listed))


def backends(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Web backends by name."""
    return _items(begun, discover.module("hermes.tools.web.select").Backends(_home()).names())


def tools(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Toolsets and tools, also behind a comma."""
    toolbox = discover.module("hermes.tools.toolbox")
    known = toolbox.toolsets()
    before, comma, last = begun.rpartition(",")
    names = sorted({toolbox.ALL, toolbox.NONE, *known, *known.values()})
    return _items(begun, (f"{before}{comma}{name}" for name in names if name.startswith(last)))


def settings(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Settings by their dotted names."""
    return _items(begun, discover.module("hermes.config.keys").KEYS)


def values(context: click.Context, parameter: click.Parameter, begun: str) -> list[Any]:
    """What the setting that is named before may be set to."""
    completer = _VALUES.get(context.params.get("key", ""))
    return completer(context, parameter, begun) if completer else []


_VALUES: Mapping[str, Completer] = {
    "model.provider": providers,
    "model.default": models,
    "model.fallback": models,
    "web.backend": backends,
    "web.search_backend": backends,
    "web.extract_backend": backends,
    "agent.tools": tools,
}


def sessions(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """The ids of the sessions used last, with their titles."""
    file = os.path.join(_home(), "sessions.db")
    if not os.path.exists(file):
        return []
    loop = discover.module("hermes.cli._loop")
    found = loop.run_in_loop(_listed(discover.module("hermes.store").Store.open(file)))
    return _items(begun, {session.id: session.title for session in found})


async def _listed(store: Any) -> Any:
    try:
        return await store.list(MOST_SESSIONS)
    finally:
        await store.close()


def plugins(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[Any]:
    """Plugins by key, with what they do."""
    config = discover.module("hermes.config").load(os.environ)
    folder = discover.module("hermes.app.services").working_folder()
    found = discover.module("hermes.plugins.loading").found_plugins(config, folder)
    return _items(begun, {one.key: one.manifest.description for one in found if one.refused is None})


def _items(begun: str, known: Iterable[str]) -> list[Any]:
    """Those that go on as begun; a mapping also says what each is."""
    item = discover.module("click.shell_completion").CompletionItem
    told = known if isinstance(known, Mapping) else {}
    return [
        item(name, help=visible(one_line(str(told[name]), 60)) if isinstance(told.get(name), str) else None)
        for name in known
        if name.startswith(begun)
    ]


def _home() -> str:
    return find_home(os.environ)


def _registry() -> Any:
    return discover.module("hermes.providers.base").Registry(_home())
