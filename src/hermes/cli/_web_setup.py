"""Setting up a web backend by questions: what it needs, where that is had, and where it is kept."""

import os
import sys

import click

from hermes.app.services import Services
from hermes.cli._border import border, is_terminal
from hermes.cli._loop import run_in_loop
from hermes.cli._table import table
from hermes.config import Config, load
from hermes.config.edit import set_secret, set_value
from hermes.errors import UsageError
from hermes.tools.web.backends.base import Backend, Option
from hermes.tools.web.options import given, is_available


def run(config: Config, wanted: str | None) -> None:
    """Ask which backend, unless it is named, then for its options; all of it is written at the end."""
    services = Services(config)
    backends = services.web_parts.backends
    name = wanted or _which(backends.all(), services, config.web.backend)
    backend = backends.load(name)
    answers = [(option, _answer(option, services)) for option in backend.options if option.prompt]
    for option, value in answers:
        if value:
            _write(config.home, option, value)
    set_value(config.home, "web.backend", backend.name)
    _bind(answers)
    missing = [
        option for option, value in answers if option.required and not value and not _has(option, services)
    ]
    for option in missing:
        border().say(f"warning: {backend.title} still needs {option.what}")
    if backend.is_ready is not None and not backend.is_ready():
        border().say(f"warning: {backend.title} lacks what it runs on; `hermes search` says what that is")
    border().say(f"`{backend.name}` is set as `web.backend`; try it with `hermes search QUERY --explain`")


def _bind(answers: list[tuple[Option, str]]) -> None:
    """A key that was given is for the address that is set now."""
    services = Services(load(os.environ))
    for option, value in answers:
        if value and option.secret:
            services.web_parts.bind(option.env[0])
    run_in_loop(services.close())


def _which(backends: tuple[Backend, ...], services: Services, current: str) -> str:
    rows = [
        [
            backend.name,
            backend.title,
            _can(backend),
            backend.badge,
            "ready" if is_available(backend, services) else "",
        ]
        for backend in sorted(backends, key=lambda backend: backend.rank == 0)
    ]
    border().say(table(rows).rstrip())
    named = _ask(f"web backend [{current}]" if current else "web backend") or current
    if not named:
        raise UsageError("no web backend was named", hint="name one, as in `hermes tools setup searxng`")
    return named


def _can(backend: Backend) -> str:
    return " and ".join(
        word for word, able in (("search", backend.searches), ("extract", backend.extracts)) if able
    )


def _answer(option: Option, services: Services) -> str:
    """What the user says; what is not answered stays as it is, and is the default where nothing is set."""
    has_value = _has(option, services)
    if option.url:
        border().say(f"get it at {option.url}")
    held = " (blank keeps what is set)" if has_value else f" [{option.default}]" if option.default else ""
    asked = _ask(f"{option.prompt}{held}", hidden=option.secret)
    return asked or ("" if has_value else str(option.default))


def _ask(words: str, *, hidden: bool = False) -> str:
    """An answer from a person, or the next line of standard input; blank where there is none."""
    if not is_terminal(sys.stdin):
        return sys.stdin.readline().strip()
    asked: str = click.prompt(words, default="", show_default=False, hide_input=hidden, err=True)
    return asked.strip()


def _has(option: Option, services: Services) -> bool:
    return given(option, services) is not None


def _write(home: str, option: Option, value: str) -> None:
    """Keys go to `.env`, everything else to the settings where it has a place there."""
    if option.setting and not option.secret:
        set_value(home, f"web.{option.setting}", value)
    else:
        set_secret(home, option.env[0], value)
