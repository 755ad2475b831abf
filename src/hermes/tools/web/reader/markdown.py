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
    code_span,
)

MAX_NESTED_BLOCKS = 24

_SPACE = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]*([\w+#.-]{1,30})")
_PERMALINKS = frozenset(("", "¶", "#", "§", "🔗"))

_BLOCKS = frozenset(
    (
        "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure"
        " footer form header hgroup hr li main nav noscript ol p pre search section summary table tbody td"
        " tfoot th thead tr ul menu legend caption title"
    ).split(" ")
)
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

Resolve = Callable[[str], str | None]


def render(root: LexborNode, resolve: Resolve) -> str:
    """The Markdown of a tree; `resolve` makes an address absolute, or refuses it with None."""
    return _Writer(resolve).write(root)


class _Writer:
    """Walks a tree; elements open and close blocks, and text goes into the innermost one."""

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve
        self.stack = [Block()]

    @property
    def block(self) -> Block:
        return self.stack[-1]

    def write(self, root: LexborNode) -> str:
        node: LexborNode | None = root
        while node is not None:
            child = self._enter(node)
            while child is None and node is not None:
                self._leave(node)
                if node.mem_id == root.mem_id:
                    return self.block.finish()
                child, node = node.next, node.parent
            node = child
        return self.block.finish()

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Open an element or take a text; returns the child to walk into."""
        tag = node.tag or ""
        if tag == "-text":
            self._text(node.text_content or "")
            return None
        if tag in _HEADINGS:
            self.block.flush()
            self.block.heading = _HEADINGS[tag]
        elif tag in _BLOCKS:
            self._enter_block(node, tag)
        else:
            self._enter_inline(node, tag)
        return node.first_child

    def _text(self, text: str) -> None:
        self.block.text(text if self.block.is_verbatim else _SPACE.sub(" ", text))

    def _enter_block(self, node: LexborNode, tag: str) -> None:
        self.block.flush()
        opened = self._opened(node, tag)
        if opened is not None:
            self._push(opened)
        elif tag == "hr":
            self.block.add("---")
        elif tag == "dd":
            self.block.text(": ")
        elif tag == "dt":
            self.block.open("**")

    def _opened(self, node: LexborNode, tag: str) -> Block | None:
        if tag == "ol":
            start = node.attributes.get("start") or "1"
            return Listing(int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 1)
        if tag in ("td", "th"):
            return Cell(_span(node)) if isinstance(self.block, Row) else None
        if tag == "pre":
            return Code(_language(node))
        kind = {
            "ul": Listing,
            "menu": Listing,
            "li": Item,
            "blockquote": Quote,
            "table": Table,
            "tr": Row,
        }.get(tag)
        if kind is Row and not isinstance(self.block, Table):
            return None
        return kind() if kind is not None else None

    def _push(self, block: Block) -> None:
        """Nest a block; past the limit the text goes on in the block that is open, once per element."""
        self.stack.append(block if len(self.stack) < MAX_NESTED_BLOCKS else self.block)

    def _enter_inline(self, node: LexborNode, tag: str) -> None:
        if tag == "br":
            self.block.text("\n")
        elif tag == "img":
            self.block.text(self._image(node))
        elif tag in _EMPHASIS or tag in _CODE or tag == "a":
            self.block.open(tag)
        elif tag == "q":
            self.block.text("“")

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _HEADINGS:
            self.block.flush()
            self.block.heading = 0
        elif tag in _BLOCKS:
            self._leave_block(node, tag)
        elif tag in _EMPHASIS or tag in _CODE or tag == "a":
            self.block.close(self._wrapped(node, tag))
        elif tag == "q":
            self.block.text("”")

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
