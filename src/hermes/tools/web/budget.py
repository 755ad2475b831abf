"""Long pages cut to a budget without losing anything: head, tail, and the whole text on disk."""

import hashlib
import os
import re
from collections.abc import Callable
from urllib.parse import urlsplit

LONGEST_KEPT = 2_000_000
_DATA_IMAGE = r"!\[([^\]]*)\]\(\s*data:image/[^)]*\)"
_BARE_DATA_IMAGE = r"\(?data:image/[a-z+.-]+;base64,[A-Za-z0-9+/=\s]*[A-Za-z0-9+/=]\)?"


class PageArchive:
    """Where whole pages are kept: a folder, or nowhere when it cannot be written."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder

    def keep(self, url: str, text: str) -> str | None:
        """Store a page's full text; returns its path, or None when it could not be stored."""
        if self._folder is None:
            return None
        path = os.path.join(self._folder, page_file_name(url))
        whole = (
            text
            if len(text) <= LONGEST_KEPT
            else text[:LONGEST_KEPT] + "\n\n[cut here: the page is longer]\n"
        )
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(whole)
        except OSError:
            return None
        return path


def page_file_name(url: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", (urlsplit(url).netloc or "local").lower()).strip("-")[:60]
    return f"{slug}-{hashlib.sha256(url.encode(errors='replace')).hexdigest()[:10]}.md"


def fit(text: str, budget: int, keep: Callable[[str], str | None], short: str | None = None) -> str:
    """The text within the budget: whole, or its first three quarters and its end, with a note.

    The cut is always the same for the same text. The note comes on top of the budget. `short` is shown
    instead of the text, which is then kept all the same.
    """
    text = without_embedded_images(text)
    if short is not None:
        path = keep(text)
        stored = f"The full text is in {path}." if path else "The full text could not be stored."
        shown = fit(short, budget, lambda _short: path)
        return f"{shown}\n\n[Shortened by a model from {len(text)} characters. {stored}]"
    if len(text) <= budget:
        return text
    head, tail = _head(text, budget * 3 // 4), _tail(text, budget // 4)
    path = keep(text)
    first_omitted_line = head.count("\n") + 2
    stored = (
        f'The full text is in {path}: read_file(path="{path}", offset={first_omitted_line}) continues it.'
        if path
        else "The full text could not be stored."
    )
    return (
        f"{head}\n\n[… {len(text) - len(head) - len(tail)} characters omitted …]\n\n{tail}\n\n"
        f"[Shown: the first {len(head)} and the last {len(tail)} of {len(text)} characters. {stored}]"
    )


def without_embedded_images(text: str) -> str:
    """Pictures carried inside the text as base64 say nothing to a reader; their captions do."""
    if "data:image/" not in text:
        return text
    named = re.sub(_DATA_IMAGE, lambda found: f"[IMAGE: {found[1]}]" if found[1] else "[IMAGE]", text)
    return re.sub(_BARE_DATA_IMAGE, "[IMAGE]", named)


def _head(text: str, size: int) -> str:
    newline = text.rfind("\n", size // 2, size)
    return text[: newline if newline > 0 else size]


def _tail(text: str, size: int) -> str:
    start = len(text) - size
    newline = text.find("\n", start, start + size // 2)
    return text[newline + 1 if newline > 0 else start :]
