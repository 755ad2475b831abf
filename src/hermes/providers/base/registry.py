"""Every provider by name: the folder here, what installed packages offer, and the user's own files."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property

import msgspec

from hermes import discover
from hermes.errors import ConfigError, UnknownName, UsageError
from hermes.protocols import Provider

PACKAGE = "hermes.providers"
FOLDER = "providers"
"""The folder of the user's own provider files, in the Hermes home."""


class Found(msgspec.Struct, frozen=True):
    """A provider with the place it came from; `overrides` when it may take the names of another."""

    provider: Provider
    place: str
    overrides: bool = False


class Source(msgspec.Struct, frozen=True):
    """A place that says it has the provider of this name; it is loaded when that one is wanted."""

    name: str
    target: str
    """A module of Hermes, `module:attribute` of a package, or a path."""
    load: Callable[["Source"], Found]
    is_ours: bool = False
    """Whether it is a file of Hermes itself, which can be read without running it."""

    @property
    def place(self) -> str:
        return f"`{PACKAGE}.{self.target}`" if self.is_ours else f"`{self.target}`"


class Registry:
    """The providers there are. Loading one by its own name loads no other; an alias needs them all.

    A place that cannot be loaded is an error for who asks for that provider; for all others it is one
    of `problems`.
    """

    def __init__(self, home: str = "") -> None:
        self._home = home
        self._loaded: dict[str, Found] = {}
        self._texts: dict[str, str] = {}

    @cached_property
    def _sources(self) -> dict[str, list[Source]]:
        sources: dict[str, list[Source]] = {}
        for source in (*_built_in(), *_installed(), *_own(self._home)):
            sources.setdefault(source.name, []).append(source)
        return sources

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._sources))

    def load(self, name: str) -> Provider:
        """A provider by its name or an alias."""
        return self._find(name).provider

    def is_known(self, name: str) -> bool:
        return _normal(name) in self._sources or _normal(name) in self._claims

    def all(self) -> tuple[Provider, ...]:
        """Every provider that can be loaded, by name."""
        return tuple(found.provider for found in self._all[0])

    def where(self, tells: Callable[[str], bool]) -> tuple[Provider, ...]:
        """The providers whose file says this, by name; with every one that is no file of Hermes itself.

        Reading all the files takes a tenth of the time that it takes to load them.
        """
        found: list[Provider] = []
        for name in self.names():
            if self.says(name, tells):
                with suppress(ConfigError):  # it is one of `problems`
                    found.append(self._load(name).provider)
        return tuple(found)

    def says(self, name: str, tells: Callable[[str], bool]) -> bool:
        """Whether the file of a provider says this; of one that is no file of Hermes itself, it may."""
        return any(not source.is_ours or tells(self._text(source)) for source in self._sources[name])

    def owners(self, model: str) -> tuple[Provider, ...]:
        """The providers that list a model of this name."""
        return tuple(provider for provider in self.all() if model in provider.models)

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """What is wrong with the registry: files that cannot be loaded, names that two claim."""
        clashes = (_clash(alias, claims) for alias, claims in self._claims.items() if len(claims) > 1)
        return (*self._all[1], *clashes)

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
        return UnknownName(kind, name, {*self._sources, *self._claims, *others})

    def several(self, model: str, owners: tuple[Provider, ...]) -> UsageError:
        names = " and ".join(f"`{owner.name}`" for owner in owners)
        hint = f"name one, as in `{owners[0].name}/{model}`"
        return UsageError(f"the model `{model}` is listed by {names}", hint=hint)

    def _find(self, name: str) -> Found:
        wanted = _normal(name)
        if wanted in self._sources:
            return self._load(wanted)
        claims = self._claims.get(wanted)
        if claims is None:
            raise self.unknown("provider", name)
        if len(claims) > 1:
            raise _clash(wanted, claims)
        return claims[0]

    def _load(self, name: str) -> Found:
        if name not in self._loaded:
            *others, source = self._sources[name]
            found = source.load(source)
            if others and not found.overrides:
                raise ConfigError(
                    f"the provider `{name}` is in {others[-1].place} and in {source.place}",
                    hint="rename one of them, or write `OVERRIDES = True` in the file in the Hermes home",
                )
            self._loaded[name] = found
        return self._loaded[name]

    def _text(self, source: Source) -> str:
        if source.name not in self._texts:
            self._texts[source.name] = discover.text(PACKAGE, source.target)
        return self._texts[source.name]

    @cached_property
    def _all(self) -> tuple[list[Found], list[ConfigError]]:
        loaded: list[Found] = []
        failures: list[ConfigError] = []
        for name in self.names():
            try:
                loaded.append(self._load(name))
            except ConfigError as error:
                failures.append(error)
        return loaded, failures

    @cached_property
    def _claims(self) -> dict[str, list[Found]]:
        """Who claims an alias; a provider that overrides is the only one to claim its own."""
        claims: dict[str, list[Found]] = {}
        for found in sorted(self._all[0], key=lambda found: found.overrides):
            for alias in {_normal(alias) for alias in found.provider.aliases} - {found.provider.name}:
                named = [self._load(alias)] if alias in self._loaded else []
                claims[alias] = [found] if found.overrides else [*named, *claims.get(alias, []), found]
        return claims


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _clash(alias: str, claims: list[Found]) -> ConfigError:
    places = " and ".join(found.place for found in claims)
    return ConfigError(
        f"the name `{alias}` is claimed in {places}",
        hint="take it out of one of them, or write `OVERRIDES = True` in the file in the Hermes home",
    )


def _built_in() -> Iterator[Source]:
    for module in discover.names(PACKAGE):
        yield Source(_normal(module), module, _load_built_in, is_ours=True)


def _load_built_in(source: Source) -> Found:
    return Found(discover.load(PACKAGE, source.name, "provider").PROVIDER, source.place)


def _installed() -> Iterator[Source]:
    for name, target in discover.entry_points(PACKAGE).items():
        yield Source(_normal(name), target, _load_installed)


def _load_installed(source: Source) -> Found:
    return Found(_checked(discover.offered(source.target), source), source.place)


def _own(home: str) -> Iterator[Source]:
    for name, path in discover.files(os.path.join(home, FOLDER)).items() if home else ():
        yield Source(_normal(name), path, _load_own)


def _load_own(source: Source) -> Found:
    module = discover.file(source.target)
    provider = _checked(getattr(module, "PROVIDER", None), source)
    return Found(provider, source.place, getattr(module, "OVERRIDES", False) is True)


def _checked(value: object, source: Source) -> Provider:
    """The provider of a place that nobody has tested."""
    if not isinstance(value, Provider):
        raise ConfigError(
            f"{source.place} has no provider",
            hint="write `PROVIDER = Provider(…)`, with `from hermes.protocols import Provider`",
        )
    if _normal(value.name) != source.name:
        raise ConfigError(
            f"{source.place} is named `{source.name}` and holds the provider `{value.name}`",
            hint="give both the same name",
        )
    return value
