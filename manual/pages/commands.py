"""Every command with its arguments and options, as click knows them."""

from collections.abc import Iterator

import click

from hermes import discover
from hermes.cli._shell import hermes
from manual.table import code, table

NAME = "commands.md"
_LEAD = """# All commands and options

This page is made from the code. The page [Commands](../reference/commands.md) says how to use them.
"""


def text() -> str:
    sections = (
        section
        for name in discover.names("hermes.cli")
        for section in _sections(
            f"hermes {name.replace('_', '-')}", discover.load("hermes.cli", name, "command").command
        )
    )
    return "\n".join((_LEAD, *sections)).rstrip() + "\n"


def _sections(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path, parent=click.Context(hermes, info_name=""))
    usage = " ".join((path, *command.collect_usage_pieces(context)))
    parts = [f"## {path}\n", f"{_words(command)}\n", f"```text\n{usage}\n```\n"]
    rows = [row for parameter in command.get_params(context) if (row := _row(parameter, context))]
    parts.append(table(("argument or option", "what it is", "default"), rows))
    yield "\n".join(part for part in parts if part)
    if isinstance(command, click.Group):
        for name, child in sorted(command.commands.items()):
            yield from _sections(f"{path} {name}", child)


def _words(command: click.Command) -> str:
    return " ".join((command.help or "").replace("\b", "").split())


def _row(parameter: click.Parameter, context: click.Context) -> tuple[str, str, str] | None:
    if isinstance(parameter, click.Argument):
        return code(parameter.make_metavar(context)), "an argument", ""
    if not isinstance(parameter, click.Option) or parameter.hidden or "--help" in parameter.opts:
        return None
    names = ", ".join(map(code, (*parameter.opts, *parameter.secondary_opts)))
    takes = "" if parameter.is_flag or parameter.count else f" {code(_metavar(parameter, context))}"
    often = "; may be given several times" if parameter.multiple else ""
    words = f"{(parameter.help or '').rstrip('.')}{_range(parameter.type)}{often}"
    return f"{names}{takes}", words, _default(parameter)


def _metavar(option: click.Option, context: click.Context) -> str:
    return option.make_metavar(context).removesuffix(" RANGE")


def _range(kind: click.ParamType) -> str:
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    least = "" if kind.min is None else f", at least {kind.min}"
    return least if kind.max is None else f"{least}, at most {kind.max}"


def _default(option: click.Option) -> str:
    value = option.default
    is_told = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    return code(str(value)) if is_told and not option.is_flag else ""
