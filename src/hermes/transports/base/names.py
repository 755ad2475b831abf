"""Names and ids in the letters that a wire takes."""

import hashlib
import re

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def legal(text: str, allowed: re.Pattern[str] = NAME) -> str:
    """The text as the wire takes it; a changed one ends in a digest, so that no two become one."""
    if allowed.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]
    return f"{_ILLEGAL.sub('_', text)[:51]}_{digest}"
