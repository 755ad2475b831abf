"""The index itself: what its users call."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from hermes import discover
from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable
from hermes.index import records
from hermes.index.addresses import MANUAL, file_url
from hermes.index.manual import pages
from hermes.index.query import build
from hermes.index.ranking import search
from hermes.index.report import AddReport, Progress, Read
from hermes.index.tables import INDEX
from hermes.protocols import IndexedDocument
from hermes.store.database import Database, fetch
from hermes.store.text import legible

MAX_RESULTS = 100

T = TypeVar("T")


class DocumentInfo(msgspec.Struct, frozen=True):
    """A document in the index, without its text."""

    url: str
    title: str
    characters: int


class Index:
    """Documents in one SQLite file, searchable. Raises `StoreError` and its kinds, nothing else."""

    def __init__(self, path: str | None, manual: str | None, now: Callable[[], float]) -> None:
        self._path = path
        self._manual = manual
        self._now = now
        self._furnished = 0
        try:
            self._database = Database(path, INDEX, now, reading_is_enough=True)
        except (StoreUnavailable, StoreCorrupt) as error:
            self._database = self._without_file(error, [])

    @classmethod
    def open(
        cls, path: str | None, manual: str | None = None, *, now: Callable[[], float] = time.time
    ) -> "Index":
        """The index in a file, or in memory. `manual` is a folder of Markdown that is always part of it.

        A damaged file is set aside and one that cannot be used is replaced by memory: `notices` says so.
        A file written by a newer Hermes raises `StoreError`.
        """
        index = cls(path, manual, now)
        index._guarded(lambda: None)
        return index

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about the state of the index."""
        return tuple(self._database.notices)

    def search(self, query: str, limit: int) -> Sequence[IndexedDocument]:
        """The documents that answer best, best first; nothing for a query without words."""
        built = build(query)
        count = min(limit, MAX_RESULTS)
        if built is None or count < 1:
            return ()
        return self._run(lambda connection: search(connection, built, count))

    def get(self, url: str) -> IndexedDocument | None:
        """A document by its address, with or without a fragment."""
        return self._run(lambda connection: _get(connection, url) or _get(connection, url.partition("#")[0]))

    def add(self, paths: Sequence[str], read: Read, progress: Progress | None = None) -> AddReport:
        """Bring in the files at and under the paths; `read` makes one readable or raises `DocumentError`.

        What did not change is not read again, and documents whose files are gone are removed.
        """
        self._require_saving()
        adding = discover.module("hermes.index.adding")
        report: AddReport = self._guarded(lambda: adding.Adding(self._database, read).run(paths, progress))
        return report

    def list(self) -> Sequence[DocumentInfo]:
        """Every document, by address."""
        return self._run(_list)

    def remove(self, paths_or_urls: Iterable[str]) -> int:
        """Forget documents, or all under a folder; returns how many. The manual stays."""
        self._require_saving()
        urls = [item if "://" in item else file_url(item) for item in paths_or_urls]
        return self._guarded(lambda: self._database.write(lambda connection: _remove(connection, urls)))

    def close(self) -> None:
        self._database.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._guarded(lambda: self._database.read(work))

    def _guarded(self, work: Callable[[], T]) -> T:
        """Do something, once more when the file was damaged and begun anew, and at last without it."""
        for is_second in (False, True):
            try:
                self._furnish()
                return work()
            except StoreCorrupt as error:
                if is_second:
                    self._database.close()
                    self._database = self._without_file(error, self._database.notices)
        self._furnish()
        return work()

    def _without_file(self, error: StoreError, told: Sequence[str]) -> Database:
        self._furnished = 0
        database = Database(None, INDEX, self._now)
        database.saves = False
        database.notices += [*told, f"{error}; only the manual is searched"]
        return database

    def _furnish(self) -> None:
        """See that the manual is in the file, which another process may have exchanged."""
        opened = self._database.follow()
        if opened != self._furnished:
            self._sync_manual()
            self._furnished = opened

    def _require_saving(self) -> None:
        if not self._database.saves:
            raise StoreUnavailable(
                f"the index `{self._path}` cannot be changed",
                hint="see that its folder exists, can be written and has room",
            )

    def _sync_manual(self) -> None:
        """Bring the manual up to date; when nothing changed this lists a folder and writes nothing."""
        if self._manual is None:
            return
        try:
            found = pages(self._manual)
            held = self._database.read(lambda connection: records.known(connection, MANUAL))
            if {url: page[1:] for url, page in found.items()} == {url: row[:2] for url, row in held.items()}:
                return
            changed = [_page(url, *page) for url, page in found.items() if page[1:] != held.get(url, ())[:2]]

            def replace(connection: sqlite3.Connection) -> None:
                records.remove(connection, [url for url in held if url not in found])
                for record in changed:
                    records.put(connection, record)

            self._database.write(replace)
        except (OSError, StoreUnavailable) as error:
            self._database.notices.append(f"the manual in the index is not up to date: {error}")


def _page(url: str, path: str, size: int, mtime: int) -> records.Record:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    first_heading = discover.module("hermes.index.passages").first_heading
    title = first_heading(text) or os.path.splitext(os.path.basename(path))[0]
    return records.Record(url, title, text, size, mtime)


def _get(connection: sqlite3.Connection, url: str) -> IndexedDocument | None:
    query = "SELECT url, title, text FROM documents WHERE url = ?"
    rows = fetch(connection, tuple[str, str, str], query, legible(url))
    return IndexedDocument(*rows[0]) if rows else None


def _list(connection: sqlite3.Connection) -> Sequence[DocumentInfo]:
    query = "SELECT url, title, length(text) FROM documents ORDER BY url"
    return [DocumentInfo(*row) for row in fetch(connection, tuple[str, str, int], query)]


def _remove(connection: sqlite3.Connection, urls: Sequence[str]) -> int:
    meant = [url for url in records.known(connection, "file://") for given in urls if _covers(given, url)]
    return records.remove(connection, meant)


def _covers(given: str, url: str) -> bool:
    return url == given or url.startswith(f"{given.rstrip('/')}/")
