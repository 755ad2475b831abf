"""Check the installation, with a fix for whatever is wrong."""

import os
import platform
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Literal

import click
import msgspec

from hermes import __version__
from hermes.agent.lessons import Lessons
from hermes.app import Runtime
from hermes.app.survey import survey
from hermes.cli._border import border
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.errors import (
    ConfigError,
    HermesError,
    HttpStatus,
    InvalidResponse,
    NotConfigured,
    UsageError,
)
from hermes.tools.web.options import describe
from hermes.tools.web.select import CAPABILITIES, Capability
from hermes.tools.x_search.account import PROVIDER

REACHED_WITHIN = 3.0
WEB = "Web Search & Extract"
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
    rows = run_in_loop(_examine(offline))
    if as_json:
        show_json({"ok": all(row.status != "failed" for row in rows), "checks": rows})
    for row in () if as_json else rows:
        fix = f"\n  hint: {row.fix}" if row.fix else ""
        border().show(f"{MARKS[row.status]} {row.check}: {row.detail}{fix}\n")
    return 1 if any(row.status == "failed" for row in rows) else 0


async def _examine(offline: bool) -> list[Row]:
    async with Runtime(read_settings()) as runtime:
        if not offline:
            with suppress(HermesError):  # what is wrong with the choice is told by the check of the model
                await runtime.chooser.look_around()
        checks: list[tuple[str, Callable[[Runtime], Awaitable[Row]]]] = [
            ("python", _python),
            ("home", _home),
            ("model", _model),
            ("fallback", _fallback),
            ("provider files", _provider_files),
            ("web", _web),
            ("search", _searches),
            ("extract", _reads),
            ("web backends", _backends),
            ("x_search", _x_search),
            ("documents", _documents),
            ("sessions", _sessions),
            ("lessons", _lessons),
            ("MCP servers", partial(_mcp, live=not offline)),
        ]
        if not offline:
            checks.append(("model server", _server))
        rows = [await _guarded(name, check, runtime) for name, check in checks]
        return rows + await _providers(runtime, live=not offline)


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
    fix = None if endpoint.base_url else "for a larger model see what `hermes models` offers"
    return Row("model", "ok", detail, fix)


async def _fallback(runtime: Runtime) -> Row:
    """Who stands in for the model, and who of them would be passed over."""
    names = runtime.config.model.fallback
    found: list[str] = []
    for name in names:
        try:
            endpoint = runtime.chooser.choose_stand_in(name).endpoint
        except (ConfigError, UsageError) as error:
            return Row("fallback", "warning", f"`{name}` is passed over: {error}", error.hint)
        found.append(f"{endpoint.provider.name}/{endpoint.model}")
    return Row("fallback", "ok", ", then ".join(found) or "none: `model.fallback` names who stands in")


async def _provider_files(runtime: Runtime) -> Row:
    registry = runtime.chooser.registry
    if registry.problems:
        hints = dict.fromkeys(problem.hint for problem in registry.problems if problem.hint)
        return Row("provider files", "warning", "; ".join(map(str, registry.problems)), "; ".join(hints))
    return Row("provider files", "ok", f"{len(registry.names())} providers are known")


async def _providers(runtime: Runtime, *, live: bool) -> list[Row]:
    """Who can be used, the model servers of this machine, and who has a key and cannot be used."""
    offers = await survey(runtime.chooser, fresh=live, live=live)
    found = [
        Row("local server", "ok", f"{offer.reason}: use it with `-m {offer.name}/{offer.default_model}`")
        for offer in offers
        if offer.is_local_server
    ]
    broken = [
        Row("provider", "warning", f"{offer.name}: {offer.reason}", offer.fix)
        for offer in offers
        if offer.key and not offer.usable
    ]
    usable = ", ".join(offer.name for offer in offers if offer.usable)
    return [Row("providers", "ok", f"can be used: {usable}"), *found, *broken]


async def _web(runtime: Runtime) -> Row:
    """Whether there is anybody to search and to read, and what those who do are set to."""
    told: dict[str, None] = {}
    for capability in CAPABILITIES:
        try:
            for backend in runtime.services.web_parts.choice(capability).backends:
                told[describe(backend, runtime.services)] = None
        except (ConfigError, UsageError):
            return Row(WEB, "warning", "not all of it is configured, as the next lines say")
    return Row(WEB, "ok", "\n  ".join(("configured", *filter(None, told))))


async def _searches(runtime: Runtime) -> Row:
    return _served(runtime, "search")


async def _reads(runtime: Runtime) -> Row:
    return _served(runtime, "extract")


def _served(runtime: Runtime, capability: Capability) -> Row:
    """Who serves; one that stands in and cannot is a warning."""
    chosen = runtime.services.web_parts.choice(capability)
    told = f"{chosen.name} ({chosen.reason})"
    for backend in chosen.backends:
        try:
            describe(backend, runtime.services)
        except NotConfigured as error:
            if chosen.how == "one":
                raise
            detail = f"{told}; `{backend.name}` is passed over: {error}"
            return Row(capability, "warning", detail, error.hint)
    if chosen.warning:
        return Row(capability, "warning", f"{told}; {chosen.warning}")
    return Row(capability, "ok", told)


async def _backends(runtime: Runtime) -> Row:
    """The backends there are, and what is wrong with files and settings for them."""
    backends = runtime.services.web_parts.backends
    problems = [str(problem) for problem in backends.problems]
    shared = {option.setting.partition(".")[0] for backend in backends.all() for option in backend.options}
    for path in runtime.config.options:
        section, _, name = path.partition(".")
        if section == "web" and name not in backends.names() and name not in shared:
            problems.append(f"`{path}` holds options of a web backend that is not there")
    if problems:
        return Row("web backends", "warning", "; ".join(problems), "see `hermes config show`")
    ready = ", ".join(backend.name for backend in backends.available(runtime.services))
    return Row("web backends", "ok", f"can be used: {ready}; known: {', '.join(backends.names())}")


async def _x_search(runtime: Runtime) -> Row:
    """Whether X can be searched, and by which credential."""
    try:
        account = runtime.services.x_account()
    except ConfigError as error:
        is_tried = runtime.chooser.resolver().may_have_key(PROVIDER)
        is_meant = is_tried or runtime.config.x_search.credential_source != "auto"
        return Row("x_search", "warning" if is_meant else "ok", f"not offered: {error}", error.hint)
    where = f"{account.terms.model} at {account.endpoint.base_url}"
    return Row("x_search", "ok", f"{where}, with the API key in `{account.key_name}`")


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


async def _mcp(runtime: Runtime, *, live: bool) -> Row:
    """Whether the tools of MCP servers can be offered."""
    if runtime.mcp is None:
        return Row("MCP servers", "ok", "none: `mcp.servers` names those whose tools are offered")
    standings = await runtime.mcp.standings(live=live)
    detail = "; ".join(f"{standing.name}: {standing.detail}" for standing in standings)
    fixes = dict.fromkeys(standing.fix for standing in standings if standing.fix)
    is_well = all(standing.is_well for standing in standings)
    return Row("MCP servers", "ok" if is_well else "warning", detail, "; ".join(fixes) or None)


async def _server(runtime: Runtime) -> Row:
    endpoint = runtime.choose_model().endpoint
    if not endpoint.base_url:
        return Row("model server", "ok", "none needed: the model runs in this process")
    listing = await runtime.chooser.catalog.models(endpoint, fresh=True, seconds=REACHED_WITHIN)
    match listing.problem:
        case None if listing.source == "static":
            return Row("model server", "ok", "not asked: it has no list of models")
        case None:
            return Row("model server", "ok", "answers, and lists its models")
        case HttpStatus(status=status) if status in (401, 403):
            key = " or ".join(f"`{name}`" for name in endpoint.provider.key_env)
            return Row(
                "model server", "failed", f"the server refuses the key (status {status})", f"check {key}"
            )
        case HttpStatus(status=status):
            return Row("model server", "ok", f"answers (status {status} for its list of models)")
        case InvalidResponse():
            return Row("model server", "ok", "answers (its list of models cannot be read)")
        case error:
            raise error
