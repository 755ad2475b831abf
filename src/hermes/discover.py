"""The folder is the registry: names come from files, modules are imported when asked for.

The only place that imports by name. Commands, providers, transports, tools and web backends are
found here, and heavy modules (the HTTP client, the click application) are loaded here when a path
first needs them. What a person adds comes from here too: files of their own, and what installed
packages offer.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from types import ModuleType, TracebackType
from typing import Generic, TypeVar

import msgspec

from hermes.errors import ConfigError, UnknownName

_WRITABLE_BY_ANYBODY = 0o002

T = TypeVar("T")


@cache
def names(package: str) -> tuple[str, ...]:
    """What lies in a package's folder, sorted; `base` and private modules are not entries."""
    return tuple(
        sorted({name for folder in importlib.import_module(package).__path__ for name in _in(folder)})
    )


def _in(folder: str) -> list[str]:
    found: list[str] = []
    for entry in os.listdir(folder):
        name = entry.removesuffix(".py")
        is_package = name == entry and os.path.isfile(os.path.join(folder, entry, "__init__.py"))
        if (name != entry or is_package) and not name.startswith(("_", ".")) and name != "base":
            found.append(name)
    return found


def load(package: str, name: str, kind: str) -> ModuleType:
    """The module `name` of a package; an unknown one is an error that offers the nearest."""
    module = name.replace("-", "_")
    if module not in names(package):
        raise UnknownName(kind, name, (known.replace("_", "-") for known in names(package)))
    return importlib.import_module(f"{package}.{module}")


def text(package: str, name: str) -> str:
    """What stands in the file of a module that `names` gave, without running it."""
    folder = importlib.import_module(package).__path__[0]
    path = f"{folder}/{name}.py"
    if not os.path.isfile(path):
        path = f"{folder}/{name}/__init__.py"
    with open(path, "rb", buffering=0) as source:
        return source.read().decode()


def module(path: str) -> ModuleType:
    """A module by its full name, imported on first use."""
    return importlib.import_module(path)


def is_installed(package: str) -> bool:
    """Whether a package can be imported. It is not, so its code does not run."""
    found = module("importlib.machinery").PathFinder.find_spec(package)
    return found is not None and found.origin is not None


def files(folder: str) -> dict[str, str]:
    """The Python files of a folder that may not be there: each name with its path."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return {}
    return {
        entry.removesuffix(".py"): os.path.join(folder, entry)
        for entry in entries
        if entry.endswith(".py") and not entry.startswith(("_", "."))
    }


def file(path: str) -> ModuleType:
    """A Python file, run as a module of its own. What is wrong in it is an error with file and line.

    A file that anybody may write is not run.
    """
    name = "hermes_home_" + "".join(letter if letter.isalnum() else "_" for letter in path)
    return _run(name, path, ())


def folder(path: str, name: str) -> ModuleType:
    """A folder with an `__init__.py`, run as the package `name`, in which relative imports work.

    As with `file`. The package above it is made when it is not there.
    """
    parent, _, _ = name.rpartition(".")
    if parent not in sys.modules:
        sys.modules[parent] = ModuleType(parent)
        sys.modules[parent].__path__ = []
    return _run(name, os.path.join(path, "__init__.py"), (path,))


def _run(name: str, path: str, inner: tuple[str, ...]) -> ModuleType:
    if os.path.exists(path) and os.stat(path).st_mode & _WRITABLE_BY_ANYBODY:
        raise ConfigError(f"`{path}` can be changed by other users", hint=f"run `chmod go-w {path}`")
    util = module("importlib.util")
    spec = util.spec_from_file_location(name, path, submodule_search_locations=list(inner) or None)
    made: ModuleType = util.module_from_spec(spec)
    forget(name)  # a submodule of what was loaded before must not be taken for one of this
    sys.modules[name] = made  # where classes look for the module they are defined in
    try:
        spec.loader.exec_module(made)
    except KeyboardInterrupt:
        forget(name)
        raise
    except BaseException as error:  # it is the user's own code, and may raise anything
        forget(name)
        raise ConfigError(
            f"{path}:{_line(error, path)}: the file cannot be loaded: {_told(error)}",
            hint="mend the file, or move it out of the folder",
        ) from error
    return made


def forget(name: str) -> None:
    """Take a module and what lies in it out of the loaded ones."""
    for loaded in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
        del sys.modules[loaded]


def offered(target: str) -> object:
    """What an installed package offers: the value that `module:attribute` names, or the module."""
    path, _, attribute = target.partition(":")
    try:
        found = importlib.import_module(path)
        return getattr(found, attribute) if attribute else found
    except (Exception, SystemExit) as error:  # another author's code, too
        raise ConfigError(
            f"`{target}` cannot be loaded: {_told(error)}",
            hint="mend the package that offers it, or remove it",
        ) from error


def _told(error: BaseException) -> str:
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _line(error: BaseException, path: str) -> int:
    """The line of a file where an error came from."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1
    line, trace = 1, error.__traceback__
    while isinstance(trace, TracebackType):
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def entry_points(group: str) -> dict[str, str]:
    """What installed packages offer under a group: each name with its `module:attribute`.

    Their metadata is read as it lies on disk, because `importlib.metadata` alone costs as much as a whole
    start. Nothing in the working folder counts as installed.
    """
    heading = f"[{group}]".encode()
    found: dict[str, str] = {}
    for folder in dict.fromkeys(sys.path):
        if _is_working_folder(folder):
            continue
        for text in _metadata(folder, _last_change(folder)):
            if heading in text:
                found = dict(_entries(text.decode(errors="replace"), group)) | found
    return found


def _is_working_folder(path: str) -> bool:
    try:
        return not path or os.path.abspath(path) == os.getcwd()
    except OSError:
        return not path


def _last_change(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@cache
def _metadata(folder: str, _changed: int) -> list[bytes]:
    """What the packages of a folder offer; read once, until one is added or taken away."""
    try:
        packages = [entry for entry in os.listdir(folder) if entry.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return []
    texts: list[bytes] = []
    for package in packages:
        try:
            with open(f"{folder}/{package}/entry_points.txt", "rb", buffering=0) as metadata:
                texts.append(metadata.read())
        except OSError:
            continue
    return texts


def _entries(text: str, group: str) -> list[tuple[str, str]]:
    section = text.partition(f"[{group}]")[2].partition("\n[")[0]
    pairs = (line.partition("=") for line in section.splitlines() if not line.lstrip().startswith(("#", ";")))
    return [(name.strip(), target.partition("[")[0].strip()) for name, equals, target in pairs if equals]


class Kind(msgspec.Struct, Generic[T], frozen=True):
    """A kind of value that a file holds one of, and the three places where such files are."""

    noun: str
    """What a message calls it: `provider`."""
    type: type[T]
    attribute: str
    """Under which name a file holds it."""
    package: str
    group: str
    """The entry points by which installed packages offer it."""
    folder: str
    """The folder of the user's own files, in the Hermes home."""
    example: str
    """What a file without one should hold."""


class Entry(msgspec.Struct, Generic[T], frozen=True):
    """A value with the place it came from; `overrides` when it may take the name of another."""

    value: T
    place: str
    overrides: bool = False


class _Source(msgspec.Struct, frozen=True):
    """A place that says it has the value of this name; it is loaded when that one is wanted."""

    name: str
    target: str
    """A module of Hermes, `module:attribute` of a package, or a path."""
    place: str
    is_ours: bool = False
    """Whether it is a file of Hermes itself, which can be read without running it."""


class Registry(Generic[T]):
    """The values of a kind, by name. Loading one loads no other.

    A place that cannot be loaded is an error for who asks for that name; for all others it is one of
    `problems`. A name that two places have is an error, unless the user's own file says that it overrides.
    """

    def __init__(self, kind: Kind[T], home: str = "") -> None:
        self._kind = kind
        self._home = home
        self._loaded: dict[str, Entry[T]] = {}
        self._texts: dict[str, str] = {}

    @cached_property
    def _sources(self) -> dict[str, list[_Source]]:
        sources: dict[str, list[_Source]] = {}
        for source in (*self._built_in(), *self._installed(), *self._own()):
            sources.setdefault(source.name, []).append(source)
        return sources

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._sources))

    def __contains__(self, name: str) -> bool:
        return normal(name) in self._sources

    def load(self, name: str) -> Entry[T]:
        """The entry of a name; an unknown one is an error that offers the nearest."""
        name = normal(name)
        if name not in self._sources:
            raise UnknownName(self._kind.noun, name, self._sources)
        if name not in self._loaded:
            *others, source = self._sources[name]
            entry = self._read(source)
            if others and not entry.overrides:
                raise ConfigError(
                    f"the {self._kind.noun} `{name}` is in {others[-1].place} and in {source.place}",
                    hint="rename one of them, or write `OVERRIDES = True` in the file in the Hermes home",
                )
            self._loaded[name] = entry
        return self._loaded[name]

    @cached_property
    def entries(self) -> tuple[Entry[T], ...]:
        """Every entry that can be loaded, by name."""
        return tuple(found for found in self._all if isinstance(found, Entry))

    @property
    def problems(self) -> tuple[ConfigError, ...]:
        """What is wrong with the places that cannot be loaded."""
        return tuple(found for found in self._all if isinstance(found, ConfigError))

    def where(self, tells: Callable[[str], bool]) -> tuple[T, ...]:
        """The values whose file says this, by name; with every one that is no file of Hermes itself.

        Reading all the files takes a tenth of the time that it takes to load them.
        """
        found: list[T] = []
        for name in sorted(self._sources):
            if self.says(name, tells):
                with suppress(ConfigError):  # it is one of `problems`
                    found.append(self.load(name).value)
        return tuple(found)

    def says(self, name: str, tells: Callable[[str], bool]) -> bool:
        """Whether a file says this; of one that is no file of Hermes itself, it may."""
        return any(not source.is_ours or tells(self._text(source)) for source in self._sources[name])

    @cached_property
    def _all(self) -> list[Entry[T] | ConfigError]:
        found: list[Entry[T] | ConfigError] = []
        for name in self.names():
            try:
                found.append(self.load(name))
            except ConfigError as error:
                found.append(error)
        return found

    def _text(self, source: _Source) -> str:
        if source.name not in self._texts:
            self._texts[source.name] = text(self._kind.package, source.target)
        return self._texts[source.name]

    def _built_in(self) -> Iterator[_Source]:
        package = self._kind.package
        for module in names(package):
            yield _Source(normal(module), module, f"`{package}.{module}`", is_ours=True)

    def _installed(self) -> Iterator[_Source]:
        for name, target in entry_points(self._kind.group).items():
            yield _Source(normal(name), target, f"`{target}`")

    def _own(self) -> Iterator[_Source]:
        folder = os.path.join(self._home, self._kind.folder)
        for name, path in files(folder).items() if self._home else ():
            yield _Source(normal(name), path, f"`{path}`")

    def _read(self, source: _Source) -> Entry[T]:
        attribute = self._kind.attribute
        if source.is_ours:
            value: T = getattr(load(self._kind.package, source.name, self._kind.noun), attribute)
            return Entry(value, source.place)
        if os.path.isabs(source.target):
            module = file(source.target)
            overrides = getattr(module, "OVERRIDES", False) is True
            return Entry(self._checked(getattr(module, attribute, None), source), source.place, overrides)
        return Entry(self._checked(offered(source.target), source), source.place)

    def _checked(self, value: object, source: _Source) -> T:
        """The value of a place that nobody has tested."""
        kind = self._kind
        if not isinstance(value, kind.type):
            raise ConfigError(f"{source.place} has no {kind.noun}", hint=f"write {kind.example}")
        name: str = getattr(value, "name", "")
        if normal(name) != source.name:
            raise ConfigError(
                f"{source.place} is named `{source.name}` and holds the {kind.noun} `{name}`",
                hint="give both the same name",
            )
        return value


def normal(name: str) -> str:
    """A name as every place spells it."""
    return name.strip().lower().replace("_", "-")
