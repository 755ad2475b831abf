"""Who answers, and with which key: a name and some settings become an endpoint. Pure."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache

import msgspec

from hermes.errors import ConfigError, HermesError, NotConfigured, UsageError
from hermes.protocols import Endpoint, Provider, Revealable
from hermes.providers.base import address
from hermes.providers.base.families import for_family
from hermes.providers.base.registry import Registry


class Keys(msgspec.Struct, frozen=True):
    """The keys under one name, in the order they are used, and whether they lie in a settings file.

    What lies in a file was entered once and may meet another server later; what is in the environment
    was put there for this run.
    """

    name: str
    values: tuple[Revealable, ...]
    are_stored: bool = False


class Preferences(msgspec.Struct, frozen=True):
    """What the user has settled about models: each may be empty."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key: Keys | None = None
    max_tokens: int | None = None
    context_window: int | None = None


class LocalServer(msgspec.Struct, frozen=True):
    """A model server that was found on this machine, with the models that can answer."""

    provider: str
    base_url: str
    models: tuple[str, ...]


class Choice(msgspec.Struct, frozen=True):
    """The endpoint to use, and in a few words why it was chosen."""

    endpoint: Endpoint
    reason: str
    keys: Keys | None = None
    """Where its key came from."""
    own_hosts: tuple[str, ...] = ()
    """Where the provider itself is; empty when its address is always the user's."""
    is_last_resort: bool = False
    """Whether nothing said who answers, neither the user nor the surroundings."""


class Resolver(msgspec.Struct, frozen=True):
    """What a choice is made from: names, settings, variables, and the servers found on this machine."""

    registry: Registry
    preferences: Preferences
    variable: Callable[[str], str | None]
    """The text of a variable."""
    keys: Callable[[str], Keys | None]
    """The keys in a variable."""
    servers: Sequence[LocalServer] = ()

    def choose(self, wanted: str = "") -> Choice:
        """Who answers. The name asked for wins, then the settings, then what the environment offers.

        With none of these it is a server found on this machine, else the model in this process.
        """
        preferred, default = self._preferred()
        named, model = self._named(wanted, preferred)
        provider = named or preferred
        if provider is None:
            return self._known(self._choose_offered(model or default), model or default)
        is_preferred = preferred is None or preferred is provider
        model = model or (default if is_preferred else "") or provider.default_model
        mine = self.preferences if is_preferred else Preferences()
        choice = self._choice(provider, model, mine, "asked for" if named else "configured")
        return choice if named else self._known(choice, wanted)

    def choose_stand_in(self, wanted: str) -> Choice:
        """Who answers when another cannot: somebody named, or a model of the configured provider.

        An address and a key that the settings give to nobody in particular are not for a stand-in.
        """
        preferred, _ = self._preferred()
        if preferred is not None:
            return self.choose(wanted)
        if self._named(wanted, None)[0] is None:
            raise self.registry.unknown("provider", wanted.partition("/")[0])
        limits = msgspec.structs.replace(self.preferences, model="", base_url="", api_key=None)
        return msgspec.structs.replace(self, preferences=limits).choose(wanted)

    def consider(self, provider: Provider) -> Choice:
        """The choice of this provider, with any model; raises with what is missing for it.

        The address and the key in the settings are not its own, unless it is the one that they are for.
        """
        model = provider.default_model or next(iter(provider.models), "MODEL")
        preferred = None
        with suppress(ConfigError, UsageError):  # settings that name nobody are for nobody
            preferred, _ = self._preferred()
        is_open = preferred is None and not self.preferences.provider and _takes_any_address(provider)
        mine = self.preferences if preferred is provider or is_open else Preferences()
        return self._choice(provider, model, mine, "asked for")

    def may_have_key(self, name: str) -> bool:
        """Whether a provider may have a key, as far as its file tells without being loaded."""
        return self.preferences.api_key is not None or self.registry.says(name, self._names_what_is_set)

    def without_key(self, provider: Provider) -> Endpoint:
        """Where a provider is, for what it tells everybody."""
        endpoint = self._addressed(provider, "", Preferences())
        return msgspec.structs.replace(endpoint, api_key=None, spare_keys=())

    def whose(self, text: str) -> tuple[Provider, str]:
        """The provider that a text names or whose model it is, and the model, empty where none is named."""
        preferred = None
        with suppress(ConfigError, UsageError):  # as in `consider`
            preferred, _ = self._preferred()
        provider, model = self._named(text, preferred)
        if preferred is not None and (text in preferred.models or ("/" in text and _takes(preferred, text))):
            provider = provider or preferred
        if provider is None:
            raise self.registry.unknown("provider", text)
        return provider, model

    def local(self) -> list[Endpoint]:
        """The endpoints that may be on this machine, by rank, and are looked for there alone."""
        endpoints = map(self._here, self._by_rank(_is_local))
        return [endpoint for endpoint in endpoints if endpoint is not None]

    def _here(self, provider: Provider) -> Endpoint | None:
        """The endpoint of a provider for servers on this machine; None when it is not, or set elsewhere."""
        if not address.is_loopback(provider.base_url):
            return None
        with suppress(ConfigError):  # a variable that holds no address
            endpoint = self._addressed(provider, "", Preferences())
            return endpoint if address.is_loopback(endpoint.base_url) else None
        return None

    def _preferred(self) -> tuple[Provider | None, str]:
        """The provider that the settings name, and the model."""
        if self.preferences.provider:
            return self.registry.load(self.preferences.provider), self.preferences.model
        return self._named(self.preferences.model, None)

    def _named(self, text: str, preferred: Provider | None) -> tuple[Provider | None, str]:
        """The provider that a text names, itself or by a model that it alone lists; and the model.

        No provider is named where the text is a model of the preferred one, also one that begins with
        another's name: servers that route to many vendors call a model `VENDOR/MODEL`.
        """
        if not text or (preferred is not None and text in preferred.models):
            return None, text
        name, model = self.registry.split_model(text)
        if name:
            provider = self.registry.load(name)
            if preferred is not None and self._is_routed(text, provider, preferred):
                return None, text
            return provider, text if text in provider.models else model
        if preferred is not None and not preferred.models:
            return None, text
        owners = self.registry.owners(text)
        if len(owners) > 1:
            raise self.registry.several(text, owners)
        return (owners[0] if owners else None), text

    def _is_routed(self, text: str, named: Provider, preferred: Provider) -> bool:
        """Whether a text that names a provider can only be meant for the preferred one."""
        lacks_key = named.key_required and not any(map(self.keys, named.key_env))
        is_model = any(mark in text for mark in "/:")
        return named is not preferred and lacks_key and is_model and _takes(preferred, text)

    def _known(self, choice: Choice, wanted: str) -> Choice:
        """The choice, unless what was wanted names a provider that there is not."""
        provider, host = choice.endpoint.provider, address.host(choice.endpoint.base_url)
        if "/" in wanted and host in choice.own_hosts and not _takes(provider, wanted):
            raise self.registry.unknown("provider", wanted.partition("/")[0])
        return choice

    def _choose_offered(self, model: str) -> Choice:
        if self.preferences.base_url:
            provider = next(filter(_takes_any_address, self._by_rank(lambda _text: True)))
            return self._choice(provider, model, self.preferences, "`model.base_url` is set")
        # A key in the settings does not say whose it is, where nobody was named.
        mine = msgspec.structs.replace(self.preferences, api_key=None)
        for provider in self._by_rank(self._names_what_is_set):
            if provider.rank > 0 and (reason := self._offer(provider, model)):
                return self._choice(provider, model or provider.default_model, mine, reason)
        for server in self.servers:
            if not model or model in server.models:
                provider = self.registry.load(server.provider)
                return self._choice(provider, model or server.models[0], mine, f"found at {server.base_url}")
        built_in = next(one for one in self.registry.where(_has_engine) if one.engine is not None)
        choice = self._choice(built_in, model or built_in.default_model, self.preferences, "built in")
        return msgspec.structs.replace(choice, is_last_resort=True)

    def _by_rank(self, tells: Callable[[str], bool]) -> list[Provider]:
        servers = (provider for provider in self.registry.where(tells) if provider.engine is None)
        return sorted(servers, key=lambda provider: (provider.rank, provider.name))

    def _names_what_is_set(self, text: str) -> bool:
        return any(map(self.variable, _variables_in(text)))

    def _offer(self, provider: Provider, model: str) -> str | None:
        """Why a provider can be used without having been asked for; None when it cannot."""
        if provider.key_required:
            keys = next(filter(None, map(self.keys, provider.key_env)), None)
            return f"`{keys.name}` is set" if keys else None
        if address.is_loopback(provider.base_url) and (not model or self._here(provider) is not None):
            return None  # whether it runs is seen by looking, not by a variable that its server reads too
        return next((f"`{name}` is set" for name in provider.base_url_env if self.variable(name)), None)

    def _choice(self, provider: Provider, model: str, preferences: Preferences, reason: str) -> Choice:
        if provider.engine is not None:
            if model not in provider.models:
                raise self._nobody_has(model, provider)
            return Choice(Endpoint(provider=provider, model=model, base_url=""), reason)
        if not model:
            raise NotConfigured(
                f"no model is named for `{provider.name}`",
                hint=f"use `-m {provider.name}/MODEL` or `hermes config set model.default MODEL`",
            )
        endpoint = self._addressed(provider, model, preferences)
        _check_address(endpoint)
        if endpoint.api_key is None and endpoint.provider.key_required:
            raise NotConfigured(f"no key for {provider.title}", hint=f"set `{provider.key_env[0]}`")
        return Choice(endpoint, reason, self._keys(provider, preferences), _own_hosts(provider, endpoint))

    def _keys(self, provider: Provider, preferences: Preferences) -> Keys | None:
        """One order for every provider: the settings, then its variables in theirs."""
        return preferences.api_key or next(filter(None, map(self.keys, provider.key_env)), None)

    def _addressed(self, provider: Provider, model: str, preferences: Preferences) -> Endpoint:
        """The endpoint as it would be called; whether it can be is judged by others."""
        variable = next(filter(None, map(self.variable, provider.base_url_env)), None)
        keys = self._keys(provider, preferences)
        endpoint = refined(
            Endpoint(
                provider=_limited(provider, preferences),
                model=model,
                base_url=variable or preferences.base_url or provider.base_url,
                api_key=keys.values[0] if keys else None,
                spare_keys=keys.values[1:] if keys else (),
            )
        )
        return msgspec.structs.replace(endpoint, provider=_limited(endpoint.provider, preferences))

    def _nobody_has(self, wanted: str, provider: Provider) -> HermesError:
        prefix, slash, _ = wanted.partition("/")
        if slash:
            return self.registry.unknown("provider", prefix)
        return self.registry.unknown("model", wanted, provider.models)


def _limited(provider: Provider, preferences: Preferences) -> Provider:
    """The provider with the limits that the user has set, which are known before it is refined and stay."""
    limits = {"max_tokens": preferences.max_tokens, "context_window": preferences.context_window}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return msgspec.structs.replace(provider, **given) if given else provider


def _takes(provider: Provider, model: str) -> bool:
    """Whether a model may have this name, as far as the provider's list tells: not a path if none is one."""
    listed = provider.models
    return not listed or model in listed or ("/" in model and any("/" in known for known in listed))


def _takes_any_address(provider: Provider) -> bool:
    return not provider.base_url and not provider.key_required


@cache
def _variables_in(text: str) -> tuple[str, ...]:
    """What a file names in quotes as variables are named."""
    return tuple(part for part in text.split('"') if part.isupper() and part.isidentifier())


def _is_local(text: str) -> bool:
    return "127.0.0.1" in text or "localhost" in text


def _has_engine(text: str) -> bool:
    return "engine=" in text


def refined(endpoint: Endpoint) -> Endpoint:
    """The endpoint with what follows from its model, its address and its key."""
    refine = endpoint.provider.refine
    return for_family(endpoint if refine is None else refine(endpoint))


def _own_hosts(provider: Provider, endpoint: Endpoint) -> tuple[str, ...]:
    """The hosts a provider has without anyone's doing; its kind of key may lead to another one."""
    if not provider.base_url:
        return ()
    by_itself = refined(msgspec.structs.replace(endpoint, provider=provider, base_url=provider.base_url))
    return tuple(dict.fromkeys(map(address.host, (provider.base_url, by_itself.base_url))))


def _check_address(endpoint: Endpoint) -> None:
    provider = endpoint.provider
    if not endpoint.base_url:
        variables = "".join(f"set `{name}` or " for name in provider.base_url_env[:1])
        raise NotConfigured(
            f"`{provider.name}` needs a base URL",
            hint=f"{variables}run `hermes config set model.base_url URL`",
        )
    if not endpoint.base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"the base URL of `{provider.name}` must start with `http://` or `https://`, "
            f"not `{endpoint.base_url}`",
            hint="give the address up to `/v1`, such as `http://127.0.0.1:8080/v1`",
        )
