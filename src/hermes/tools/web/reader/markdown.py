"""The chosen runs of a page written as Markdown, in the structures they stood in."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from typing import Any

from selectolax.lexbor import LexborNode

from hermes.tools.web.reader.blocks import (
    Block,
    Cell,
    Code,
    Item,
    Listing,
    Quote,
    Row,
    Table,
    Wrap,
    code_span,
    emphasis,
    one_line,
)
from hermes.tools.web.reader.cut import HEADINGS, TABLE, Cut, Element

MAX_NESTED_BLOCKS = 24
MAX_IN_HEADING = 4

_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_WORD = re.compile(r"\w+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)[-\s]*([\w+#.-]{1,30})")
_NO_LANGUAGE = frozenset(("none", "plain", "text", "plaintext", "default", "wrapper", "block"))
_PERMALINKS = frozenset(("¶", "#", "§", "🔗"))

_EMPHASIS = {
    "strong": "**",
    "b": "**",
    "em": "*",
    "i": "*",
    "cite": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
}
_BOLD = frozenset(("b", "strong"))
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_STRUCTURES = frozenset(("ul", "menu", "dir", "ol", "li", "blockquote", "table", "tr", "td", "th", "pre"))

Resolve = Callable[[str], str | None]


def render(cut: Cut, kept: Sequence[bool], resolve: Resolve) -> str:
    """The Markdown of the kept runs; `resolve` makes an address absolute, or refuses it with None."""
    return _Writer(cut, kept, resolve).write()


class _Writer:
    """Writes run after run; between two of them it leaves and enters the structures that differ."""

    def __init__(self, cut: Cut, kept: Sequence[bool], resolve: Resolve) -> None:
        self.cut = cut
        self.kept = kept
        self.resolve = resolve
        self.block = Block()
        self.outer: list[tuple[Element, Block]] = []
        self.chains: dict[Element, tuple[Element, ...]] = {}
        self.cells: dict[Element, int] = {}

    def write(self) -> str:
        cut, kept = self.cut, self.kept
        if any(element.flags & TABLE for element, is_kept in zip(cut.elements, kept, strict=True) if is_kept):
            self._number_cells()
        loose = iter(_between(cut.loose, kept))
        at, picture = next(loose, (-1, None))
        for index, is_kept in enumerate(kept):
            if not is_kept:
                continue
            while picture is not None and at <= index:
                self._picture(cut.elements[index - 1], picture)
                at, picture = next(loose, (-1, None))
            self._enter(cut.elements[index])
            self._run(cut.elements[index], cut.inline[index], cut.texts[index])
        while self.outer:
            self._leave()
        return self.block.finish()

    def _picture(self, beside: Element, node: LexborNode) -> None:
        """A picture on its own, in the structure of the text before it; one that says nothing is left out."""
        text = self._image(node)
        if text and node.attributes.get("alt"):
            self._enter(beside)
            self.block.flush()
            self.block.add(text)

    def _number_cells(self) -> None:
        """The column of each cell, counted with those that are empty."""
        row, column = None, 0
        for element in self.cut.containers:
            if element.tag in ("td", "th"):
                if element.parent is not row:
                    row, column = element.parent, 0
                self.cells[element] = column
                column += _number(element.node, "colspan")

    def _chain(self, element: Element) -> tuple[Element, ...]:
        """The structures around an element, outermost first, and the element itself if it is one."""
        fresh: list[Element] = []
        here: Element | None = element
        while here is not None and here not in self.chains:
            fresh.append(here)
            here = here.parent
        found = self.chains[here] if here is not None else ()
        for here in reversed(fresh):
            if here.tag in _STRUCTURES and len(found) < MAX_NESTED_BLOCKS:
                found = (*found, here)
            self.chains[here] = found
        return found

    def _enter(self, element: Element) -> None:
        chain = self._chain(element)
        same = 0
        for (opened, _), wanted in zip(self.outer, chain, strict=False):
            if opened is not wanted:
                break
            same += 1
        while len(self.outer) > same:
            self._leave()
        for wanted in chain[same:]:
            self.block.flush()
            self.outer.append((wanted, self.block))
            self.block = self._opened(wanted)

    def _leave(self) -> None:
        _, outer = self.outer.pop()
        outer.take(self.block)
        self.block = outer

    def _opened(self, element: Element) -> Block:
        """The block that an element stands for."""
        tag, node = element.tag, element.node
        if tag == "li":
            return Item()
        if tag == "ol":
            return Listing(_number(node, "start"))
        if tag == "pre":
            return Code(_language(node))
        if tag == "blockquote":
            return Quote()
        if tag == "table":
            return Table()
        if tag == "tr" and isinstance(self.block, Table):
            return Row()
        if tag in ("td", "th") and isinstance(self.block, Row):
            return Cell(self.cells.get(element, 0))
        return Listing() if tag in ("ul", "menu", "dir") else Block()

    def _run(self, element: Element, parts: Sequence[Any], text: str) -> None:
        block = self.block
        if block.is_verbatim:
            block.text("\n" if block.inline and not block.inline[-1].endswith("\n") else "")
            for part in parts:
                if part.__class__ is str:
                    block.text(part)
            return
        block.heading = _heading(element)
        is_term = element.tag == "dt"
        if is_term:
            block.open(emphasis("**"))
        if len(parts) == 1:
            block.text(text)
        else:
            self._write(parts)
        block.flush()

    def _write(self, parts: Sequence[Any]) -> None:
        """Text with its formatting, links and pictures."""
        block = self.block
        for part in parts:
            if part.__class__ is str:
                block.text("\n" if part == "\n" else _spaced(part))
            elif part is None:
                if block.spans:
                    block.close()
            elif part.tag == "img":
                block.text(self._image(part))
            else:
                block.open(_as_it_is if part.tag in _BOLD and block.heading else self._wrap(part, part.tag))

    def _wrap(self, node: LexborNode, tag: str) -> Wrap:
        if tag == "a":
            href = node.attributes.get("href")
            return _link(self.resolve(href) if href else None)
        if tag in _CODE:
            return code_span
        if tag in _EMPHASIS:
            return emphasis(_EMPHASIS[tag])
        return _quoted if tag == "q" else _as_it_is

    def _image(self, node: LexborNode) -> str:
        attributes = node.attributes
        if attributes.get("width") in ("0", "1") or attributes.get("height") in ("0", "1"):
            return ""
        alt = _SPACE.sub(" ", attributes.get("alt") or "").strip()
        alt = self._news(alt) if alt else ""
        for name in ("src", "data-src", "data-original", "data-lazy-src"):
            source = attributes.get(name)
            address = self.resolve(source) if source else None
            if address:
                return f"![{alt}]({address})"
        return f"[IMAGE: {alt}]" if alt else ""

    def _news(self, alt: str) -> str:
        """What a picture is said to show, where that has a word which the text does not have anyway."""
        said = self._said
        return "" if all(word in said for word in _WORD.findall(alt.lower())) else alt

    @cached_property
    def _said(self) -> str:
        return " ".join(compress(self.cut.texts, self.kept)).lower()


def _spaced(text: str) -> str:
    """Inline text: white space at its ends still parts words."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{one_line(text)}{after}"


def _between(loose: Sequence[tuple[int, Any]], kept: Sequence[bool]) -> list[tuple[int, Any]]:
    """The pictures that stand between two kept runs."""
    return [(at, node) for at, node in loose if 0 < at < len(kept) and kept[at - 1] and kept[at]]


def _link(address: str | None) -> Wrap:
    """Text as a link; the signs that only link a heading to itself are left out."""

    def wrap(text: str) -> str:
        if text in _PERMALINKS:
            return ""
        return f"[{text.replace(chr(10), ' ')}]({address})" if address else text

    return wrap


def _quoted(text: str) -> str:
    return f"“{text}”"


def _as_it_is(text: str) -> str:
    return text


def _heading(element: Element) -> int:
    """The level of the heading that an element is or stands in, 0 for none."""
    here: Element | None = element
    for _ in range(MAX_IN_HEADING):
        if here is None or here.tag in _STRUCTURES:
            break
        if here.tag in HEADINGS:
            return HEADINGS[here.tag]
        here = here.parent
    return 0


def _number(node: LexborNode, attribute: str) -> int:
    digits = node.attributes.get(attribute) or ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 1


def _language(pre: LexborNode) -> str:
    """The language of code, from the class of the element, of its only child, or of what holds it."""
    for node in (pre, pre.first_child, pre.parent):
        if node is not None and node.is_element_node:
            found = _LANGUAGE.search(node.attributes.get("class") or "")
            if found and found[1].lower() not in _NO_LANGUAGE:
                return found[1].lower()
    return ""
