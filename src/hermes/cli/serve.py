"""Serve answers, search and pages to other programs."""

import os
from typing import TYPE_CHECKING

import click

from hermes import discover
from hermes.cli._border import border
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.config import Config
from hermes.errors import HermesError, NotConfigured, UsageError
from hermes.server import tokens
from hermes.server.hosts import LOOPBACK

if TYPE_CHECKING:
    from hermes.server.running import Listening
    from hermes.server.services import Services


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    default=8787,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port; 0 is any free one.",
)
@click.option("--token-file", default="", metavar="FILE", help="The tokens that callers may show.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name it is reached by; repeatable."
)
def command(host: str, port: int, token_file: str, hosts: tuple[str, ...]) -> int:
    """Answer over HTTP in the shapes of OpenAI and Sonar, to everybody who has the token."""
    if not (discover.is_installed("starlette") and discover.is_installed("uvicorn")):
        raise NotConfigured("the server is not installed", hint='run `pip install "hermes[server]"`')
    config = read_settings({"server.allow_hosts": list(hosts) or None})
    if host not in LOOPBACK:
        _warn_of_others(host, config)
    running = discover.module("hermes.server.running")
    with running.bind(host, port) as listening:
        run_in_loop(_serve(config, listening, token_file or os.path.join(config.home, tokens.FILE)))
    return 0


async def _serve(config: Config, listening: "Listening", token_file: str) -> None:
    _, made = tokens.read_or_make(token_file)
    served, running = map(discover.module, ("hermes.server.app", "hermes.server.running"))
    services: Services = served.open_services(config, token_file)
    server = running.server(
        served.assemble(services),
        services.runs,
        drain=config.server.drain_seconds,
        when_started=lambda: _say_where(running.address(listening), token_file, made),
    )
    await _say_who_answers(services)
    await server.serve(sockets=[listening])


def _say_where(address: str, token_file: str, made: str) -> None:
    border().say(f"serving at {address}; stop with Ctrl-C")
    border().say(
        f"open {address}/#token={made} (shown once; the token is kept in `{token_file}`)"
        if made
        else f"the token is in `{token_file}`"
    )


async def _say_who_answers(services: "Services") -> None:
    """Say what the model `hermes` stands for; that there is none yet is no reason not to serve."""
    runtime = services.runtime
    try:
        await runtime.chooser.look_around()
        choice = runtime.choose_model()
        services.prepare()
    except HermesError as error:
        border().say(f"warning: {error}" + (f"\nhint: {error.hint}" if error.hint else ""))
        return
    named = f"{choice.endpoint.provider.name}/{choice.endpoint.model}"
    backends = " and ".join(f"`{name}`" for name in runtime.services.web_names())
    border().say(f"the model `hermes` is `{named}` ({choice.reason}), searching with {backends}")
    for notice in runtime.services.notices:
        border().say(f"note: {notice.message}")
    runtime.services.notices.clear()


def _warn_of_others(host: str, config: Config) -> None:
    """Other machines may only come in when it is said under which name."""
    if not config.server.allow_hosts:
        raise UsageError(
            f"`--host {host}` opens the server to other machines",
            hint="say under which name they reach it with `--allow-host NAME`",
        )
    border().say(
        f"warning: `{host}` can be reached from other machines, and nothing is encrypted; "
        "put a server with TLS before it"
    )
