"""Print what a shell needs to complete commands, options and names."""

import click

from hermes import discover
from hermes.cli._border import border, is_terminal

PLACES = {
    "bash": 'add `eval "$(hermes completion bash)"` to `~/.bashrc`',
    "zsh": 'add `eval "$(hermes completion zsh)"` to `~/.zshrc`, after `compinit`',
    "fish": "run `hermes completion fish > ~/.config/fish/completions/hermes.fish`",
}


@click.command()
@click.argument("shell", type=click.Choice(tuple(PLACES)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script for SHELL, after which it completes commands, options, models, settings and sessions."""
    border().show(discover.module("hermes.cli._completion").script(context.find_root().command, shell))
    if is_terminal(border().stdout):
        border().say(f"to have it in every shell, {PLACES[shell]}")
