"""See which tools a model is offered, and what is missing for the others."""

from collections.abc import Sequence

import click
import msgspec

from hermes import discover
from hermes.app import Runtime
from hermes.cli import _complete
from hermes.cli._border import border
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.errors import UnknownName
from hermes.protocols import Effect
from hermes.tools.base import Tool
from hermes.tools.toolbox import ALL, Toolbox, select


class Row(msgspec.Struct, frozen=True):
    """One tool: what it does, whether the settings offer it, and what it lacks to be used."""

    toolset: str
    name: str
    description: str
    effect: Effect
    offered: bool
    lacks: str | None


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """See every tool with its toolset, whether the settings offer it, and what it lacks."""
    if context.invoked_subcommand is None:
        _list(as_json)


@command.command()
@click.argument("backend", required=False, shell_complete=_complete.backends)
@json_option
def setup(backend: str | None, as_json: bool) -> None:
    """Choose the web backend that searches and reads pages, and set what it needs.

    What is asked for may also come from standard input, one answer on a line. A blank answer keeps what
    is set, or takes the default.
    """
    web_setup = discover.module("hermes.cli._web_setup")  # loaded here because the list needs none of it
    written = web_setup.run(read_settings(), backend)
    if as_json:
        show_json({"backend": written})


def _list(as_json: bool) -> None:
    config = read_settings()
    runtime = Runtime(config)
    wanted = config.agent.tools
    rows = run_in_loop(_rows(runtime, wanted))
    for notice in runtime.services.notices:
        border().say(f"warning: {notice.message}")
    for server in runtime.mcp.strangers([ALL]) if runtime.mcp is not None else ():
        name = server.spec.name
        border().say(f"nobody has agreed to the MCP server `{name}`: see `hermes mcp trust {name}`")
    if as_json:
        show_json({"chosen": wanted, "tools": rows})
        return
    show_table(tool_table(rows))
    border().say(
        f"✓ is offered to a model: `agent.tools` is `{', '.join(wanted) or 'none'}`\n"
        "change it with `hermes config set agent.tools web,file`, or for one call with "
        "`hermes chat --tools web,file`"
    )


def _offered(wanted: Sequence[str], added: Sequence[Tool]) -> set[str]:
    """The tools that these names mean. A name that means nothing is said, and the list goes on."""
    offered: set[str] = set()
    for name in wanted:
        try:
            offered.update(tool.spec.name for tool in select([name], added))
        except UnknownName as error:
            border().say(f"warning: `agent.tools` names an {error}\nhint: {error.hint}")
    return offered


async def _rows(runtime: Runtime, wanted: Sequence[str]) -> list[Row]:
    async with runtime:
        added = runtime.added_tools()
        tools = select([ALL], added)
        offered = _offered(runtime.known(runtime.offered(wanted)), added)
        lacks = Toolbox(tools, runtime.services).why_not()
    rows = [
        Row(
            toolset=tool.toolset,
            name=tool.spec.name,
            description=tool.spec.description,
            effect=tool.effect,
            offered=tool.spec.name in offered,
            lacks=lacks.get(tool.spec.name),
        )
        for tool in tools
    ]
    return sorted(rows, key=lambda row: (not row.offered, row.toolset, row.name))


def tool_table(rows: Sequence[Row]) -> Table:
    """Every tool, and what it does or lacks."""
    columns = (Column(""), Column("toolset"), Column("tool"), Column("description", least=30))
    return Table(columns, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    if row.lacks:
        return ["✗", row.toolset, row.name, f"cannot be used: {row.lacks}"]
    first_sentence = row.description.partition(". ")[0]
    return ["✓" if row.offered else "·", row.toolset, row.name, first_sentence]
