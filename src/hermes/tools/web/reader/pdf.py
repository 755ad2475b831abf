"""PDF made readable, in a process of its own: a hostile file can only harm that."""

import os
import subprocess
import sys

import msgspec

from hermes.errors import DocumentError
from hermes.protocols import Page

TIME_LIMIT = 20.0

_WORKER = (sys.executable, "-P", "-m", "hermes.tools.web.reader.pdf_worker")


class _Reply(msgspec.Struct):
    """What the worker prints: a text, or why there is none."""

    title: str = ""
    text: str = ""
    author: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""


def read_pdf(data: bytes) -> Page:
    """The text of a PDF, its pages parted by blank lines. Raises `DocumentError` when it cannot be read."""
    reply = _ask_worker(data)
    if reply.error:
        raise DocumentError(reply.error)
    metadata = {"author": reply.author} if reply.author else {}
    return Page(markdown=reply.text, title=reply.title, metadata=metadata, notes=reply.notes)


def _ask_worker(data: bytes) -> _Reply:
    if b"%PDF-" not in data[:1024]:
        raise DocumentError("is not a PDF")
    # Only the module path: a process that reads hostile data is given no keys.
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(  # noqa: S603 - the command is a constant
            _WORKER, input=data, capture_output=True, timeout=TIME_LIMIT, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise DocumentError(f"took longer than {TIME_LIMIT:.0f} seconds to read") from None
    except OSError as error:
        raise DocumentError(f"the PDF reader did not start: {error.strerror}") from error
    try:
        return msgspec.json.decode(done.stdout, type=_Reply)
    except msgspec.DecodeError:
        raise DocumentError("the PDF reader broke down on it") from None
