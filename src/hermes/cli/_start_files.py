"""Code that runs whenever Python starts: lines of `.pth` files that nobody installed or nobody knows."""

import base64
import hashlib
import os
import re
import site
import sys
from collections.abc import Iterator

import msgspec

LARGEST = 1 << 20
_DISTUTILS = (
    r"import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os\.environ\.get\(var, 'local'\) == 'local';"
    r" enabled and _{2}import_{2}\('_distutils_hack'\)(?:\.add_shim\(\))?;?"
)
_ANYBODYS = re.compile(rf"import _virtualenv|{_DISTUTILS}")
"""What tools for environments write, to the letter; it is in no list of files."""
_EDITABLE = re.compile(r"import (__editable___\w+_finder); ?\1\.install\(\)")
"""What an editable installation writes, and lists."""


class Suspect(msgspec.Struct, frozen=True):
    """A file that runs code, and what is odd about it; `owned_by` ends a sentence, or is empty."""

    path: str
    why: str
    owned_by: str = ""


def suspects(folders: tuple[str, ...] | None = None) -> list[Suspect]:
    """The `.pth` files in the folders of packages that run code which is not known, or is nobody's."""
    return [found for folder in folders or _folders() for found in _in(folder)]


def _folders() -> tuple[str, ...]:
    places = [*site.getsitepackages(), site.getusersitepackages()]
    return tuple(dict.fromkeys(place for place in places if place in sys.path and os.path.isdir(place)))


def _in(folder: str) -> Iterator[Suspect]:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if not name.endswith(".pth") or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            content = file.read(LARGEST)
        code = _code(content)
        if not all(map(_ANYBODYS.fullmatch, code)):
            yield from _judged(folder, path, content, code)


def _code(content: bytes) -> list[str]:
    """The lines that Python would run."""
    lines = content.decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines()
    return [line.strip() for line in lines if line.startswith(("import ", "import\t"))]


def _judged(folder: str, path: str, content: bytes, code: list[str]) -> Iterator[Suspect]:
    owner, digest = _owner(folder, os.path.basename(path))
    if not owner:
        yield Suspect(path, "no installed package has this file")
        return
    ending = f" what brought it: `{owner}`"
    if digest and digest != _digest(content):
        yield Suspect(path, f"it was changed after `{owner}` was installed", ending)
    elif not all(map(_EDITABLE.fullmatch, code)):
        yield Suspect(
            path, f"it came with `{owner}`, and is neither an editable installation nor setuptools", ending
        )


def _owner(folder: str, name: str) -> tuple[str, str]:
    """The package whose list of files has this one, and the digest it gives; empty when there is none."""
    for entry in os.listdir(folder):
        if not entry.endswith(".dist-info"):
            continue
        try:
            with open(os.path.join(folder, entry, "RECORD"), encoding="utf-8", errors="replace") as file:
                rows = (line.rstrip("\n").split(",") for line in file)
                found = next((row for row in rows if row[0] == name), None)
        except OSError:
            continue
        if found:
            return entry.removesuffix(".dist-info"), found[1] if len(found) > 1 else ""
    return "", ""


def _digest(content: bytes) -> str:
    plain = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"sha256={plain}"
