"""Every provider by name: the folder here, what installed packages offer, and the user's own files."""

from collections.abc import Callable
from functools import cached_property

from hermes.discover import Entry, Kind, normal
from hermes.discover import Registry as Entries
from hermes.errors import ConfigError, UnknownName, UsageError
from hermes.protocols import Provider

KIND = Kind(
    noun="provider",
    type=Provider,
    attribute="PROVIDER",
    package="hermes.providers",
    group="hermes.providers",
    folder="providers",
    example="`PROVIDER = Provider(…)`, with `from hermes.protocols import Provider`",
)


class Registry:
    """The providers there are. Loading one by its own name loads no other; an alias needs them all.

    A place that cannot be loaded is an error for who asks for that provider; for all others it is one
    of `problems`.
    """

    def __init__(self, home: str = "") -> None:
        self._entries = Entries(KIND, home)

    def names(self) -> tuple[str, ...]:
        return self._entries.names()

    def load(self, name: str) -> Provider:
        """A provider by its name or an alias."""
        return self._find(name).value

    def is_known(self, name: str) -> bool:
        return name in self._entries or normal(name) in self._claims

    def all(self) -> tuple[Provider, ...]:
        """Every provider that can be loaded, by name."""
        return tuple(entry.value for entry in self._entries.entries)

    def where(self, tells: Callable[[str], bool]) -> tuple[Provider, ...]:
        """The providers whose file says this, by name; with every one that is no file of Hermes itself."""
        return self._entries.where(tells)

    def says(self, name: str, tells: Callable[[str], bool]) -> bool:
        """Whether the file of a provider says this; of one that is no file of Hermes itself, it may."""
        return self._entries.says(name, tells)

    def owners(self, model: str) -> tuple[Provider, ...]:
        """The providers that list a model of this name."""
        return tuple(provider for provider in self.all() if model in provider.models)

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """What is wrong with the registry: files that cannot be loaded, names that two claim."""
        clashes = (_clash(alias, claims) for alias, claims in self._claims.items() if len(claims) > 1)
        return (*self._entries.problems, *clashes)

    def split_model(self, text: str) -> tuple[str, str]:
        """`PROVIDER/MODEL` or `PROVIDER:MODEL` into its parts; a bare word is one of the two.

        A word that names a provider means that provider's default model. The provider part comes back
        empty when none was named.
        """
        for mark in ("/", ":"):
            provider, found, model = text.partition(mark)
            if found and self.is_known(provider):
                return provider, model
        return (text, "") if self.is_known(text) else ("", text)

    def unknown(self, kind: str, name: str, others: tuple[str, ...] = ()) -> UnknownName:
        """The error for a name that nobody has; the nearest known ones are offered."""
        return UnknownName(kind, name, {*self.names(), *self._claims, *others})

    def several(self, model: str, owners: tuple[Provider, ...]) -> UsageError:
        names = " and ".join(f"`{owner.name}`" for owner in owners)
        hint = f"name one, as in `{owners[0].name}/{model}`"
        return UsageError(f"the model `{model}` is listed by {names}", hint=hint)

    def _find(self, name: str) -> Entry[Provider]:
        if name in self._entries:
            return self._entries.load(name)
        claims = self._claims.get(normal(name))
        if claims is None:
            raise self.unknown("provider", name)
        if len(claims) > 1:
            raise _clash(normal(name), claims)
        return claims[0]

    @cached_property
    def _claims(self) -> dict[str, list[Entry[Provider]]]:
        """Who claims an alias; a provider that overrides is the only one to claim its own."""
        claims: dict[str, list[Entry[Provider]]] = {}
        loaded = {entry.value.name: entry for entry in self._entries.entries}
        for found in sorted(self._entries.entries, key=lambda found: found.overrides):
            for alias in {normal(alias) for alias in found.value.aliases} - {found.value.name}:
                named = [loaded[alias]] if alias in loaded else []
                claims[alias] = [found] if found.overrides else [*named, *claims.get(alias, []), found]
        return claims


def _clash(alias: str, claims: list[Entry[Provider]]) -> ConfigError:
    places = " and ".join(found.place for found in claims)
    return ConfigError(
        f"the name `{alias}` is claimed in {places}",
        hint="take it out of one of them, or write `OVERRIDES = True` in the file in the Hermes home",
    )
