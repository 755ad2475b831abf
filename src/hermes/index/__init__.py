"""The local documents in SQLite FTS5, behind the `local` web backend."""

from hermes.index.documents import DocumentInfo, Index
from hermes.index.manual import manual_folder
from hermes.index.report import AddReport

__all__ = ["AddReport", "DocumentInfo", "Index", "manual_folder"]
