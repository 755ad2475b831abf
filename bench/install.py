"""What a default install brings, read from the metadata of the environment that runs this."""

import os
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.measure import ROOT, Figure, Goal, Plan

PROJECT = "hermes"
NOT_COUNTED = frozenset({"pip", "setuptools"})
MEGABYTE = 1024 * 1024


def measure_install(_plan: Plan) -> list[Figure]:
    brought = requirements_of(PROJECT)
    size = sum(size_of(distribution(name)) for name in brought)
    return [
        Figure(
            name="install.distributions",
            what="a default install",
            value=len(brought),
            unit="distributions",
            goal=Goal(40, "value at most"),
        ),
        Figure(
            name="install.size",
            what="a default install",
            value=size / MEGABYTE,
            unit="MB",
            goal=Goal(120, "value at most"),
        ),
    ]


def requirements_of(project: str) -> set[str]:
    """The project and all it needs here, without the extras nobody asked for."""
    brought: set[str] = set()
    wanted: list[tuple[str, frozenset[str]]] = [(project, frozenset())]
    while wanted:
        name, extras = wanted.pop()
        if name in brought or name in NOT_COUNTED:
            continue
        brought.add(name)
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            ):
                wanted.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return brought


def size_of(installed: Distribution) -> int:
    """The bytes of a distribution's files; a checkout counts as what it would install."""
    files = [str(installed.locate_file(file)) for file in installed.files or ()]
    if installed.name == PROJECT and not any(file.endswith("hermes/__init__.py") for file in files):
        files += _files_below(os.path.join(ROOT, "src", PROJECT)) + _files_below(os.path.join(ROOT, "docs"))
    return sum(os.path.getsize(file) for file in files if os.path.isfile(file))


def _files_below(folder: str) -> list[str]:
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
