"""Setting up a web backend by questions: what it needs, where that is had, and where it is kept."""

import os
import sys
from collections.abc import Mapping

import msgspec

from hermes.app.services import Services
from hermes.cli._ask import ask
from hermes.cli._border import border
from hermes.cli._loop import run_in_loop
from hermes.cli._table import Column, Table
from hermes.cli._width import columns
from hermes.config import Config, load
from hermes.config.edit import set_secret, set_value
from hermes.errors import UsageError
from hermes.tools.web.backends.base import Backend, Option
from hermes.tools.web.options import given, is_available

_WORDS = {"key": "key", "base_url": "address"}


class Chosen(msgspec.Struct, frozen=True):
    """A backend and what was answered for it; nothing of it is written yet."""

    backend: Backend
    answers: tuple[tuple[Option, str], ...]
    missing: tuple[Option, ...]

    def write(self, home: str) -> None:
        """Write it down: keys to `.env`, everything else to the settings where it has a place there."""
        for option, value in self.answers:
            if value and option.setting and not option.secret:
                set_value(home, f"web.{option.setting}", value)
            elif value:
                set_secret(home, option.env[0], value)
        set_value(home, "web.backend", self.backend.name)
        _bind(self.answers)

    def say_what_lacks(self) -> None:
        for option in self.missing:
            border().say(f"warning: {self.backend.title} still needs {option.what}")
        if self.backend.is_ready is not None and not self.backend.is_ready():
            border().say(
                f"warning: {self.backend.title} lacks what it runs on; `hermes search` says what that is"
            )


def run(config: Config, wanted: str | None) -> str:
    """Ask which backend, unless it is named, then for its options; gives the name of what was written."""
    name = wanted or which(config)
    if not name:
        raise UsageError("no web backend was named", hint="name one, as in `hermes tools setup searxng`")
    chosen = choose(config, name, {})
    chosen.write(config.home)
    chosen.say_what_lacks()
    name = chosen.backend.name
    border().say(f"`{name}` is set as `web.backend`; try it with `hermes search QUERY --explain`")
    return name


def which(config: Config) -> str:
    """Ask for the name of a backend; a blank answer is the one that is set, which may be none."""
    services, current = Services(config), config.web.backend
    backends = sorted(services.web_parts.backends.all(), key=lambda backend: backend.rank == 0)
    border().say(backend_table(backends, services).rstrip())
    return ask(f"web backend [{current}]" if current else "web backend") or current


def backend_table(backends: list[Backend], services: Services) -> str:
    rows = [
        [one.name, one.title, _can(one), one.badge, "ready" if is_available(one, services) else ""]
        for one in backends
    ]
    names = ("backend", "title", "can", "cost", "state")
    can_be_cut = ("title", "cost")
    heads = tuple(Column(name, least=8 if name in can_be_cut else 0) for name in names)
    return Table(heads, rows).fitted(columns(sys.stderr))


def choose(config: Config, name: str, given_for: Mapping[str, str], *, asks: bool = True) -> Chosen:
    """The backend of this name with what it needs, by the names of its options.

    What is not given is asked for; where nobody is asked it stays as it is set.
    """
    services = Services(config)
    backend = services.web_parts.backends.load(name)
    wanted = [option for option in backend.options if option.prompt]
    for strange in given_for.keys() - {option.name for option in backend.options}:
        raise UsageError(
            f"the web backend `{name}` takes no {_WORDS[strange]}",
            hint="`hermes tools setup` asks what it takes",
        )
    answers = tuple(
        (option, given_for[option.name]) for option in backend.options if option.name in given_for
    )
    if asks:
        asked = (option for option in wanted if option.name not in given_for)
        answers += tuple((option, _answer(option, services)) for option in asked)
    answered = {option.name for option, value in answers if value}
    missing = tuple(
        option
        for option in wanted
        if option.required and option.name not in answered and not _has(option, services)
    )
    return Chosen(backend, answers, missing)


def _bind(answers: tuple[tuple[Option, str], ...]) -> None:
    """A key that was given is for the address that is set now."""
    services = Services(load(os.environ))
    for option, value in answers:
        if value and option.secret:
            services.web_parts.bind(option.env[0])
    run_in_loop(services.close())


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
    asked = ask(f"{option.prompt}{held}", hidden=option.secret)
    return asked or ("" if has_value else str(option.default))


def _has(option: Option, services: Services) -> bool:
    return given(option, services) is not None
