"""The plugins: which are enabled, whether their files are those that were agreed to; none is run."""

from hermes.app.services import working_folder
from hermes.cli._checks import Finding, Found, Group, Scene, failed, ok, warning
from hermes.plugins.consent import hash_of
from hermes.plugins.discovery import Found as Plugin
from hermes.plugins.loading import found_plugins, standing

SHOWN_HASH = 12


async def _plugins(scene: Scene) -> Found:
    config = scene.runtime.config
    found = {one.key: one for one in found_plugins(config, working_folder())}
    judged = [(one, *standing(one, config.plugins)) for one in found.values()]
    enabled = ", ".join(_named(one) for one, state, _ in judged if state == "enabled")
    known = {name for one in found.values() for name in (*one.names, one.leaf)}
    wrong = [_told(one, state, reason) for one, state, reason in judged if state in ("changed", "refused")]
    gone = [
        warning(f"`{name}` is enabled and not there", f"run `hermes plugins disable {name}`")
        for name in config.plugins.enabled
        if name not in known
    ]
    count = f"{len(found)} found"
    return [ok(f"{count}, enabled: {enabled}" if enabled else f"{count}, none enabled"), *wrong, *gone]


def _named(plugin: Plugin) -> str:
    """A plugin with the beginning of what its files add up to; those of Hermes itself change with it."""
    digest = hash_of(plugin)[:SHOWN_HASH]
    return f"{plugin.key} ({digest})" if digest else plugin.key


def _told(plugin: Plugin, state: str, reason: str) -> Finding:
    if state == "changed":
        fix = f"read what changed, then run `hermes plugins enable {plugin.key}`"
        return failed(f"`{plugin.key}`: {reason}", fix)
    return warning(f"`{plugin.key}` is refused: {reason}", "see `hermes plugins list`")


GROUP = Group(title="plugins", place=7, checks={"plugins": _plugins})
