"""The answer to a shell that completes a command line. It is quick, and silent when something is wrong."""

import os

import click
from click.shell_completion import ShellComplete, get_completion_class

VARIABLE = "_HERMES_COMPLETE"
"""By this variable a shell asks; its value names the shell."""


def script(cli: click.Command, shell: str) -> str:
    """What a shell runs to learn how `hermes` is completed."""
    # The class for bash would start a bash of its own to look at its version.
    return ShellComplete.source(_made(cli, shell))


def answer(cli: click.Command, asked: str) -> int:
    """Print what the begun word may become; what cannot be known is left out."""
    try:
        found = _made(cli, asked.removesuffix("_complete")).complete()
    except Exception:  # noqa: BLE001  # a shell would print it into the line that is being typed
        return 1
    os.write(1, f"{found}\n".encode(errors="replace") if found else b"")
    return 0


def _made(cli: click.Command, shell: str) -> ShellComplete:
    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(shell)
    return kind(cli, {}, "hermes", VARIABLE)
