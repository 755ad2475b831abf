"""Which plugin a name means, and what enabling or disabling one writes into the settings."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from hermes.config import keys
from hermes.errors import PluginError, UnknownName, UsageError
from hermes.plugins.contents import content_hash
from hermes.plugins.discovery import Found, bad_name

Section = dict[str, Any]
Change = Callable[[Section], Section]


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """What a person agreed to: these files, these capabilities, and whether tools may be replaced."""

    hash: str = ""
    granted: tuple[str, ...] | None = None
    allow_tool_override: bool = False


def resolve(name: str, found: Sequence[Found]) -> Found:
    """The plugin that a key, a manifest's name or the last part of a key means.

    Raises `UsageError` for a name of none or of several, and `PluginError` for that of a refused one.
    """
    matches = [one for one in found if one.key == name and one.refused is None]
    matches = matches or [one for one in found if name in one.names and one.refused is None]
    matches = matches or [one for one in found if one.leaf == name and one.refused is None]
    if len(matches) == 1:
        return matches[0]
    if matches:
        several = " and ".join(f"`{one.key}`" for one in matches)
        raise UsageError(f"`{name}` can mean {several}", hint="name one of them by its whole key")
    for one in found:
        if name in (*one.names, one.leaf) and one.refused is not None:
            raise PluginError(f"the plugin `{name}` is refused: {one.refused}")
    wrong = next((words for part in name.split("/") if (words := bad_name(part))), None)
    if wrong:
        raise UsageError(wrong, hint="`hermes plugins list` shows the names there are")
    raise UnknownName("plugin", name, (one.key for one in found if one.refused is None))


def hash_of(found: Found) -> str:
    """What the files of a plugin are now; empty where an upgrade of Hermes or of a package changes them."""
    return content_hash(found.path) if found.path and found.source != "bundled" else ""


def enabling(found: Found, consent: Consent) -> Change:
    """The change of the settings that enables a plugin on these terms."""

    def change(section: Section) -> Section:
        enabled = {*_names(section, "enabled")} - found.names | {found.key}
        disabled = {*_names(section, "disabled")} - found.names - {found.leaf}
        changed = section | {"enabled": sorted(enabled)}
        if "disabled" in section:
            changed["disabled"] = sorted(disabled)
        return _with_entry(changed, found.key, _entry(consent))

    return change


def disabling(key: str, aliases: Collection[str]) -> Change:
    """The change of the settings that disables a plugin, which may not be there any more."""

    def change(section: Section) -> Section:
        enabled = sorted({*_names(section, "enabled")} - {key, *aliases})
        disabled = sorted({*_names(section, "disabled"), key})
        return section | {"enabled": enabled, "disabled": disabled}

    return change


def _entry(consent: Consent) -> Section:
    entry: Section = {"hash": consent.hash} if consent.hash else {}
    if consent.granted is not None:
        entry["granted"] = sorted(consent.granted)
    if consent.allow_tool_override:
        entry["allow_tool_override"] = True
    return entry


def _with_entry(section: Section, key: str, entry: Mapping[str, Any]) -> Section:
    """The section with what was agreed on now; what a person wrote beside it stays."""
    entries = dict(section.get("entries") or {})
    before = {name: value for name, value in (entries.get(key) or {}).items() if name not in _SETTLED}
    if before or entry:
        entries[key] = {**before, **entry}
    else:
        entries.pop(key, None)
    return section | {"entries": entries} if entries or "entries" in section else section


_SETTLED = ("hash", "granted", "allow_tool_override")


def _names(section: Section, name: str) -> tuple[str, ...]:
    value = section.get(name)
    names = () if value is None else keys.find(f"plugins.{name}").parse(value, f"`plugins.{name}`")
    return names if isinstance(names, tuple) else ()
