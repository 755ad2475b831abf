"""The files of the page, as they are sent: read once, and nothing else of the disk."""

import hashlib
import os
from functools import cache

import msgspec
from starlette.responses import Response

from hermes.errors import RequestFault

FOLDER = os.path.join(os.path.dirname(__file__), "page")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


class PageFile(msgspec.Struct, frozen=True):
    body: bytes
    kind: str
    etag: str


@cache
def page_files() -> dict[str, PageFile]:
    """Every file by its name."""
    found: dict[str, PageFile] = {}
    for name in os.listdir(FOLDER):
        kind = _KINDS.get(os.path.splitext(name)[1])
        if kind is not None:
            with open(os.path.join(FOLDER, name), "rb") as file:
                body = file.read()
            found[name] = PageFile(body, kind, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
    return found


def file_response(name: str, known: str) -> Response:
    """A file, or that it is the one which the caller knows by this tag."""
    file = page_files().get(name)
    if file is None:
        raise RequestFault("there is nothing at this path", status=404, code="not_found")
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "etag": file.etag,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
    if file.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.kind)
