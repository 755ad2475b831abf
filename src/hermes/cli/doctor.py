"""Check the installation, with a fix for whatever is wrong."""

import asyncio
import os
import platform
import sys
from collections.abc import Awaitable, Callable
from typing import Literal

import click
import msgspec

from hermes import __version__
from hermes.agent.lessons import Lessons
from hermes.app import Runtime
from hermes.cli._border import border
from hermes.cli._json import json_option, show_json
from hermes.cli._settings import read_settings
from hermes.errors import HermesError, HttpStatus
from hermes.protocols import Deadlines, HttpRequest
from hermes.tools.web import select
from hermes.transports.base import request_headers

REACHED_WITHIN = 3.0
MARKS = {"ok": "✓", "warning": "!", "failed": "✗"}


class Row(msgspec.Struct, frozen=True):
    """One finding: what was looked at, how it is, and how to mend it."""

    check: str
    status: Literal["ok", "warning", "failed"]
    detail: str
    fix: str | None = None


@click.command()
@click.option("--offline", is_flag=True, help="Do not contact any server.")
@json_option
def command(offline: bool, as_json: bool) -> int:
    """Look at every part Hermes needs and say how to mend what is wrong."""
    rows = asyncio.run(_examine(offline))
    if as_json:
        show_json({"ok": all(row.status != "failed" for row in rows), "checks": rows})
    for row in () if as_json else rows:
        fix = f"\n  hint: {row.fix}" if row.fix else ""
        border().show(f"{MARKS[row.status]} {row.check}: {row.detail}{fix}\n")
    return 1 if any(row.status == "failed" for row in rows) else 0


async def _examine(offline: bool) -> list[Row]:
    async with Runtime(read_settings()) as runtime:
        checks: list[tuple[str, Callable[[Runtime], Awaitable[Row]]]] = [
            ("python", _python),
            ("home", _home),
            ("model", _model),
            ("search", _backends),
            ("documents", _documents),
            ("sessions", _sessions),
            ("lessons", _lessons),
        ]
        if not offline:
            checks.append(("model server", _server))
        return [await _guarded(name, check, runtime) for name, check in checks]


async def _guarded(name: str, check: Callable[[Runtime], Awaitable[Row]], runtime: Runtime) -> Row:
    try:
        return await check(runtime)
    except HermesError as error:
        return Row(name, "failed", str(error), error.hint)


async def _python(_runtime: Runtime) -> Row:
    return Row("python", "ok", f"{platform.python_version()}, hermes {__version__}, {sys.prefix}")


async def _home(runtime: Runtime) -> Row:
    home = runtime.config.home
    nearest = home
    while not os.path.exists(nearest):
        nearest = os.path.dirname(nearest)
    if not os.access(nearest, os.W_OK):
        fix = f"make `{home}` writable, or set `HERMES_HOME` to a folder that is"
        return Row("home", "warning", f"`{home}` cannot be written: nothing will be saved", fix)
    return Row("home", "ok", home if nearest == home else f"{home} (made on first use)")


async def _model(runtime: Runtime) -> Row:
    choice = runtime.choose_model()
    endpoint = choice.endpoint
    where = f" at {endpoint.base_url}" if endpoint.base_url else ""
    detail = f"{endpoint.provider.name}/{endpoint.model}{where} ({choice.reason})"
    fix = None if endpoint.base_url else "for a larger model set `CUSTOM_BASE_URL` and use `-m custom/MODEL`"
    return Row("model", "ok", detail, fix)


async def _backends(runtime: Runtime) -> Row:
    search, extract = runtime.services.web.served_by
    known = ", ".join(select.names())
    return Row("search", "ok", f"search with {search}, extract with {extract} (known: {known})")


async def _documents(runtime: Runtime) -> Row:
    index = runtime.services.index()
    documents = len(index.list())
    if index.notices:
        return Row("documents", "warning", "; ".join(index.notices))
    return Row("documents", "ok", f"{documents} in the local index; add yours with `hermes index add PATH`")


async def _sessions(runtime: Runtime) -> Row:
    store = runtime.store()
    problems = [*store.notices, *await store.check()]
    if problems:
        return Row("sessions", "warning", "; ".join(problems))
    return Row("sessions", "ok", f"{len(await store.list(10_000))} kept")


async def _lessons(runtime: Runtime) -> Row:
    learned = "; ".join(map(str, Lessons(runtime.notebook).all()))
    return Row("lessons", "ok", learned or "none: no model refused a part of a request in the last week")


async def _server(runtime: Runtime) -> Row:
    endpoint = runtime.choose_model().endpoint
    if not endpoint.base_url:
        return Row("model server", "ok", "none needed: the model runs in this process")
    request = HttpRequest(
        "GET",
        f"{endpoint.base_url.rstrip('/')}/models",
        headers=request_headers(endpoint),
        deadlines=Deadlines(REACHED_WITHIN, REACHED_WITHIN, REACHED_WITHIN, REACHED_WITHIN),
    )
    try:
        async with runtime.wire(endpoint.provider).open(request) as reply:
            await reply.read()
    except HttpStatus as error:
        if error.status in (401, 403):
            key = " or ".join(f"`{name}`" for name in endpoint.provider.key_env)
            return Row(
                "model server",
                "failed",
                f"the server refuses the key (status {error.status})",
                f"check {key}",
            )
        return Row("model server", "ok", f"answers (status {error.status} for its list of models)")
    return Row("model server", "ok", "answers, and lists its models")
