"""Files brought into the index: only what changed is read, and a failure stays with its file."""

import hashlib
import os
import sqlite3
from collections.abc import Sequence

from hermes.errors import DocumentError
from hermes.index import records
from hermes.index.addresses import file_url, path_of
from hermes.index.report import AddReport, Progress, Read
from hermes.index.walk import Found, files
from hermes.store.database import Database

BATCH_DOCUMENTS = 32
BATCH_CHARACTERS = 2_000_000


class Adding:
    """Walks some paths, reads what changed, and writes it in batches."""

    def __init__(self, database: Database, read: Read) -> None:
        self._database = database
        self._read = read
        self._known = database.read(lambda connection: records.known(connection, "file://"))
        self._documents: list[records.Record] = []
        self._touched: list[tuple[int, int, str]] = []
        self._counts = {"added": 0, "updated": 0, "unchanged": 0}
        self._failed: list[tuple[str, str]] = []

    def run(self, paths: Sequence[str], progress: Progress | None) -> AddReport:
        found = list(files(paths))
        for number, file in enumerate(found):
            if progress is not None:
                progress(number, len(found), file.path)
            self._take(file)
            if self._is_full():
                self._write()
        self._write()
        removed = self._remove_vanished(paths, found)
        return AddReport(**self._counts, removed=removed, failed=tuple(self._failed))

    def _take(self, file: Found) -> None:
        url = file_url(file.path)
        size, mtime, digest = self._known.get(url, (-1, -1, b""))
        if (size, mtime) == (file.size, file.mtime) and not file.refused:
            self._counts["unchanged"] += 1
            return
        try:
            fresh = _digest(file)
            if fresh == digest:
                self._touched.append((file.size, file.mtime, url))
                self._counts["unchanged"] += 1
                return
            page = self._read(file.path)
            if not page.markdown.strip():
                raise DocumentError("has no text")
        except DocumentError as error:
            self._failed.append((file.path, str(error)))
            return
        title = page.title or os.path.basename(file.path)
        self._documents.append(records.Record(url, title, page.markdown, file.size, file.mtime, fresh))
        self._counts["updated" if digest else "added"] += 1

    def _is_full(self) -> bool:
        characters = sum(len(document.text) for document in self._documents)
        return len(self._documents) >= BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS

    def _write(self) -> None:
        documents, touched = self._documents, self._touched

        def store(connection: sqlite3.Connection) -> None:
            for document in documents:
                records.put(connection, document)
            records.touch(connection, touched)

        if documents or touched:
            self._database.write(store)
        self._documents, self._touched = [], []

    def _remove_vanished(self, paths: Sequence[str], found: Sequence[Found]) -> int:
        """Forget the documents under the given folders whose files are gone."""
        folders = tuple(f"{file_url(path).rstrip('/')}/" for path in paths if os.path.isdir(path))
        present = {file_url(file.path) for file in found}
        gone = [
            url
            for url in self._known
            if url.startswith(folders) and url not in present and not os.path.lexists(path_of(url) or "")
        ]
        return self._database.write(lambda connection: records.remove(connection, gone)) if gone else 0


def _digest(file: Found) -> bytes:
    """What the content of a file is recognised by; raises `DocumentError` when it cannot be read."""
    if file.refused:
        raise DocumentError(file.refused)
    try:
        with open(file.path, "rb") as content:
            return hashlib.file_digest(content, "sha256").digest()
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from error
