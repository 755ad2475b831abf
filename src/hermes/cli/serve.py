"""Serve answers, search and pages to other programs."""

import os

import click

from hermes import discover
from hermes.cli._border import border
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.config import Config
from hermes.errors import NotConfigured, UsageError
from hermes.server import tokens

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", default=8787, show_default=True, type=click.IntRange(0, 65535))
@click.option("--token-file", default="", metavar="FILE", help="The tokens that callers may show.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name it is reached by; repeatable."
)
def command(host: str, port: int, token_file: str, hosts: tuple[str, ...]) -> int:
    """Answer over HTTP in the shapes of OpenAI and Sonar, to everybody who has the token."""
    if not (discover.is_installed("starlette") and discover.is_installed("uvicorn")):
        raise NotConfigured("the server is not installed", hint='run `pip install "hermes[server]"`')
    config = read_settings({"server.allow_hosts": list(hosts) or None})
    if host not in _LOOPBACK:
        _warn_of_others(host, config)
    path = token_file or os.path.join(config.home, tokens.FILE)
    _, made = tokens.read_or_make(path)
    served = discover.module("hermes.server.app")
    services = served.open_services(config, path)
    running = discover.module("hermes.server.running")
    listening = running.bind(host, port)
    _say_where(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}", path, made)
    server = running.server(served.assemble(services), services.runs, drain=config.server.drain_seconds)
    run_in_loop(server.serve(sockets=[listening]))
    return 0


def _say_where(address: str, path: str, made: str) -> None:
    border().say(f"serving at {address}; stop with Ctrl-C")
    border().say(
        f"open {address}/#token={made} (shown once; the token is kept in `{path}`)"
        if made
        else f"the token is in `{path}`"
    )


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
