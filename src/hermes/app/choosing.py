"""Who answers: settings, variables, keys and the servers of this machine, put before the resolver."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from hermes import discover
from hermes.app import windows
from hermes.config import Config, Origin
from hermes.errors import ConfigError, NotConfigured, UnknownName, UsageError
from hermes.net import probe
from hermes.protocols import Endpoint, Notebook, Wire
from hermes.providers.base import Choice, Keys, LocalServer, Preferences, Registry, Resolver, address
from hermes.providers.base.routes import changed

if TYPE_CHECKING:
    from hermes.app.catalog import Catalog

_STORED = ("file", ".env")


class Chooser:
    """Chooses models for one configuration. `notes` and `wire` are asked for when they are needed.

    `ask` puts a yes-or-no question to the user; it is None when there is nobody to ask.
    """

    def __init__(self, config: Config, notes: Callable[[], Notebook], wire: Callable[[], Wire]) -> None:
        self.registry = Registry(config.home)
        self.ask: Callable[[str], bool] | None = None
        self._config = config
        self._notes = notes
        self._wire = wire
        self._servers: tuple[LocalServer, ...] = ()

    def choose(self, wanted: str = "") -> Choice:
        """Who answers: the name asked for, or what the settings say, with a key that may go there."""
        return self._sized(self.admit(self.resolver().choose(wanted)))

    def choose_stand_in(self, wanted: str) -> Choice:
        """Who answers when another cannot, with a key of its own."""
        return self._sized(self.admit(self.resolver().choose_stand_in(wanted)))

    def admit(self, choice: Choice) -> Choice:
        """The choice, if its key may go to its address; raises `NotConfigured` when it is for another."""
        if choice.keys is not None and choice.keys.are_stored:
            discover.module("hermes.app.key_hosts").check(choice, self._notes(), self.ask)
        return choice

    def find_key(self, name: str) -> tuple[Endpoint, str] | None:
        """Where a provider is with its key, and the key's name, for a tool; None when it has no key.

        Nobody is asked: a key that is for another host raises `NotConfigured`.
        """
        resolver = self.resolver()
        if not resolver.may_have_key(name):
            return None
        try:
            choice = resolver.consider(self.registry.load(name))
        except NotConfigured:
            return None
        if choice.keys is None:
            return None
        if choice.keys.are_stored:
            discover.module("hermes.app.key_hosts").check(choice, self._notes(), None)
        return choice.endpoint, choice.keys.name

    def bind(self, variable: str) -> None:
        """Take the stored keys in a variable, or in `model.api_key`, as entered for where they would go now.

        Keys that would go nowhere yet are bound when they are first used.
        """
        resolver = self.resolver()
        keys = resolver.preferences.api_key if variable == "model.api_key" else self._keys(variable)
        url = self._destination(variable, resolver) if keys and keys.are_stored else ""
        if keys and url:
            discover.module("hermes.app.key_hosts").bind(keys, url, self._notes())

    @property
    def looks_for_servers(self) -> bool:
        return self._config.model.local_servers

    def resolver(self) -> Resolver:
        """What a choice is made from, with the servers that were found so far."""
        model, environment = self._config.model, self._config.environment
        keys = model.api_key.split() if model.api_key else ()
        is_stored = self._config.origins.get("model.api_key", Origin("default")).source in _STORED
        preferences = Preferences(
            provider=model.provider,
            model=model.default,
            base_url=model.base_url,
            api_key=Keys("model.api_key", keys, is_stored) if keys else None,
            max_tokens=model.max_tokens,
            context_window=model.context_window,
        )
        return Resolver(self.registry, preferences, environment.lookup, self._keys, self._servers)

    async def look_around(self, wanted: str = "") -> None:
        """Find the model servers on this machine, when nothing else says who answers."""
        try:
            is_open = self.resolver().choose(wanted).is_last_resort
        except UnknownName:
            is_open = True  # it may be the name of a model that one of them has
        if is_open:
            self._servers = await self.local_servers()

    async def local_servers(self) -> tuple[LocalServer, ...]:
        """The model servers that run on this machine, best first; none where they are not wanted."""
        if not self.looks_for_servers:
            return ()
        endpoints = self.resolver().local()
        ports = await probe.listening({address.port(endpoint.base_url) for endpoint in endpoints})
        there = [endpoint for endpoint in endpoints if address.port(endpoint.base_url) in ports]
        if not there:
            return ()
        client = discover.module("hermes.net.client")
        wire: Wire = client.Client(caps=client.Caps(redirects=0))  # none of them leads to another machine
        try:
            return await self._catalog(lambda: wire).servers(there)
        finally:
            await wire.close()

    @property
    def catalog(self) -> "Catalog":
        """What the servers of providers say of their models."""
        return self._catalog(self._wire)

    def _catalog(self, wire: Callable[[], Wire]) -> "Catalog":
        # Loaded here because a run that knows its model never needs it.
        made: Catalog = discover.module("hermes.app.catalog").Catalog(self._notes(), wire)
        return made

    def _sized(self, choice: Choice) -> Choice:
        """The choice with the window that its server once told, where neither file nor settings say one."""
        provider = choice.endpoint.provider
        if provider.engine is not None or provider.context_window is not None:
            return choice
        window = windows.recall(self._notes(), choice.endpoint)
        if window is None:
            return choice
        return msgspec.structs.replace(choice, endpoint=changed(choice.endpoint, context_window=window))

    def _keys(self, variable: str) -> Keys | None:
        environment = self._config.environment
        found = environment.secret(variable)
        values = found.split() if found else ()
        return Keys(variable, values, environment.origin(variable) == ".env") if values else None

    def _destination(self, variable: str, resolver: Resolver) -> str:
        """The address of who uses the keys in a variable; empty when that is nobody yet."""
        owners = (provider for provider in self.registry.all() if variable in provider.key_env)
        try:
            if variable == "model.api_key":
                return resolver.choose().endpoint.base_url
            return next((resolver.consider(owner).endpoint.base_url for owner in owners), "")
        except (ConfigError, UsageError):
            return ""
