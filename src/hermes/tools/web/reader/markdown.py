"""An HTML tree written as Markdown, without recursion: the tree may be as deep as it likes."""

import re
from collections.abc import Callable

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
)

MAX_NESTED_BLOCKS = 24

_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]*([\w+#.-]{1,30})")
_PERMALINKS = frozenset(("¶", "#", "§", "🔗"))

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
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
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_SPANS = frozenset(_EMPHASIS) | _CODE | {"a"}
_SIMPLE: dict[str, type[Block]] = {
    "ul": Listing,
    "menu": Listing,
    "li": Item,
    "blockquote": Quote,
    "table": Table,
}
_PARAGRAPHS = (
    "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure"
    " footer form header hgroup hr legend main nav noscript ol p pre search section summary tbody td"
    " tfoot th thead tr"
)
_BLOCKS = frozenset(_PARAGRAPHS.split(" ")) | frozenset(_SIMPLE)

Resolve = Callable[[str], str | None]


def render(root: LexborNode, resolve: Resolve) -> str:
    """The Markdown of a tree; `resolve` makes an address absolute, or refuses it with None."""
    return _Writer(resolve).write(root)


class _Writer:
    """Walks a tree; elements open and close blocks, and text goes into the innermost one."""

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve
        self.block = Block()
        self.outer: list[tuple[int, Block]] = []

    def write(self, root: LexborNode) -> str:
        end = root.mem_id
        node: LexborNode | None = root
        while node is not None:
            inner = self._enter(node)
            while inner is None and node is not None:
                self._leave(node)
                if node.mem_id == end:
                    return self.block.finish()
                inner = node.next
                node = node.parent
            node = inner
        return self.block.finish()

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Open an element or take a text; returns the child to walk into."""
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            self.block.text(text if self.block.is_verbatim else _SPACE.sub(" ", text))
            return None
        if tag in _HEADINGS:
            self.block.flush()
            self.block.heading = _HEADINGS[tag]
        elif tag in _BLOCKS:
            self.block.flush()
            self._enter_block(node, tag)
        else:
            self._enter_inline(node, tag)
        return node.first_child

    def _enter_block(self, node: LexborNode, tag: str) -> None:
        opened = self._opened(node, tag)
        if opened is not None and len(self.outer) < MAX_NESTED_BLOCKS:
            self.outer.append((node.mem_id, self.block))
            self.block = opened
        elif tag == "hr":
            self.block.add("---")
        elif tag == "dt":
            self.block.open(emphasis("**"))

    def _opened(self, node: LexborNode, tag: str) -> Block | None:
        """The block an element stands for; None when it is only a paragraph."""
        if tag in _SIMPLE:
            return _SIMPLE[tag]()
        if tag == "ol":
            return Listing(_number(node, "start"))
        if tag == "pre":
            return Code(_language(node))
        if tag == "tr" and isinstance(self.block, Table):
            return Row()
        if tag in ("td", "th") and isinstance(self.block, Row):
            return Cell(_number(node, "colspan"))
        return None

    def _enter_inline(self, node: LexborNode, tag: str) -> None:
        if tag in _SPANS:
            self.block.open(self._wrap(node, tag))
        elif tag == "br":
            self.block.text("\n")
        elif tag == "img":
            self.block.text(self._image(node))
        elif tag == "q":
            self.block.text("“")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _SPANS:
            self.block.close()
        elif tag in _HEADINGS:
            self.block.flush()
            self.block.heading = 0
        elif tag in _BLOCKS:
            self._leave_block(node, tag)
        elif tag == "q":
            self.block.text("”")

    def _leave_block(self, node: LexborNode, tag: str) -> None:
        if self.outer and self.outer[-1][0] == node.mem_id:
            _, outer = self.outer.pop()
            outer.take(self.block)
            self.block = outer
        elif tag == "dt":
            self.block.close()
        self.block.flush()

    def _wrap(self, node: LexborNode, tag: str) -> Wrap:
        if tag in _CODE:
            return code_span
        if tag in _EMPHASIS:
            return emphasis(_EMPHASIS[tag])
        href = node.attributes.get("href")
        return _link(self.resolve(href) if href else None)

    def _image(self, node: LexborNode) -> str:
        attributes = node.attributes
        if attributes.get("width") in ("0", "1") or attributes.get("height") in ("0", "1"):
            return ""
        alt = _SPACE.sub(" ", attributes.get("alt") or "").strip()
        for name in ("src", "data-src", "data-original", "data-lazy-src"):
            source = attributes.get(name)
            address = self.resolve(source) if source else None
            if address:
                return f"![{alt}]({address})"
        return f"[IMAGE: {alt}]" if alt else ""


def _link(address: str | None) -> Wrap:
    """Text as a link; the signs that only link a heading to itself are left out."""

    def wrap(text: str) -> str:
        if text in _PERMALINKS:
            return ""
        return f"[{text.replace(chr(10), ' ')}]({address})" if address else text

    return wrap


def _number(node: LexborNode, attribute: str) -> int:
    digits = node.attributes.get(attribute) or ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 1


def _language(pre: LexborNode) -> str:
    """The language of code, from the class of the element, of its only child, or of what holds it."""
    for node in (pre, pre.first_child, pre.parent):
        if node is not None and node.is_element_node:
            found = _LANGUAGE.search(node.attributes.get("class") or "")
            if found:
                return found[1].lower()
    return ""
