"""The border between a person and the program: commands found by name, errors told in words.

stdout carries the answer alone; everything else goes to stderr. Exit codes: 0 done, 1 failed,
2 usage or not configured, 130 interrupted.
"""

import os
import re
import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import click

from hermes import __version__, discover
from hermes.cli._border import Border, is_terminal
from hermes.cli._question import words_alone
from hermes.errors import HermesError, Interrupted, UsageError


class Commands(click.Group):
    """Commands are the files of this folder; a file is imported when its command is called.

    Those that plugins offer come after them.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(discover.names("hermes.cli"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command
        if cmd_name.replace("-", "_") in discover.names("hermes.cli"):
            command = discover.load("hermes.cli", cmd_name, "command").command
        else:
            command = discover.module("hermes.cli._plugin_commands").find(cmd_name, ctx.ensure_object(Border))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on there is something to keep
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(name)) for name in self.list_commands(ctx)])
        offered = discover.module("hermes.cli._plugin_commands").summaries(ctx.ensure_object(Border))
        if offered:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(offered)


def _summary(command: str) -> str:
    """A command's first docstring line, read without importing it."""
    path = os.path.join(os.path.dirname(__file__), f"{command}.py")
    with open(path, encoding="utf-8") as file:
        return file.readline().strip().strip('"')


@click.group(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="hermes %(version)s")
@click.pass_context
def hermes(context: click.Context) -> None:
    """Ask, search and read: any model, any search backend, with citations."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code."""
    border = Border()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a locale cannot write is no reason to fail
    try:
        arguments = arguments or words_alone(sys.stdin, is_shown=is_terminal(sys.stdout))
        # Not `hermes.main`: it would answer a closed stdout with exit code 1 before we see it.
        with hermes.make_context("hermes", list(arguments), obj=border) as context:
            result = hermes.invoke(context)
        if border.stdout is not None:
            border.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except HermesError as error:
        border.complain(error)
        return error.exit_code
    except click.ClickException as error:
        border.complain(_in_our_words(error, arguments))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        border.complain(Interrupted("interrupted"))
        return Interrupted.exit_code
    except BrokenPipeError:
        return _reader_left(border)
    except Exception as error:  # noqa: BLE001  # the shell's one border: a bug is told, not thrown at the user
        return _own_fault(error, border)
    finally:
        border.close()
    return result if isinstance(result, int) else 0


def _in_our_words(error: click.ClickException, arguments: Sequence[str]) -> HermesError:
    words = re.sub(r"'([^' ]+)'", r"`\1`", error.format_message().removesuffix("."))
    context = getattr(error, "ctx", None)
    command = context.command_path if context else " ".join(["hermes", *arguments[:1]])
    return UsageError(words[:1].lower() + words[1:], hint=f"see `{command} --help`")


def _own_fault(error: Exception, border: Border) -> int:
    if os.environ.get("HERMES_DEBUG"):
        raise error
    told = HermesError(
        f"something in Hermes broke: {type(error).__name__}: {error}",
        hint="set `HERMES_DEBUG=1` to see where, and report it",
    )
    border.complain(told)
    return told.exit_code


def _reader_left(border: Border) -> int:
    """The reader of our stdout is gone (`| head`): there is nobody to tell, and nothing failed."""
    if border.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), border.stdout.fileno())
    return 0
