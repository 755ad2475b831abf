"""Pictures for a question, read from files."""

import binascii
import re

from hermes.errors import UsageError
from hermes.messages import Image

LARGEST = 20_000_000
"""Bytes of a picture; no vendor takes a larger one."""

_KINDS = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"(?s)RIFF....WEBP",
}


def read_image(path: str) -> Image:
    """The picture in a file: PNG, JPEG, GIF or WebP by its content, whatever its name; at most 20 MB."""
    data = _read(path)
    if len(data) > LARGEST:
        raise UsageError(f"`{path}` is larger than {LARGEST // 1_000_000} MB", hint="make it smaller first")
    kind = next((kind for kind, beginning in _KINDS.items() if re.match(beginning, data)), None)
    if kind is None:
        what = "holds no picture that a model takes" if data else "is empty"
        raise UsageError(f"`{path}` {what}", hint="give a PNG, JPEG, GIF or WebP file")
    return Image(media_type=kind, data=binascii.b2a_base64(data, newline=False).decode())


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read `{path}`: {why}", hint="name a file that is there") from error
