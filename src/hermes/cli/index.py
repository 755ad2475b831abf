"""Keep your own documents searchable: add, list, remove, search."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import click
import msgspec

from hermes import discover
from hermes.cli._settings import read_settings
from hermes.errors import UsageError
from hermes.index import AddReport, Index, manual_folder

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *_BIDI} - {ord("\n"), ord("\t")}
_VISIBLE = {code: f"\\u{code:04x}" for code in _CONTROLS}
_as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def command() -> None:
    """Keep your own documents searchable, beside Hermes' manual."""


@command.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
def add(paths: Sequence[str]) -> int:
    """Read files and folders into the index: Markdown, text, HTML, PDF.

    What did not change since the last time is not read again; what is gone from a folder is forgotten.
    """
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"`{path}` does not exist")
    with _index() as index, _Bar() as bar:
        read = discover.module("hermes.tools.web.reader.files").read_file
        report = index.add(paths, read, bar.show if sys.stderr.isatty() else None)
    _tell(report)
    done = report.added + report.updated + report.unchanged
    return 1 if report.failed and not done else 0


@command.command("list")
@_as_json
def list_documents(as_json: bool) -> None:
    """List the documents in the index."""
    with _index() as index:
        found = index.list()
    if as_json:
        _print_json({"documents": found})
    for document in () if as_json else found:
        _print(f"{document.url}\t{_one_line(document.title)}\n")


@command.command()
@click.argument("names", nargs=-1, required=True, type=click.Path(), metavar="PATH|URL...")
def remove(names: Sequence[str]) -> int:
    """Forget documents, by path or address; a folder stands for all that is under it."""
    with _index() as index:
        removed = index.remove(names)
    click.echo(f"removed {removed}", err=True)
    return 0 if removed else 1


@command.command()
@click.argument("query")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many results."
)
@_as_json
def search(query: str, limit: int, as_json: bool) -> None:
    """Search the documents; print titles, addresses and the passages that match."""
    with _index() as index:
        found = index.search(query, limit)
    rows = [
        {"title": document.title, "url": document.url, "description": document.passage, "position": position}
        for position, document in enumerate(found, 1)
    ]
    if as_json:
        _print_json({"success": True, "data": {"web": rows}})
        return
    for row in rows:
        title, passage = _one_line(str(row["title"])), _one_line(str(row["description"]))
        _print(f"{row['position']}. {title}\n   {row['url']}\n   {passage}\n\n")
    if not rows:
        click.echo("nothing found", err=True)


@contextmanager
def _index() -> Iterator[Index]:
    """The user's index, open; what is odd about it is said on stderr."""
    index = Index.open(os.path.join(read_settings().home, "index.db"), manual_folder())
    said = 0
    try:
        for notice in index.notices:
            click.echo(f"warning: {notice}", err=True)
            said += 1
        yield index
    finally:
        for notice in index.notices[said:]:
            click.echo(f"warning: {notice}", err=True)
        index.close()


class _Bar:
    """A progress bar on stderr, drawn when the number of files is known."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._bar: Any = None

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def show(self, done: int, total: int, path: str) -> None:
        if self._bar is None:
            bar = click.progressbar(length=total, label="reading", item_show_func=_shown, file=sys.stderr)
            self._bar = self._open.enter_context(bar)
        self._bar.update(done - self._bar.pos, path)


def _shown(path: str | None) -> str:
    return _visible(os.path.basename(path or ""))[:40]


def _tell(report: AddReport) -> None:
    for path, reason in report.failed:
        click.echo(f"warning: {_visible(path)}: {reason}", err=True)
    counts = f"added {report.added}, updated {report.updated}, unchanged {report.unchanged}"
    click.echo(f"{counts}, removed {report.removed}, failed {len(report.failed)}", err=True)


def _print_json(value: Any) -> None:
    _print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def _print(text: str) -> None:
    """Write a result: raw to a program, with nothing a terminal would obey to a terminal."""
    sys.stdout.write(_visible(text) if sys.stdout.isatty() else text)


def _visible(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").translate(_VISIBLE)


def _one_line(text: str) -> str:
    return " ".join(text.split())
