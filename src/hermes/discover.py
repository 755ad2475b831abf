"""The folder is the registry: names come from files, modules are imported when asked for.

The only place that imports by name. Commands, providers, transports, tools and web backends are
found here, and heavy modules (the HTTP client, the click application) are loaded here when a path
first needs them.
"""

import importlib
import os
from functools import cache
from types import ModuleType

from hermes.errors import UnknownName


@cache
def names(package: str) -> tuple[str, ...]:
    """What lies in a package's folder, sorted; `base` and private modules are not entries."""
    found: set[str] = set()
    for folder in importlib.import_module(package).__path__:
        for entry in os.listdir(folder):
            name = entry.removesuffix(".py")
            is_package = os.path.isfile(os.path.join(folder, entry, "__init__.py"))
            if (name != entry or is_package) and not name.startswith("_") and name != "base":
                found.add(name)
    return tuple(sorted(found))


def load(package: str, name: str, kind: str) -> ModuleType:
    """The module `name` of a package; an unknown one is an error that offers the nearest."""
    module = name.replace("-", "_")
    if module not in names(package):
        raise UnknownName(kind, name, (known.replace("_", "-") for known in names(package)))
    return importlib.import_module(f"{package}.{module}")


def module(path: str) -> ModuleType:
    """A module by its full name, imported on first use."""
    return importlib.import_module(path)
