"""The manifest `plugin.yaml`: what a plugin says of itself, read without running it."""

import os
from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from hermes import discover
from hermes.config import files
from hermes.config.tree import Node
from hermes.errors import PluginError
from hermes.plugins.capabilities import CAPABILITIES, SPELLINGS

NAMES = ("plugin.yaml", "plugin.yml")
Kind = Literal["standalone", "backend", "exclusive", "platform", "model-provider"]

_SNIFFED = 8192
_UNREAD = frozenset({"hooks", "optional_env", "label", "pip_dependencies"})


class Variable(msgspec.Struct, frozen=True):
    """A variable of the environment that a plugin needs."""

    name: str
    description: str = ""
    prompt: str = ""
    password: bool = False


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin says of itself. `capabilities` is None where it says nothing of them."""

    name: str
    version: str = ""
    description: str = ""
    author: str = ""
    kind: Kind = "standalone"
    requires_env: tuple[Variable, ...] = ()
    provides_tools: tuple[str, ...] = ()
    provides_hooks: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()
    """What is odd about the manifest, in words for a person."""


def path_in(folder: str) -> str | None:
    """Where a folder has its manifest, or None."""
    paths = (os.path.join(folder, name) for name in NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)


def read(folder: str) -> Manifest:
    """The manifest of a plugin's folder; raises `PluginError` for one that cannot be understood."""
    path = path_in(folder)
    found = files.read(path) if path else None
    if path is None or found is None:
        raise PluginError(f"`{folder}` has no `plugin.yaml`", hint="write one with the plugin's `name`")
    root: Node = discover.module("hermes.config.yaml_events").read(found.text, path)
    values = root.bare()
    if values is not None and not isinstance(values, dict):
        raise PluginError(f"`{path}` is not a mapping", hint="write `key: value` lines")
    return _manifest(values or {}, folder)


def _manifest(values: Mapping[str, Any], folder: str) -> Manifest:
    warnings = [f"`plugin.yaml` has an unknown key `{key}`" for key in sorted(_unknown(values))]
    fields = _Fields(values, warnings)
    return Manifest(
        name=fields.text("name") or os.path.basename(folder),
        version=fields.text("version"),
        description=fields.text("description"),
        author=fields.text("author"),
        kind=_kind(fields, folder),
        requires_env=fields.variables("requires_env"),
        provides_tools=fields.names("provides_tools"),
        provides_hooks=fields.names("provides_hooks"),
        capabilities=_capabilities(fields) if values.get("capabilities") is not None else None,
        warnings=tuple(warnings),
    )


def _unknown(values: Mapping[str, Any]) -> set[str]:
    return set(values) - set(Manifest.__struct_fields__) - _UNREAD | ({"warnings"} & set(values))


class _Fields:
    """The values of a manifest by type; what does not fit is left out and said."""

    def __init__(self, values: Mapping[str, Any], warnings: list[str]) -> None:
        self._values = values
        self.warnings = warnings

    def text(self, key: str) -> str:
        value = self._values.get(key)
        if isinstance(value, list | dict):
            self._complain(key, "text")
            return ""
        return "" if value is None else str(value).strip()

    def names(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key) or []
        if not isinstance(value, list):
            self._complain(key, "a list")
            return ()
        return tuple(str(item) for item in value if not isinstance(item, list | dict))

    def variables(self, key: str) -> tuple[Variable, ...]:
        value = self._values.get(key) or []
        if not isinstance(value, list):
            self._complain(key, "a list")
            return ()
        found: list[Variable] = []
        for item in value:
            try:
                given = item if isinstance(item, dict) else {"name": item}
                found.append(msgspec.convert(given, Variable))
            except msgspec.ValidationError:
                self._complain(key, "a list of names")
        return tuple(found)

    def _complain(self, key: str, wanted: str) -> None:
        self.warnings.append(f"`{key}` in `plugin.yaml` must be {wanted}; it is ignored")


def _kind(fields: _Fields, folder: str) -> Kind:
    said = fields.text("kind")
    for known in get_args(Kind):
        if said == known:
            kind: Kind = known
            return kind
    if said:
        fields.warnings.append(f"`kind: {said}` is not known; it is taken for `standalone`")
        return "standalone"
    return _sniffed(os.path.join(folder, "__init__.py"))


def _sniffed(path: str) -> Kind:
    """What kind of plugin it is by the words in its module, for manifests that do not say."""
    try:
        with open(path, "rb") as file:
            text = file.read(_SNIFFED)
    except OSError:
        return "standalone"
    if b"register_memory_provider" in text:
        return "exclusive"
    if b"register_provider" in text and b"ProviderProfile" in text:
        return "model-provider"
    return "standalone"


def _capabilities(fields: _Fields) -> tuple[str, ...]:
    found: list[str] = []
    for name in fields.names("capabilities"):
        known = SPELLINGS.get(name, name)
        if known in CAPABILITIES:
            found.append(known)
        else:
            fields.warnings.append(f"`{name}` in `plugin.yaml` is no capability; it is ignored")
    return tuple(dict.fromkeys(found))
