"""Fetched bytes made readable, by what they turn out to be. Runs where it can do no harm: see `worker`."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from hermes.errors import DocumentError
from hermes.protocols import Page
from hermes.tools.web.reader import pdf_worker
from hermes.tools.web.reader.charset import decode
from hermes.tools.web.reader.html import read_html
from hermes.tools.web.reader.text import read_text
from hermes.tools.web.reading.feeds import read_feed
from hermes.tools.web.reading.kinds import Kind, charset_of, kind_of

MAX_BYTES = 3_000_000
"""Of a text: what is longer takes seconds to read, and nobody is shown so much of it."""


def read(body: bytes, content_type: str, url: str) -> Page:
    """The readable content; raises `DocumentError` with the reason when there is none."""
    kind = kind_of(content_type, body)
    if kind == "pdf" or len(body) <= MAX_BYTES:
        return _titled(_read(kind, body, content_type, url), url)
    page = _read("text" if kind == "json" else kind, body[:MAX_BYTES], content_type, url)
    note = f"it is larger than {MAX_BYTES // 1_000_000} MB; the rest was left out"
    return _titled(msgspec.structs.replace(page, notes=(*page.notes, note)), url)


def _read(kind: Kind, body: bytes, content_type: str, url: str) -> Page:
    told = charset_of(content_type)
    match kind:
        case "pdf":
            return _read_pdf(body)
        case "html":
            return read_html(decode(body, declared=True, told=told), url)
        case "feed":
            return read_feed(decode(body, declared=True, told=told), url)
        case "json":
            return _read_json(body, told)
        case "text":
            return read_text(decode(body, declared=True, told=told).encode("utf-8"), "")


def _titled(page: Page, url: str) -> Page:
    """What has no title is named after its address."""
    if page.title:
        return page
    parts = urlsplit(url)
    name = unquote(os.path.basename(parts.path.rstrip("/"))) or parts.netloc
    return msgspec.structs.replace(page, title=name)


def _read_pdf(body: bytes) -> Page:
    found: Mapping[str, Any] = pdf_worker.read(body)
    if "error" in found:
        raise DocumentError(found["error"])
    metadata = {"author": found["author"]} if found["author"] else {}
    return Page(found["text"], found["title"], metadata, tuple(found["notes"]))


def _read_json(body: bytes, told: str) -> Page:
    """Data, set in lines so that it can be read; what is no JSON is given as it came."""
    text = decode(body, told=told)
    try:
        msgspec.json.decode(text)
        shown = msgspec.json.format(text, indent=2)
    except RecursionError:
        raise DocumentError("is nested too deeply") from None
    except msgspec.DecodeError:
        return Page(text, "", notes=("it is called JSON and is not valid",))
    return Page(f"```json\n{shown}\n```", "")
