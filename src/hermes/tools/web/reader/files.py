"""A file made readable, by what its name and its first bytes say it is."""

import os
import stat

from hermes.errors import DocumentError
from hermes.protocols import Page
from hermes.tools.web.reader.html import read_html
from hermes.tools.web.reader.pdf import read_pdf
from hermes.tools.web.reader.text import read_text

MAX_FILE = 50_000_000
MAX_UNKNOWN = 5_000_000

_TEXT = frozenset((".md", ".markdown", ".txt", ".rst"))
_HTML = frozenset((".html", ".htm", ".xhtml"))


def read_file(path: str) -> Page:
    """The readable content of a file; raises `DocumentError` with the reason when there is none."""
    data = _load(path)
    extension = os.path.splitext(path)[1].lower()
    if extension in _HTML:
        page = read_html(data)
    elif extension == ".pdf":
        page = read_pdf(data)
    else:
        if extension not in _TEXT:
            _require_text(data)
        page = read_text(data, path)
    if page.title:
        return page
    stem = os.path.splitext(os.path.basename(path))[0]
    return Page(markdown=page.markdown, title=stem, metadata=page.metadata, notes=page.notes)


def _load(path: str) -> bytes:
    """The bytes of a plain file. A pipe or a device is refused, for it could be read for ever."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError("is not a plain file")
        if status.st_size > MAX_FILE:
            raise DocumentError(f"is larger than {MAX_FILE // 1_000_000} MB")
        with open(path, "rb") as file:
            return file.read(MAX_FILE)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DocumentError("has no valid name") from error


def _require_text(data: bytes) -> None:
    """A file of unknown kind is taken only if it is plainly UTF-8 text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise DocumentError("is not text") from None
    if b"\x00" in data:
        raise DocumentError("is not text")
    if len(data) > MAX_UNKNOWN:
        raise DocumentError(f"is larger than {MAX_UNKNOWN // 1_000_000} MB and of unknown kind")
