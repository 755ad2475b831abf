"""HTML made readable: the part of a page that people came for, as Markdown."""

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, compress
from typing import AnyStr, Literal

import msgspec
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from hermes.protocols import Page
from hermes.tools.web.reader.charset import decode
from hermes.tools.web.reader.choose import choose, expected
from hermes.tools.web.reader.cut import ASIDE, BUTTON, FOLDED, FOOTER, NAV, NOSCRIPT, Cut, Element, cut
from hermes.tools.web.reader.features import KINDS, columns
from hermes.tools.web.reader.markdown import render
from hermes.tools.web.reader.metadata import Head, clean, metadata, resolver, title
from hermes.tools.web.reader.model import model
from hermes.tools.web.reader.notes import asks_for_scripts, instead, is_mount, shell_note
from hermes.tools.web.reader.signs import signs
from hermes.tools.web.reader.tame import MAX_DEPTH, flattened, tame

MAX_BYTES = 20_000_000
MAX_RUNS = 40_000
SMALL = 40
"""Words below which a page is too small to judge: all of it is kept but what frames it."""

Route = Literal["model", "small", "long", "whole", "empty"]

_REPLACEMENT = "\ufffd".encode()
_FRAME = NAV | FOOTER | ASIDE | BUTTON
_COMMENTS = re.compile(r"(?:^|[^a-z])(?:comments?|disqus|respond|reviews?)(?![a-z])", re.I)


class Reading(msgspec.Struct, frozen=True):
    """A page as it was read, and why so."""

    page: Page
    kind: str
    """What the page is taken for: one of `KINDS`, or nothing where that was not asked."""
    route: Route
    """How it was read: by the model, or by a rule because it is small, very long or has no main text."""
    confidence: float
    """The match with the wanted text that is expected, 0 to 1."""
    kept: tuple[str, ...]
    dropped: tuple[tuple[float, str], ...]
    """What was left out, each with the probability that it is wanted."""
    frames: tuple[str, ...]
    """What menus and footers say; they are left out without being judged."""


def read_html(html: bytes | str, url: str = "", *, comments: bool | None = None) -> Page:
    """The readable part of a page. `url` makes its links absolute; nothing is fetched.

    `comments` says whether the comments and reviews of readers belong to it; None leaves it to the kind
    of page. Never raises on odd HTML; what is no HTML at all (a PDF, an archive, an image) raises
    `DocumentError`.
    """
    with _uncollected():
        return _read(html, url, comments)[0]


def examine(html: bytes | str, url: str = "", *, comments: bool | None = None) -> Reading:
    """The same as `read_html`, with the grounds for it."""
    with _uncollected():
        page, found, choice = _read(html, url, comments)
        frames = (cut(node, model().names, framed=True).texts for node in found.frames)
        return Reading(
            page=page,
            kind=choice.kind,
            route=choice.route,
            confidence=choice.confidence,
            kept=tuple(compress(found.texts, choice.kept)),
            dropped=tuple(
                (odd, text)
                for odd, text, is_kept in zip(choice.odds, found.texts, choice.kept, strict=True)
                if text and not is_kept
            ),
            frames=tuple(filter(None, chain.from_iterable(frames))),
        )


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage collection: a page makes thousands of small objects that all go at once."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def _read(html: bytes | str, url: str, comments: bool | None) -> tuple[Page, Cut, "_Choice"]:
    html, notes = _bounded(html)
    html, cuts = tame(html)
    source = _Source(html, url)
    if not cuts and source.found.depth > MAX_DEPTH:
        html, cuts = flattened(html)
        source = _Source(html, url)
    found, choice = source.found, _choose(source, url)
    _heed(comments, found, choice)
    notes += cuts + _notes(found, choice, source.title, html)
    markdown = clean(render(found, choice.kept, source.resolve))
    page = Page(markdown=markdown, title=source.title, metadata=source.metadata, notes=notes)
    return page, found, choice


class _Source:
    """A page that was parsed, with what it says of itself, and cut into runs."""

    def __init__(self, html: str, url: str) -> None:
        tree = LexborHTMLParser(_storable(html), options=LexborDocumentOptions.WO_EVENTS)
        self.head = Head(tree)
        self.resolve = resolver(self.head, url)
        self.title = title(self.head, tree)
        self.metadata = metadata(self.head, tree, self.resolve)
        self.found = _cut(tree.body or tree.root)


def _bounded(html: bytes | str) -> tuple[str, tuple[str, ...]]:
    if len(html) > MAX_BYTES:
        if isinstance(html, bytes):
            html = _uncommented(html, b"<!--", b"-->")
        else:
            html = _uncommented(html, "<!--", "-->")
    is_cut = len(html) > MAX_BYTES
    html = html[:MAX_BYTES]
    text = decode(html, declared=True) if isinstance(html, bytes) else html
    note = f"the page is larger than {MAX_BYTES // 1_000_000} MB; the rest was left out"
    return text, (note,) if is_cut else ()


def _uncommented(html: AnyStr, start: AnyStr, end: AnyStr) -> AnyStr:
    """HTML that is too large, less its comments: they may be all that is too large about it."""
    kept: list[AnyStr] = []
    at = 0
    while (comment := html.find(start, at)) >= 0 and (after := html.find(end, comment + len(start))) >= 0:
        kept.append(html[at:comment])
        at = after + len(end)
    kept.append(html[at : at + MAX_BYTES + 1])
    return html[:0].join(kept)


def _storable(text: str) -> bytes:
    """Text in UTF-8, without lone surrogates and NULs."""
    return text.encode("utf-8", "replace").replace(b"\x00", _REPLACEMENT)


def _cut(root: LexborNode | None) -> Cut:
    """The page in runs, without its menus and footers if there is enough else."""
    if root is None:
        return Cut()
    names = model().names
    found = cut(root, names)
    return cut(root, names, framed=True) if found.frames and sum(found.words) < SMALL else found


class _Choice(msgspec.Struct):
    """Which runs are kept, and on what grounds."""

    kept: list[bool]
    odds: Sequence[float]
    route: Route
    kind: str = ""
    confidence: float = 1.0


def _choose(source: _Source, url: str) -> _Choice:
    """By the model, where there is enough to judge and not too much."""
    found = source.found
    inner = [not element.flags & _FRAME for element in found.elements]
    words = sum(count for count, is_inner in zip(found.words, inner, strict=True) if is_inner)
    if words >= SMALL and len(inner) <= MAX_RUNS:
        return _judged(found, source.head, url)
    route: Route = "small" if words < SMALL else "long"
    has_other = any(
        is_inner and count and not element.flags & NOSCRIPT
        for is_inner, count, element in zip(inner, found.words, found.elements, strict=True)
    )
    kept = [
        is_inner and bool(text) and not element.flags & (NOSCRIPT | FOLDED if has_other else FOLDED)
        for is_inner, text, element in zip(inner, found.texts, found.elements, strict=True)
    ]
    return _Choice(kept, [float(is_inner) for is_inner in inner], route)


def _judged(found: Cut, head: Head, url: str) -> _Choice:
    learnt = model()
    table, shared = columns(found, signs(url, head.data, head.fields.get("og:type", "")), learnt.kinds)
    kinds = shared[-len(KINDS) :]
    odds = learnt.odds(table, shared)
    best = expected(found.words, odds)
    return _Choice(choose(found, odds, best), odds, "model", KINDS[kinds.index(max(kinds))], best)


def _heed(comments: bool | None, found: Cut, choice: _Choice) -> None:
    """Keep or drop the comments of readers as the caller wants; a page of nothing else stays."""
    if comments is None:
        return
    kept = choice.kept[:]
    for element in found.containers:
        if _is_comments(element):
            for index in range(element.first, element.last):
                framed = found.elements[index].flags & (BUTTON | NAV)
                kept[index] = comments and not framed and bool(found.texts[index])
    if any(kept):
        choice.kept = kept


def _is_comments(element: Element) -> bool:
    attributes = element.node.attributes
    names = f"{attributes.get('id') or ''} {attributes.get('class') or ''}"
    return element.tag != "body" and _COMMENTS.search(names) is not None


def _notes(found: Cut, choice: _Choice, page_title: str, html: str) -> tuple[str, ...]:
    """What to say about the page; changes the choice where the page has nothing but its frame."""
    words = sum(count for count, is_kept in zip(found.words, choice.kept, strict=True) if is_kept)
    opening = next((text for text, is_kept in zip(found.texts, choice.kept, strict=True) if is_kept), "")
    other = instead(page_title, opening[:200], words)
    shell = shell_note(words, sum(found.words), html)
    if (other is not None and other.is_all) or (shell is not None and is_mount(html)):
        choice.kept = [False] * len(choice.kept)
    elif shell is not None:
        choice.kept = [
            is_kept and not asks_for_scripts(text)
            for text, is_kept in zip(found.texts, choice.kept, strict=True)
        ]
    notes = [other.note if other is not None else None, shell]
    if not any(choice.kept):
        choice.route = "empty"
    if choice.route == "long":
        notes.append(f"the page has more than {MAX_RUNS} pieces; it was read without judging its parts")
    if not words and shell is None and any(found.texts):
        choice.route, choice.kept = "whole", [bool(text) for text in found.texts]
        notes.append("no main text was found; the whole page is given")
    return tuple(note for note in notes if note)
