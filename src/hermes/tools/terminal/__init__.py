"""The tool `terminal`.

words       a command read as a shell reads it
calls       the programs it would start
forbidden   what is never run
dangerous   what is asked about
gate        the verdict
shell       the process, its time and its end
output      what it prints, within bounds
"""

import os
from collections.abc import Mapping
from types import ModuleType
from typing import Annotated, Any, Protocol

import msgspec

from hermes import discover
from hermes.protocols import Concern, ToolResult
from hermes.tools.base import Param, as_json, failure, tool
from hermes.tools.places import Places
from hermes.tools.terminal.shell import Ran, run

DEFAULT_TIMEOUT = 60
LONGEST_TIMEOUT = 600

_NOBODY_LOOKS = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class Services(Protocol):
    @property
    def places(self) -> Places: ...

    def clean_environment(self) -> Mapping[str, str]: ...

    async def terminal_output(self, command: str, output: str, exit_code: int | None) -> str: ...


async def terminal(
    services: Services,
    command: Annotated[str, Param("The command, as typed at a shell prompt. It gets no input.")],
    timeout: Annotated[  # noqa: ASYNC109 - the name that models know
        int, Param("Seconds after which it is ended, at most 600.", minimum=1, maximum=LONGEST_TIMEOUT)
    ] = DEFAULT_TIMEOUT,
    workdir: Annotated[str, Param("The folder to run it in, relative to the working folder.")] = ".",
) -> ToolResult:
    """Run a shell command. Returns what it printed, its exit code and how long it took."""
    here = services.places.absolute(workdir)
    if "\0" in workdir or not os.path.isdir(here):
        return failure(f"there is no folder `{workdir}`")
    environment = {**services.clean_environment(), **_NOBODY_LOOKS}
    seconds = min(max(timeout, 1), LONGEST_TIMEOUT)
    try:
        ran = await run(command, folder=here, environment=environment, seconds=seconds)
    except (OSError, ValueError) as error:
        return failure(f"the shell could not start: {getattr(error, 'strerror', None) or error}")
    output = await services.terminal_output(command, ran.output, ran.exit_code)
    ran = msgspec.structs.replace(ran, output=output)
    verdict = _gate().judge(command, msgspec.structs.replace(services.places, here=here))
    return ToolResult(text=as_json(_told(ran, seconds)), trusted=not verdict.fetches)


def _gate() -> ModuleType:
    """Loaded on use: its rules are many patterns, and most runs never start a shell."""
    return discover.module("hermes.tools.terminal.gate")


def _concern(services: Services, arguments: Mapping[str, Any]) -> Concern:
    here = services.places.absolute(arguments.get("workdir", "."))
    found: Concern = _gate().concern(arguments["command"], services.places, here)
    return found


def _told(ran: Ran, allowed: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "output": ran.output,
        "exit_code": ran.exit_code,
        "seconds": ran.seconds,
        "timed_out": ran.timed_out,
    }
    if ran.timed_out:
        told["note"] = f"it took longer than {allowed} seconds and was ended with all that it started"
    elif ran.runs_on:
        told["note"] = "the shell has ended; a program it started in the background runs on"
    return told


def _missing(services: Services) -> str | None:
    if not os.path.exists("/bin/sh"):
        return "there is no shell here"
    return None if services.places.folder else "the working folder is gone"


TOOL = tool(terminal, toolset="terminal", effect="changes", missing=_missing, concern=_concern)
