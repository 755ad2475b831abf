"""The folder is the registry: names come from files, modules are imported when asked for.

The only place that imports by name. Commands, providers, transports, tools and web backends are
found here, and heavy modules (the HTTP client, the click application) are loaded here when a path
first needs them. What a person adds comes from here too: files of their own, and what installed
packages offer.
"""

import importlib
import os
import sys
from functools import cache
from types import ModuleType, TracebackType

from hermes.errors import ConfigError, UnknownName

_WRITABLE_BY_ANYBODY = 0o002


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
        for text in _metadata(folder):
            if heading in text:
                found = dict(_entries(text.decode(errors="replace"), group)) | found
    return found


def _is_working_folder(path: str) -> bool:
    try:
        return not path or os.path.abspath(path) == os.getcwd()
    except OSError:
        return not path


def _metadata(folder: str) -> list[bytes]:
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
