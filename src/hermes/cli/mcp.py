"""Offer search, reading and answers over MCP, and decide which MCP servers the agent may use."""

import asyncio
import os
import signal
import sys
import time

import click
import msgspec

from hermes import discover
from hermes.app import Runtime
from hermes.app.mcp import Mcp
from hermes.cli._border import border, is_terminal
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.errors import NotConfigured, UsageError
from hermes.server import tokens
from hermes.server.hosts import LOOPBACK
from hermes.tools.mcp import telling
from hermes.tools.mcp.servers import Server


class Row(msgspec.Struct, frozen=True):
    """One server of the settings: what it is, whether its tools are offered, and which."""

    name: str
    who: str
    toolset: str
    state: str
    since: str
    digest: str
    tools: tuple[str, ...]


@click.group(invoke_without_command=True)
@click.option("--http", "over_http", is_flag=True, help="Listen for HTTP instead of standard input.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", default=8788, show_default=True, type=click.IntRange(0, 65535))
@click.pass_context
def command(context: click.Context, over_http: bool, host: str, port: int) -> None:
    """Serve MCP on standard input and output, or over HTTP: `web_search`, `web_extract`, `x_search`, `ask`.

    The commands below are about the other direction: MCP servers whose tools the agent uses.
    """
    if context.invoked_subcommand is not None:
        return
    if not discover.is_installed("mcp"):
        raise NotConfigured("MCP is not installed", hint='run `pip install "hermes[mcp]"`')
    if over_http:
        _serve_http(host, port)
    else:
        _serve_stdio()


def _serve_http(host: str, port: int) -> None:
    """The server of `hermes serve`, with the one path."""
    if host not in LOOPBACK:
        raise UsageError(
            f"`--host {host}` would open MCP to other machines",
            hint="`hermes serve` has it at `/mcp`, and takes `--host` with `--allow-host`",
        )
    config = read_settings()
    path = os.path.join(config.home, tokens.FILE)
    app = discover.module("hermes.server.app")
    services = app.open_services(config, path)
    running = discover.module("hermes.server.running")
    listening = running.bind(host, port)

    def say_where() -> None:
        border().say(
            f"speaking MCP at {running.address(listening)}/mcp; stop with Ctrl-C\n"
            f"clients send `Authorization: Bearer TOKEN` with the token in `{path}`"
        )

    endpoint = discover.load("hermes.server.endpoints", "mcp", "endpoint").ENDPOINT
    server = running.server(
        app.assemble(services, [endpoint]),
        services.runs,
        drain=config.server.drain_seconds,
        when_started=say_where,
    )
    run_in_loop(server.serve(sockets=[listening]))


def _serve_stdio() -> None:
    if is_terminal(sys.stdin):
        border().say("speaking MCP on standard input and output, one message a line; stop with Ctrl-C")
    runtime = Runtime(read_settings())
    border().keep_stdout()
    wire = border().stdout
    if wire is None or sys.stdin is None:
        raise UsageError("standard input or output is closed", hint="MCP needs both; or use `--http`")
    reading = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # no tool may read what a client says
    run_in_loop(_talk(runtime, reading, wire.fileno()))


async def _talk(runtime: Runtime, reading: int, writing: int) -> None:
    serve = discover.module("hermes.server.mcp.stdio").serve
    async with runtime:
        talk = asyncio.ensure_future(serve(runtime, reading, writing))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, talk.cancel)
        try:
            await asyncio.wait([talk])
        finally:
            talk.cancel()
            await asyncio.wait([talk])
        if not talk.cancelled():
            talk.result()


@command.command("list")
@json_option
def list_servers(as_json: bool) -> None:
    """List the MCP servers of the settings, and which of their tools are offered; none is started."""
    rows = [_row(server) for server in _servers().servers.values()]
    if as_json:
        show_json({"servers": rows})
        return
    if rows:
        columns = (Column(""), Column("toolset"), Column("state"), Column("server", 16), Column("tools", 16))
        show_table(Table(columns, [_cells(row) for row in rows]))
    border().say(
        "✓ is offered to a model; agree to one with `hermes mcp trust NAME`"
        if rows
        else "the settings name no MCP server; `mcp.servers.NAME` takes a `command` or a `url`"
    )


def _row(server: Server) -> Row:
    pin, kept = server.pin, server.kept
    state = "trusted" if pin is not None else "new" if kept is None else "changed"
    return Row(
        name=server.spec.name,
        who=server.spec.who,
        toolset=server.spec.toolset,
        state=state,
        since=time.strftime("%Y-%m-%d", time.localtime(pin.at)) if pin is not None else "",
        digest=pin.digest if pin is not None else "",
        tools=tuple(tool.name for tool in server.tools()),
    )


def _cells(row: Row) -> list[str]:
    mark = "✓" if row.state == "trusted" else "·"
    told = (
        ", ".join(row.tools) if row.state == "trusted" else f"not offered: see `hermes mcp trust {row.name}`"
    )
    return [mark, row.toolset, row.state, row.who, told]


@command.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Agree without being asked.")
@json_option
def trust(name: str, yes: bool, as_json: bool) -> int:
    """Look at the tools of an MCP server as they are now, and agree to them or not."""
    mcp = _servers()
    server = mcp.server(name)
    listing = run_in_loop(server.look())
    before = server.kept
    if before is not None and before.who == server.spec.who and before.digest == listing.digest:
        border().say(f"`{name}` is as it was when you agreed to it: {len(listing.tools)} tools")
        return _agreed(name, listing.digest, as_json=as_json)
    tell = border().say if as_json else border().show
    tell(f"{telling.describe(server.spec, listing, before)}\n")
    if before is not None:
        border().say(f"it is asked because {telling.why(server.spec, before)}")
    if not yes and not is_terminal(sys.stdin):
        raise UsageError(f"nobody is here to agree to `{name}`", hint=f"run `hermes mcp trust {name} --yes`")
    if not yes and not click.confirm("may a model be told of these tools and call them?", err=True):
        border().say("nothing was changed")
        return 1
    mcp.pins.put(name, mcp.pins.made(server.spec.who, listing))
    border().say(
        f"agreed to `{name}` as it is now ({listing.digest[:12]}); "
        f"take it back with `hermes mcp forget {name}`"
    )
    return _agreed(name, listing.digest, as_json=as_json)


def _agreed(name: str, digest: str, *, as_json: bool) -> int:
    if as_json:
        show_json({"name": name, "state": "trusted", "digest": digest})
    return 0


@command.command()
@click.argument("name")
@json_option
def forget(name: str, as_json: bool) -> int:
    """Take back what was agreed to of an MCP server: its tools are not offered any more."""
    is_done = _servers().pins.forget(name)
    if as_json:
        show_json({"name": name, "forgotten": is_done})
    border().say(f"`{name}` is not trusted any more" if is_done else f"nobody had agreed to `{name}`")
    return 0 if is_done else 1


def _servers() -> Mcp:
    config = read_settings()
    runtime = Runtime(config)
    return runtime.mcp or Mcp(config, {}, [], None)
