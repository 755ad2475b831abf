"""Which plugins there are, from four places, found without running any of them."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from hermes import discover
from hermes.errors import HermesError
from hermes.plugins import manifest
from hermes.plugins.manifest import Manifest

Source = Literal["bundled", "user", "project", "package"]

FOLDER = "plugins"
GROUP = "hermes_agent.plugins"
OWN_LOADERS = frozenset({"memory", "context_engine", "model-providers"})
"""Folders of bundled plugins that other parts load."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TRUE = frozenset({"1", "true", "yes", "on"})


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """Where plugins are looked for; an empty folder is none."""

    bundled: str = ""
    user: str = ""
    project: str = ""
    packages: bool = True


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A plugin that is there. `refused` says why it will not be used whatever the settings say."""

    key: str
    source: Source
    manifest: Manifest
    path: str = ""
    """Its folder; empty for one that an installed package offers."""
    target: str = ""
    """The `module:attribute` or module that a package offers."""
    refused: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """What it is called in the settings."""
        return frozenset({self.key, self.manifest.name})

    @property
    def leaf(self) -> str:
        return self.key.rpartition("/")[2]


def places(home: str, setting: Mapping[str, str | None], folder: str) -> Places:
    """The places for this home and working folder; `setting` holds the variables that move them."""
    if is_true(setting.get("HERMES_SAFE_MODE")):
        return Places(packages=False)
    wants_project = is_true(setting.get("HERMES_ENABLE_PROJECT_PLUGINS")) and folder
    return Places(
        bundled=setting.get("HERMES_BUNDLED_PLUGINS") or os.path.dirname(__file__),
        user=os.path.join(home, FOLDER),
        project=os.path.join(folder, ".hermes", FOLDER) if wants_project else "",
    )


VARIABLES = ("HERMES_SAFE_MODE", "HERMES_ENABLE_PROJECT_PLUGINS", "HERMES_BUNDLED_PLUGINS")
"""The variables that say where plugins are looked for."""


def is_true(text: str | None) -> bool:
    return (text or "").strip().lower() in _TRUE


def slug(key: str) -> str:
    """A key as a module's name."""
    return re.sub(r"\W", "_", key.replace("/", "__"))


def find(where: Places) -> tuple[Found, ...]:
    """Every plugin in the order in which it would be loaded; of one key the later place wins.

    A plugin that takes over a key keeps the place in the order that the key had.
    """
    winners: dict[str, Found] = {}
    claimed: dict[str, str] = {}
    for found in _all(where):
        judged = found if found.refused else _unless_taken(found, claimed)
        winners[judged.key if judged.refused is None else f"{judged.source} {judged.path}"] = judged
    return tuple(winners.values())


def _unless_taken(found: Found, claimed: dict[str, str]) -> Found:
    """The plugin, refused if its name could be mistaken for another's."""
    owner = claimed.setdefault(slug(found.key).casefold(), found.key)
    if owner == found.key:
        return found
    words = f"its name differs from that of `{owner}` by little more than case"
    return msgspec.structs.replace(found, refused=words)


def _all(where: Places) -> Iterator[Found]:
    yield from _scan(where.bundled, "bundled")
    yield from _scan(where.user, "user")
    yield from _scan(where.project, "project")
    if where.packages:
        for name, target in sorted(discover.entry_points(GROUP).items()):
            yield Found(
                key=name,
                source="package",
                manifest=Manifest(name=name),
                target=target,
                refused=bad_name(name),
            )


def _scan(folder: str, source: Source) -> Iterator[Found]:
    for name, path in _folders(folder):
        if source == "bundled" and name in OWN_LOADERS:
            continue
        if manifest.path_in(path):
            yield at(path, source, within=folder)
        else:
            for _, inner in _folders(path):
                if manifest.path_in(inner):
                    yield at(inner, source, within=folder, category=name)


def _folders(folder: str) -> list[tuple[str, str]]:
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    paths = ((name, os.path.join(folder, name)) for name in names if not name.startswith((".", "__")))
    return [(name, path) for name, path in paths if os.path.isdir(path)]


def at(path: str, source: Source, *, within: str = "", category: str = "") -> Found:
    """The plugin in one folder; with `within` it has to lie there."""
    name = os.path.basename(path)
    refused: str | None
    try:
        told = manifest.read(path)
    except HermesError as error:
        told, refused = Manifest(name=name), str(error)
    else:
        refused = bad_name(told.name) or bad_name(name) or (bad_name(category) if category else None)
    if within and not _lies_within(path, within):
        refused = "it is a link that leads out of the folder of plugins"
    key = f"{category}/{name}" if category else told.name
    return Found(key=key, source=source, manifest=told, path=path, refused=refused)


def _lies_within(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([real, root]) == root


def bad_name(name: str) -> str | None:
    """Why a name cannot be a plugin's: it would be one of a path, of a module, of a key in the settings."""
    if _NAME.fullmatch(name) and ".." not in name:
        return None
    return f"{name!a} cannot be a plugin's name: letters, digits, `-`, `_` and single dots can"
