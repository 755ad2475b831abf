"""Who shall answer, by questions or by options: found, asked for, tried; written by whoever called."""

import os
import sys
import time
from collections.abc import Sequence

import msgspec

from hermes.app import Runtime, Terms
from hermes.app.survey import Offer, at_hand
from hermes.cli._ask import ask, says_yes
from hermes.cli._border import border, one_line
from hermes.cli._loop import run_in_loop
from hermes.cli._table import Column, Table
from hermes.cli._width import columns
from hermes.config import Config, ModelSettings, Secret, load
from hermes.config.edit import set_secret, set_value
from hermes.errors import (
    AuthFailed,
    HermesError,
    Interrupted,
    ModelNotFound,
    NotConfigured,
    UnknownName,
    UsageError,
)
from hermes.protocols import Provider
from hermes.providers.base import address

QUESTION = "Reply with the single word: ready"
TRIED_WITHIN = 60.0
SHOWN_ANSWER = 60


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Who shall answer; `key` is one to be kept, None where there is one already or none is needed."""

    provider: Provider
    model: str
    base_url: str = ""
    key: Secret | None = None
    keeps_setting: bool = False
    """Whether the key in `model.api_key` is this provider's and stays."""

    @property
    def name(self) -> str:
        return f"{self.provider.name}/{self.model}"

    @property
    def key_name(self) -> str:
        return next(iter(self.provider.key_env), "")

    def environ(self) -> dict[str, str]:
        """The environment in which the key is set already."""
        own = {self.key_name: self.key.reveal()} if self.key and self.key_name else {}
        return {**os.environ, **own}

    def config(self) -> Config:
        """The settings as they would be with this wish, and with nobody who stands in."""
        config = load(self.environ())
        asked = msgspec.structs.replace(
            config.model,
            provider=self.provider.name,
            default=self.model,
            base_url=self.base_url,
            api_key=config.model.api_key if self.keeps_setting else None,
            fallback=(),
        )
        limits = msgspec.structs.replace(config.agent, max_seconds=TRIED_WITHIN)
        return msgspec.structs.replace(config, model=asked, agent=limits)

    def write(self, config: Config) -> list[str]:
        """Write it to the files of these settings; gives the names of what was set."""
        wanted = {
            "model.provider": self.provider.name,
            "model.default": self.model,
            "model.base_url": self.base_url,
        }
        changed = [path for path, value in wanted.items() if value != _in_file(config, path)]
        for path in changed:
            set_value(config.home, path, wanted[path])
        if not self.keeps_setting and _in_file(config, "model.api_key"):  # it would win over any other
            set_value(config.home, "model.api_key", "")
        if self.key is not None and self.key_name:
            set_secret(config.home, self.key_name, self.key.reveal())
            changed.append(self.key_name)
            _bind(self.key_name)
        return changed


def _in_file(config: Config, path: str) -> object:
    """What the file says for a setting; the default where it says nothing."""
    is_in_file = config.origins[path].source == "file"
    return getattr(config.model if is_in_file else ModelSettings(), path.partition(".")[2])


def _bind(variable: str) -> None:
    """The key goes to the host it would be sent to now, and from then on to no other unasked."""
    runtime = Runtime(load(os.environ))
    runtime.chooser.bind(variable)
    run_in_loop(runtime.__aexit__())


def asked_for(config: Config, given: str, base_url: str, key: Secret | None, *, asks: bool) -> Wish:
    """The wish that options name; what they leave open is asked for, or is an error where nobody is asked."""
    name = given or (_which(config) if asks else _best(config).name)
    while True:
        try:
            return _completed(config, name, base_url, key, asks=asks)
        except UnknownName as error:
            if not asks or given:
                raise
            border().complain(error)
            name = ask("model")


def _completed(config: Config, name: str, base_url: str, key: Secret | None, *, asks: bool) -> Wish:
    provider, model = run_in_loop(_whose(config, name))
    if key is not None and not provider.key_env:
        raise UsageError(
            f"`{provider.name}` takes no key", hint="leave out `--key-from-env` and `--key-stdin`"
        )
    if provider.engine is None and not base_url:
        base_url = _address(config, provider, asks=asks)
    model = model or provider.default_model or _served(config, provider) or _model(provider, asks=asks)
    is_the_same = config.model.provider == provider.name and config.model.api_key is not None
    keeps = key is None and is_the_same
    wish = Wish(provider=provider, model=model, base_url=base_url, key=key, keeps_setting=keeps)
    if key is None and not keeps and _lacks_key(config, provider):
        if not asks:
            raise NotConfigured(
                f"no key for {provider.title}",
                hint=f"set `{wish.key_name}`, or give it with `--key-from-env VARIABLE` or `--key-stdin`",
            )
        wish = msgspec.structs.replace(wish, key=_key(wish))
    return wish


async def _whose(config: Config, name: str) -> tuple[Provider, str]:
    async with Runtime(config) as runtime:
        return runtime.chooser.resolver().whose(name)


def _address(config: Config, provider: Provider, *, asks: bool) -> str:
    """Where the server is, if that is not the vendor's own place and no variable says it."""
    if provider.base_url or any(map(config.environment.lookup, provider.base_url_env)):
        return ""
    held = config.model.base_url if config.model.provider == provider.name else ""
    if held or not asks:
        return held
    return ask("address of the server, up to `/v1`")


def _lacks_key(config: Config, provider: Provider) -> bool:
    return provider.key_required and not any(map(config.environment.lookup, provider.key_env))


def _key(wish: Wish) -> Secret:
    words = f"key for {wish.provider.title} (kept in `.env` as `{wish.key_name}`, and not shown)"
    given = ask(words, hidden=True)
    if not given:
        raise UsageError("no key was given", hint="run `hermes setup` again when you have one")
    return Secret(given)


def _model(provider: Provider, *, asks: bool) -> str:
    named = ask(f"model of `{provider.name}`") if asks else ""
    if not named:
        raise UsageError(
            f"no model is named for `{provider.name}`",
            hint=f"name one with `--model {provider.name}/MODEL`; `hermes models {provider.name}` lists them",
        )
    return named


def _served(config: Config, provider: Provider) -> str:
    """The first model of a server that runs on this machine."""
    if not address.is_loopback(provider.base_url):
        return ""
    return next((offer.default_model for offer in _found(config) if offer.name == provider.name), "")


def _found(config: Config) -> Sequence[Offer]:
    async def look() -> list[Offer]:
        async with Runtime(config) as runtime:
            return await at_hand(runtime.chooser)

    return run_in_loop(look())


def _best(config: Config) -> Offer:
    return _found(config)[0]


def _which(config: Config) -> str:
    found = _found(config)
    rows = [
        [str(number), f"{offer.name}/{offer.default_model}".rstrip("/"), offer.reason]
        for number, offer in enumerate(found, 1)
    ]
    heads = (Column("", right=True), Column("model", least=16), Column("why", least=20))
    border().say("who shall answer? this can be used now:")
    border().say(Table(heads, rows).fitted(columns(sys.stderr)).rstrip())
    answer = ask("a number, or a name such as `openai` or `custom` [1]") or "1"
    place = int(answer) - 1 if answer.isdecimal() else -1
    return found[place].name if 0 <= place < len(found) else answer


def tried(wish: Wish, *, asks: bool) -> Wish:
    """The wish after one real call that was answered; where a person is there, they can mend it."""
    while True:
        try:
            _try(wish)
        except HermesError as error:
            if not asks:
                border().say("nothing was written; `--no-test` keeps it untried")
                raise
            border().complain(error)
            mended = _mended(wish, error)
            if mended is wish:
                return wish
            wish = mended
        else:
            return wish


def _mended(wish: Wish, error: HermesError) -> Wish:
    """The wish with another key or model, as the error asks for; the same where it is kept untried."""
    if isinstance(error, AuthFailed):
        return msgspec.structs.replace(wish, key=_key(wish), keeps_setting=False)
    if isinstance(error, ModelNotFound):
        return msgspec.structs.replace(wish, model=_model(wish.provider, asks=True))
    if not says_yes("keep it all the same?"):
        raise Interrupted("nothing was written")
    return wish


def _try(wish: Wish) -> None:
    if wish.provider.engine is not None:
        return
    config = wish.config()
    border().redact = config.redactor()
    border().live(f"asking `{wish.name}` …")
    begun = time.monotonic()
    answer = run_in_loop(_answer(config))
    took = time.monotonic() - begun
    border().aside(f"`{wish.name}` answers after {took:.1f} s: {one_line(answer, SHOWN_ANSWER)}")


async def _answer(config: Config) -> str:
    async with Runtime(config) as runtime:
        dialogue = runtime.converse(Terms(tools=("none",), kept=False, platform="cli"))
        return (await dialogue.ask(QUESTION, lambda _event: None)).text
