"""The registry that is the folder, and how a name and some settings become an endpoint."""

from collections.abc import Callable
from functools import cache

import msgspec

from hermes import discover
from hermes.errors import ConfigError, HermesError, NotConfigured, UnknownName
from hermes.protocols import Endpoint, Provider, Revealable

PACKAGE = "hermes.providers"


def names() -> tuple[str, ...]:
    return tuple(name.replace("_", "-") for name in discover.names(PACKAGE))


def load(name: str) -> Provider:
    """A provider by its name or an alias. Only an alias needs the other files to be read."""
    wanted = name.strip().lower()
    if wanted in names():
        provider: Provider = discover.load(PACKAGE, wanted, "provider").PROVIDER
        return provider
    alias = _aliases().get(wanted)
    if alias is None:
        raise UnknownName("provider", name, {*names(), *_aliases()})
    return load(alias)


@cache
def _aliases() -> dict[str, str]:
    owners: dict[str, str] = {}
    for name in names():
        for alias in load(name).aliases:
            if alias in owners or alias in names():
                raise HermesError(
                    f"the alias `{alias}` is claimed by `{owners.get(alias, alias)}` and `{name}`"
                )
            owners[alias] = name
    return owners


def split_model(text: str) -> tuple[str, str]:
    """`PROVIDER/MODEL` or `PROVIDER:MODEL` into its parts; a bare word is one of the two.

    A word that names a provider means that provider's default model. The provider part comes back
    empty when none was named: the text is then a model of whichever provider is configured.
    """
    for mark in ("/", ":"):
        provider, found, model = text.partition(mark)
        if found and is_known(provider):
            return provider, model
    return (text, "") if is_known(text) else ("", text)


def is_known(name: str) -> bool:
    wanted = name.strip().lower()
    return wanted in names() or wanted in _aliases()


class Preferences(msgspec.Struct, frozen=True):
    """What the user has settled about models: each may be empty."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key: Revealable | None = None
    max_tokens: int | None = None


class Choice(msgspec.Struct, frozen=True):
    """The endpoint to use, and in a few words why it was chosen."""

    endpoint: Endpoint
    reason: str


def resolve(wanted: str, preferences: Preferences, secret: Callable[[str], Revealable | None]) -> Choice:
    """Who answers. The name asked for wins, then the settings, then what the environment offers.

    With none of these it is the model that runs in this process. `secret` reads one variable.
    """
    named, model = split_model(wanted) if wanted else ("", "")
    preferred, default = preferences.provider, preferences.model
    if not preferred and default:
        preferred, default = split_model(default)
    if named or preferred:
        provider = load(named or preferred)
        reason = "asked for" if named else "configured"
    else:
        provider, reason = _offered(preferences, secret)
        if wanted and provider.engine is not None:
            raise _nobody_has(wanted, provider)
    is_preferred = not preferred or load(preferred) is provider
    model = model or (default if is_preferred else "") or provider.default_model
    mine = preferences if is_preferred else Preferences()
    return Choice(endpoint=_endpoint(provider, model, mine, secret), reason=reason)


def _offered(preferences: Preferences, secret: Callable[[str], Revealable | None]) -> tuple[Provider, str]:
    """The first provider that the settings make usable, else the one in this process."""
    providers = [load(name) for name in names()]
    servers = [provider for provider in providers if provider.engine is None and provider.rank]
    for provider in sorted(servers, key=lambda provider: provider.rank):
        if preferences.base_url and not provider.base_url and not provider.key_required:
            return provider, "`model.base_url` is set"
        for variable in provider.key_env if provider.key_required else provider.base_url_env:
            if secret(variable) is not None:
                return provider, f"`{variable}` is set"
    return next(provider for provider in providers if provider.engine is not None), "built in"


def _endpoint(
    provider: Provider, model: str, preferences: Preferences, secret: Callable[[str], Revealable | None]
) -> Endpoint:
    if provider.engine is not None:
        if model not in provider.models:
            raise _nobody_has(model, provider)
        return Endpoint(provider=provider, model=model, base_url="")
    if not model:
        raise NotConfigured(
            f"no model is named for `{provider.name}`",
            hint=f"use `-m {provider.name}/MODEL` or `hermes config set model.default MODEL`",
        )
    from_environment = next(filter(None, map(secret, provider.base_url_env)), None)
    base_url = from_environment.reveal() if from_environment else preferences.base_url or provider.base_url
    key = next(filter(None, map(secret, provider.key_env)), None) or preferences.api_key
    if not base_url:
        raise NotConfigured(
            f"`{provider.name}` needs a base URL",
            hint=f"set `{provider.base_url_env[0]}` or run `hermes config set model.base_url URL`",
        )
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"the base URL of `{provider.name}` must start with `http://` or `https://`, not `{base_url}`",
            hint="give the address up to `/v1`, such as `http://127.0.0.1:8080/v1`",
        )
    if key is None and provider.key_required:
        raise NotConfigured(f"no key for {provider.title}", hint=f"set `{provider.key_env[0]}`")
    if preferences.max_tokens is not None:
        provider = msgspec.structs.replace(provider, max_tokens=preferences.max_tokens)
    return Endpoint(provider=provider, model=model, base_url=base_url, api_key=key)


def _nobody_has(wanted: str, provider: Provider) -> UnknownName:
    prefix, slash, _ = wanted.partition("/")
    if slash:
        return UnknownName("provider", prefix, {*names(), *_aliases()})
    return UnknownName("model", wanted, {*names(), *provider.models})
