"""Check the installation, with a fix for whatever is wrong."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter

import click
import msgspec

from hermes import discover
from hermes.app import Runtime
from hermes.cli._border import border, is_terminal, visible
from hermes.cli._checks import Check, Finding, Group, Scene, Status
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._width import columns, wrapped
from hermes.config import Config, Environment, load
from hermes.config.loading import find_home
from hermes.errors import ConfigError, HermesError

FOLDER = "hermes.cli._checks"
LIMIT = 6.0
"""Seconds that each check has; they run at the same time."""
MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}
INDENT = "  "


class Row(msgspec.Struct, frozen=True):
    """One finding: what was looked at, how it is, and how to mend it."""

    group: str
    check: str
    status: Status
    detail: str
    fix: str | None = None


@click.command()
@click.option("--offline", is_flag=True, help="Do not contact any server.")
@json_option
def command(offline: bool, as_json: bool) -> int:
    """Look at every part Hermes needs and say how to mend what is wrong."""
    rows = run_in_loop(_examine(online=not offline))
    count = {status: sum(row.status == status for row in rows) for status in MARKS}
    if as_json:
        show_json({"ok": not count["failed"], "checks": rows})
    else:
        stream = border().stdout
        border().show(told(rows, columns(stream) if is_terminal(stream) else None))
        border().say(f"{len(rows)} checks: {count['failed']} failed, {count['warning']} with a warning")
    return 1 if count["failed"] else 0


async def _examine(*, online: bool) -> list[Row]:
    config, problem = _settings()
    border().redact = config.redactor()
    async with Runtime(config) as runtime:
        if online:
            with suppress(HermesError):  # what is wrong with the choice is told by the check of the model
                await runtime.chooser.look_around()
        scene = Scene(runtime, problem, online)
        found = await asyncio.gather(*(_look(group, scene) for group in _groups()))
    return [row for rows in found for row in rows]


def _settings() -> tuple[Config, ConfigError | None]:
    """The settings; where they cannot be read, those of nobody, so that the rest is still looked at."""
    try:
        return load(os.environ), None
    except ConfigError as error:
        return Config(home=find_home(os.environ), environment=Environment(os.environ)), error


def _groups() -> list[Group]:
    groups: list[Group] = [discover.load(FOLDER, name, "check").GROUP for name in discover.names(FOLDER)]
    return sorted(groups, key=lambda group: group.place)


async def _look(group: Group, scene: Scene) -> list[Row]:
    checks = {**group.checks, **(group.online if scene.online else {})}
    found = await asyncio.gather(*(_guarded(check, scene) for check in checks.values()))
    return [
        Row(group.title, one.check or name, one.status, one.detail, one.fix)
        for name, findings in zip(checks, found, strict=True)
        for one in findings
    ]


async def _guarded(check: Check, scene: Scene) -> Sequence[Finding]:
    """What a check finds, within its time; one that fails is a finding too."""
    try:
        async with asyncio.timeout(LIMIT):
            found = await check(scene)
    except HermesError as error:
        found = Finding("failed", str(error), error.hint or error.mend)
    except TimeoutError:
        fix = "look again; `hermes doctor --offline` contacts no server"
        found = Finding("failed", f"it took longer than {LIMIT:g} s", fix)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        found = Finding("failed", f"`{error.filename}`: {reason}", "check what is there and who owns it")
    return [found] if isinstance(found, Finding) else found


def told(rows: Sequence[Row], width: int | None) -> str:
    """The findings under the titles of their groups, in lines of so many cells where there is a limit."""
    parts: list[str] = []
    for title, found in groupby(rows, key=attrgetter("group")):
        lines = [title, *(line for row in found for line in _lines(row, width))]
        parts.append("".join(f"{line}\n" for line in lines))
    return "\n".join(parts)


def _lines(row: Row, width: int | None) -> Iterator[str]:
    yield from _indented(f"{MARKS[row.status]} {row.check}: {row.detail}", width)
    if row.fix:
        yield from (f"{INDENT}{line}" for line in _indented(f"hint: {row.fix}", width))


def _indented(text: str, width: int | None) -> Iterator[str]:
    """Lines of a text, those after the first set in."""
    lines = text.split("\n")
    if width is not None:
        room = width - 2 * len(INDENT)
        lines = [part for line in lines for part in wrapped(visible(line), room)]
    yield lines[0]
    yield from (f"{INDENT}{line.strip()}" for line in lines[1:])
