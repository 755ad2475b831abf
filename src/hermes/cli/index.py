"""Keep your own documents searchable: add, list, remove, search."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import click
import msgspec

from hermes import discover
from hermes.cli._border import border, is_terminal, visible
from hermes.cli._json import json_option, show_json
from hermes.cli._results import show_result
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.errors import UsageError
from hermes.index import AddReport, DocumentInfo, Index, manual_folder

MANUAL = "hermes://"


@click.group()
def command() -> None:
    """Keep your own documents searchable, beside Hermes' manual."""


@command.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@json_option
def add(paths: Sequence[str], as_json: bool) -> int:
    """Read files and folders into the index: Markdown, text, HTML, PDF.

    What did not change since the last time is not read again; what is gone from a folder is forgotten.
    """
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"`{path}` does not exist", hint="name files or folders that are there")
    with _index() as index, _Bar() as bar:
        read = discover.module("hermes.tools.web.reader.files").read_file
        report = index.add(paths, read, bar.show if is_terminal(sys.stderr) else None)
    if as_json:
        failed = [{"path": path, "reason": reason} for path, reason in report.failed]
        show_json({**msgspec.structs.asdict(report), "failed": failed})
    else:
        _tell(report)
    done = report.added + report.updated + report.unchanged
    return 1 if report.failed and not done else 0


@command.command("list")
@json_option
def list_documents(as_json: bool) -> None:
    """List the documents in the index."""
    with _index() as index:
        found = index.list()
    if as_json:
        show_json({"documents": found})
        return
    show_table(document_table(found))
    if all(document.url.startswith(MANUAL) for document in found):
        border().say("this is Hermes' manual; add your own files with `hermes index add PATH`")


def document_table(documents: Sequence[DocumentInfo]) -> Table:
    """Documents by their addresses."""
    columns = (Column("address"), Column("title", least=12))
    return Table(columns, [[document.url, document.title] for document in documents])


@command.command()
@click.argument("names", nargs=-1, required=True, type=click.Path(), metavar="PATH|URL...")
@json_option
def remove(names: Sequence[str], as_json: bool) -> int:
    """Forget documents, by path or address; a folder stands for all that is under it."""
    with _index() as index:
        removed = index.remove(names)
    if as_json:
        show_json({"removed": removed})
    else:
        border().say(
            f"removed {removed}" + ("" if removed else "; see what is there with `hermes index list`")
        )
    return 0 if removed else 1


@command.command()
@click.argument("query")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many results."
)
@json_option
def search(query: str, limit: int, as_json: bool) -> None:
    """Search the documents; print titles, addresses and the passages that match."""
    with _index() as index:
        found = index.search(query, limit)
    rows = [
        {"title": document.title, "url": document.url, "description": document.passage, "position": position}
        for position, document in enumerate(found, 1)
    ]
    if as_json:
        show_json({"success": True, "data": {"web": rows}})
        return
    for position, document in enumerate(found, 1):
        show_result(position, document.title, document.url, document.passage)
    if not rows:
        border().say("nothing found; add documents with `hermes index add PATH`")


@contextmanager
def _index() -> Iterator[Index]:
    """The user's index, open; what is odd about it is said on stderr."""
    index = Index.open(os.path.join(read_settings().home, "index.db"), manual_folder())
    said = 0
    try:
        for notice in index.notices:
            border().say(f"warning: {notice}")
            said += 1
        yield index
    finally:
        for notice in index.notices[said:]:
            border().say(f"warning: {notice}")
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
    return visible(os.path.basename(path or ""))[:40]


def _tell(report: AddReport) -> None:
    for path, reason in report.failed:
        border().say(f"warning: {path}: {reason}")
    counts = f"added {report.added}, updated {report.updated}, unchanged {report.unchanged}"
    border().say(f"{counts}, removed {report.removed}, failed {len(report.failed)}")
