"""Real indexes in real files; a reader that needs no parser."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes.errors import DocumentError
from hermes.index import Index
from hermes.protocols import Page

Open = Callable[..., Index]


class Reader:
    """Gives a file as it is, and remembers what was read; one that holds `BROKEN` cannot be read."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def __call__(self, path: str) -> Page:
        self.paths.append(path)
        text = Path(path).read_text(encoding="utf-8")
        if "BROKEN" in text:
            raise DocumentError("is broken")
        return Page(markdown=text, title=Path(path).stem)


@pytest.fixture
def read() -> Reader:
    return Reader()


@pytest.fixture
def open_index() -> Iterator[Open]:
    opened: list[Index] = []

    def open_(path: Path | str | None = None, manual: Path | None = None, **more: object) -> Index:
        index = Index.open(
            None if path is None else str(path), None if manual is None else str(manual), **more
        )
        opened.append(index)
        return index

    yield open_
    for index in opened:
        index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents, one of them in a folder below."""
    files = tmp_path / "files"
    (files / "deep").mkdir(parents=True)
    (files / "steam.md").write_text("# Steam\n\nThe boiler makes steam for the engine.\n")
    (files / "normans.md").write_text("# Normans\n\nRollo swore fealty to the king.\n")
    (files / "deep" / "net.md").write_text("# Networks\n\nPackets travel between routers.\n")
    return files
