"""Commands that plugins offer: `hermes NAME`, with arguments by argparse.

`hermes --help` comes through here, so what only a plugin needs is loaded where there is one.
"""

import inspect
import os
from collections.abc import Sequence
from typing import Any

import click

from hermes import discover
from hermes.cli._border import Border
from hermes.config import load
from hermes.errors import ConfigError, UnknownName, nearest


def find(name: str, border: Border) -> click.Command:
    """The command of this name that an enabled plugin offers; raises `UnknownName`."""
    commands = {offered.name: offered for offered in _offered(border)}
    if name not in commands:
        known = {*commands, *discover.names("hermes.cli")}
        hint = None if nearest(name, known) else "`hermes --help` lists the commands"
        raise UnknownName("command", name, known, hint=hint)
    return _command(commands[name])


def summaries(border: Border) -> list[tuple[str, str]]:
    """Every command that enabled plugins offer, with what it does in a line."""
    return sorted((offered.name, offered.help or "") for offered in _offered(border))


def _offered(border: Border) -> Sequence[Any]:
    try:
        config = load(os.environ)
    except ConfigError:  # whoever called a command of ours is told by that
        return ()
    if not config.wants_plugins():
        return ()
    border.redact = config.redactor()
    folder = discover.module("hermes.app.services").working_folder()
    loaded = discover.module("hermes.plugins.loading").load_plugins(config, folder)
    for warning in loaded.warnings:
        border.say(f"warning: {warning}")
    for line in loaded.details:
        border.say(line)
    commands: Sequence[Any] = loaded.cli_commands
    return commands


def _command(offered: Any) -> click.Command:
    """The command as click runs it: its words go to the plugin's own parser."""

    def run(words: tuple[str, ...]) -> int:
        parser = discover.module("argparse").ArgumentParser(
            prog=f"hermes {offered.name}", description=offered.description or offered.help
        )
        offered.setup(parser)
        try:
            given = parser.parse_args(list(words))
        except SystemExit as leave:
            return leave.code if isinstance(leave.code, int) else 2
        handler = offered.handler or getattr(given, "func", None)
        if handler is None:
            parser.print_help()
            return 0
        return _exit_code(handler(given))

    return click.Command(
        offered.name,
        callback=run,
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    )


def _exit_code(result: Any) -> int:
    if inspect.iscoroutine(result):
        result = discover.module("hermes.cli._loop").run_in_loop(result)
    return result if isinstance(result, int) and not isinstance(result, bool) else 0
