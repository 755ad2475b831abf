"""Questions to whoever is there."""

import sys

import click

from hermes.cli._border import is_terminal


def ask(words: str, *, hidden: bool = False) -> str:
    """An answer from a person, or the next line of standard input; blank where there is none."""
    if not is_terminal(sys.stdin):
        return sys.stdin.readline().strip() if sys.stdin is not None else ""
    try:
        asked: str = click.prompt(words, default="", show_default=False, hide_input=hidden, err=True)
    except click.Abort:
        click.echo(err=True)  # what is said next stands on a line of its own
        raise
    return asked.strip()


def says_yes(question: str, *, default: bool = False) -> bool:
    """Whether the answer is yes; a blank one is the default."""
    answer = ask(f"{question} [{'Y/n' if default else 'y/N'}]").lower()
    return default if not answer else answer in ("y", "yes")
