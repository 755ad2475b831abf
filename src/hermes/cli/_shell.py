"""The border between a person and the program: commands found by name, errors told in words.

stdout carries the answer alone; everything else goes to stderr. Exit codes: 0 done, 1 failed,
2 usage or not configured, 130 interrupted.
"""

import errno
import gc
import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from hermes import __version__, discover
from hermes.cli._border import Border, is_terminal
from hermes.cli._letters import PLAINLY
from hermes.cli._question import words_alone
from hermes.cli._terminated import Terminated
from hermes.cli._width import USUAL, columns
from hermes.errors import HermesError, Interrupted, UnknownName, UsageError

_UNWRITABLE = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""How writing to stdout fails. Whoever writes a file of ours tells it as an error of the tree."""


class _Help(click.HelpFormatter):
    """Help whose left column leaves room for the right one on a narrow terminal too."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, self.width * 2 // 5), col_spacing)


click.Context.formatter_class = _Help  # of every command, whatever class it is of


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
        elif ctx.resilient_parsing:
            return None  # to complete a line no plugin is run
        else:
            command = discover.module("hermes.cli._plugin_commands").find(cmd_name, ctx.ensure_object(Border))
        gc.freeze()  # what was loaded stays, so nothing is looked for in it
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on there is something to keep
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands that begin so, without importing any, and the options."""
        item = discover.module("click.shell_completion").CompletionItem
        begun = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(item(name, help=_summary(name)) for name in begun), *options]

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
    """Run one command line, or complete one for a shell; returns the exit code."""
    if asked := os.environ.get("_HERMES_COMPLETE"):
        code: int = discover.module("hermes.cli._completion").answer(hermes, asked)
        return code
    return _run(arguments, Border())


def _run(arguments: Sequence[str], border: Border) -> int:
    _write_whatever_comes()
    try:
        arguments = arguments or words_alone(sys.stdin, is_shown=is_terminal(sys.stdout))
        # Not `hermes.main`: it would answer a closed stdout with exit code 1 before we see it.
        with hermes.make_context(
            "hermes", list(arguments), obj=border, terminal_width=_help_width()
        ) as context:
            result = hermes.invoke(context)
        if border.stdout is not None:
            border.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except HermesError as error:
        if isinstance(error, UsageError) and not error.hint:
            error.hint = f"see `{' '.join(['hermes', *arguments[:1]])} --help`"
        border.complain(error)
        return error.exit_code
    except NoArgsIsHelpError as error:
        border.say(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        border.complain(_in_our_words(error, arguments))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        border.complain(Interrupted("interrupted"))
        return Interrupted.exit_code
    except Terminated as end:
        border.complain(Interrupted("stopped by a signal"))
        return end.exit_code
    except OSError as error:
        return _write_failed(error, border) if error.errno in _UNWRITABLE else _own_fault(error, border)
    except Exception as error:  # noqa: BLE001  # the shell's one border: a bug is told, not thrown at the user
        return _own_fault(error, border)
    finally:
        border.close()
    return result if isinstance(result, int) else 0


def _write_whatever_comes() -> None:
    """What a locale cannot write is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAINLY)


def _help_width() -> int | None:
    """How wide help is, where the terminal is narrower than click takes any for."""
    width = columns(sys.stdout)
    return width - 1 if width < USUAL else None


def _in_our_words(error: click.ClickException, arguments: Sequence[str]) -> HermesError:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        return UnknownName("option", error.option_name, error.possibilities)
    if context and isinstance(context.command, click.Group) and hasattr(error, "command_name"):
        return UnknownName("command", error.command_name, context.command.commands)
    if isinstance(error, click.MissingParameter) and error.param and context:
        words = f"missing {error.param.param_type_name} `{error.param.make_metavar(context)}`"
    else:
        words = re.sub(r"'([^' ]+)'", r"`\1`", error.format_message().removesuffix("."))
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


def _write_failed(error: OSError, border: Border) -> int:
    """What was left to write is lost. To a reader that is gone (`| head`) that is no failure."""
    border.let_stdout_go()
    if isinstance(error, BrokenPipeError):
        return 0
    reason = (error.strerror or type(error).__name__).lower()
    told = HermesError(
        f"standard output cannot be written: {reason}", hint="make room there, or write to another place"
    )
    border.complain(told)
    return told.exit_code
