"""A page cut into runs of text: one walk over the tree that notes all that is asked about a run later."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from selectolax.lexbor import LexborNode

from hermes.tools.web.reader.blocks import one_line

Names = Callable[[str], tuple[float, float]]
"""How much classes and an id speak for content: near to a run, and far above it."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNREAD = _names(
    "style template svg canvas iframe object embed video audio map area select textarea datalist progress"
    " meter dialog noframes noembed annotation annotation-xml -comment"
)
_BLOCKS = _names(
    "address article aside blockquote body button caption center dd details dir div dl dt fieldset figcaption"
    " figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html label legend li main menu nav"
    " noscript ol optgroup option p pre search section summary table tbody td tfoot th thead tr ul"
)
_CELLS = _names("td th")
"""What counts even if it is empty."""
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
FORMATTING = _names("a b strong i em cite del s strike code kbd samp tt q sup sub")

(
    NAV, FOOTER, HEADER, ASIDE, MAIN, ARTICLE, FORM, TABLE, LIST, FIGURE, BUTTON, NOSCRIPT, QUOTE, PRE,
    FOLDED, HIDDEN,
) = (1 << bit for bit in range(16))  # fmt: skip
_TAG_FLAGS = {
    "nav": NAV, "footer": FOOTER, "header": HEADER, "aside": ASIDE, "main": MAIN, "article": ARTICLE,
    "form": FORM, "table": TABLE, "ul": LIST, "ol": LIST, "dl": LIST, "menu": LIST, "figure": FIGURE,
    "button": BUTTON, "label": BUTTON, "legend": BUTTON, "noscript": NOSCRIPT, "blockquote": QUOTE,
    "pre": PRE,
}  # fmt: skip
_FRAME = NAV | FOOTER
_FRAMED = _FRAME | MAIN | ARTICLE | QUOTE
"""Where a menu or a footer is no longer that of the page."""
_CONTENT = "main, article, h1, p ~ p ~ p ~ p"
_ROLE_FLAGS = {
    "navigation": NAV, "menu": NAV, "menubar": NAV, "banner": HEADER, "contentinfo": FOOTER,
    "complementary": ASIDE, "main": MAIN, "article": ARTICLE, "form": FORM, "search": FORM, "button": BUTTON,
    "dialog": ASIDE, "alertdialog": ASIDE, "list": LIST,
}  # fmt: skip
_INVISIBLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?:px|em|rem|%)?\s*(?:[;!]|$)"
    # Letters in the colour of their ground.
    r"|color\s*:\s*([^;\s]{1,40})\s*;(?:[^;]{0,80};){0,8}?\s*background(?:-color)?\s*:\s*\1\s*(?:[;!]|$)"
    r"|background(?:-color)?\s*:\s*([^;\s]{1,40})\s*;(?:[^;]{0,80};){0,8}?\s*color\s*:\s*\2\s*(?:[;!]|$))",
    re.I,
)
_REVEALED = re.compile(r"accordion|collaps|\btab|panel|faq|toggle|expand|answer|slide|carousel|drawer", re.I)

_TEXT, _BLOCK, _FORMAT, _LINK, _BREAK, _IMAGE, _FORMULA, _NEVER = range(8)
_KINDS = {
    **dict.fromkeys(_UNREAD, _NEVER),
    **dict.fromkeys(_BLOCKS, _BLOCK),
    **dict.fromkeys(FORMATTING, _FORMAT),
    "-text": _TEXT,
    "a": _LINK,
    "br": _BREAK,
    "img": _IMAGE,
    "math": _FORMULA,
    "script": _FORMULA,
}


LONG: Final = 10
"""Words that make a run long: hardly a label, a link or a button."""


class Element:
    """A block-level element, as far as the runs inside it need it."""

    __slots__ = ("depth", "far", "first", "flags", "last", "name", "near", "node", "parent", "path", "tag")

    def __init__(
        self, tag: str, node: Any, parent: "Element | None", first: int, flags: int, path: int, name: str
    ) -> None:
        self.tag = tag
        self.node = node
        self.parent = parent
        self.first = self.last = first
        self.flags = flags
        self.path = path
        self.name = name
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.near = self.far = 0.0


class Cut:
    """The runs of a page, as parallel lists, and the elements around them."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.words: list[int] = []
        self.linked: list[int] = []
        self.elements: list[Element] = []
        self.inline: list[list[Any]] = []
        self.containers: list[Element] = []
        self.loose: list[tuple[int, Any]] = []
        """Pictures between the runs: the run that follows, and the element."""
        self.frames: list[LexborNode] = []
        """The menus and footers that were left out."""

    @property
    def depth(self) -> int:
        """How deep the elements nest."""
        return max([element.depth for element in self.containers], default=0)


def cut(root: LexborNode, names: Names, *, framed: bool = False) -> Cut:
    """Cut the page below `root` at its block-level tags and double line breaks.

    The menus and footers of the page are left out, unless it shall be cut `framed`.
    """
    found = _Walk(root, framed).run(root)
    for element in found.containers:
        if element.first < element.last and element.parent is not None:
            element.near, far = names(element.name) if element.name else (0.0, 0.0)
            element.far = element.parent.far + far
    _hide(found)
    return found


class _Walk:
    """One walk over the tree, with the run in the making and the elements that are open."""

    def __init__(self, root: LexborNode, framed: bool) -> None:
        self.found = Cut()
        self.framed = framed
        self.element = Element("", root, None, 0, 0, 0, "")
        self.stack: list[tuple[LexborNode, int | None, Element]] = []
        """What is open: the node, its kind and the element around it."""
        self.paths: dict[tuple[int, str, str], int] = {}
        self.parts: list[Any] = []
        self.formats: list[LexborNode] = []
        self.has_text = False
        self.links = self.linked = self.pictures = self.breaks = 0

    def run(self, root: LexborNode) -> Cut:
        node = self._open(root, root.tag or "")
        while self.stack:
            if node is None:
                node = self._leave()
                continue
            tag = node.tag or ""
            kind = _KINDS.get(tag)
            if kind == _TEXT:
                text = node.text_content or ""
                if self.has_text or self.element.flags & PRE or not text.isspace():
                    self._text(text)
                node = node.next
            elif kind == _NEVER:
                node = node.next
            elif kind == _BLOCK or (kind is None and "-" in tag):
                node = self._open(node, tag)
            else:
                node = self._inline(node, tag, kind)
        self._finish()
        return self.found

    def _text(self, text: str) -> None:
        self.parts.append(text)
        if text and not text.isspace():
            self.has_text = True
            self.breaks = 0
            if self.links:
                self.linked += len(text)

    def _inline(self, node: LexborNode, tag: str, kind: int | None) -> LexborNode | None:
        """Take what stands in a line of text; returns the node to read next."""
        if kind == _FORMULA:
            formula = _formula(node)
            if formula:
                self._text(f"${formula}$")
            if formula or tag == "script":
                return node.next
            kind = None
        elif (attributes := node.attributes) and (_is_hidden(attributes) or _is_unheard(attributes)):
            return node.next
        if kind == _IMAGE:
            self.parts.append(node)
            self.pictures += 1
            return node.next
        if kind == _BREAK:
            self._break()
            return node.next
        if kind is not None:
            self.parts.append(node)
            self.formats.append(node)
            self.links += kind == _LINK
        self.stack.append((node, kind, self.element))
        return node.first_child

    def _break(self) -> None:
        self.breaks += 1
        if self.breaks > 1 and not self.element.flags & PRE:
            self._finish()
        else:
            self.parts.append("\n")

    def _open(self, node: LexborNode, tag: str) -> LexborNode | None:
        """Begin a block-level element; returns the node to read next."""
        if self.parts:
            self._finish()
        inner = node.first_child
        if inner is None and tag not in _CELLS:
            return node.next
        parent = self.element
        flags = parent.flags | _TAG_FLAGS.get(tag, 0)
        attributes = node.attributes
        name = identity = ""
        if attributes:
            name, identity = attributes.get("class") or "", attributes.get("id") or ""
            if len(attributes) > (name != "") + (identity != ""):
                flags |= _flags(attributes, name)
        found = self.found
        if flags & _FRAME and not parent.flags & _FRAMED and not self.framed and _is_frame(node):
            found.frames.append(node)
            return node.next
        key = (parent.path, tag, name)
        path = self.paths.get(key)
        if path is None:
            path = self.paths[key] = len(self.paths) + 1
        both = f"{name} {identity}" if identity else name
        self.element = Element(tag, node, parent, len(found.texts), flags, path, both)
        found.containers.append(self.element)
        self.stack.append((node, _BLOCK, parent))
        return inner

    def _leave(self) -> LexborNode | None:
        """End what was opened last; returns the node to read next."""
        node, kind, around = self.stack.pop()
        if kind == _BLOCK:
            if self.parts:
                self._finish()
            self._close(self.element)
            self.element = around
        elif kind is not None:
            self.formats.pop()
            self.parts.append(None)
            self.links -= kind == _LINK
        return node.next

    def _close(self, element: Element) -> None:
        """Note where an element ends; one that holds nothing is as if it were not there."""
        element.last = len(self.found.texts)
        containers = self.found.containers
        if element.first == element.last and element is containers[-1] and element.tag not in _CELLS:
            containers.pop()

    def _finish(self) -> None:
        """End the run in the making."""
        if self.has_text:
            self._keep()
        elif self.pictures:
            at = len(self.found.texts)
            self.found.loose.extend((at, part) for part in self.parts if _is_image(part))
        elif len(self.parts) == len(self.formats):
            return
        self.parts = self.formats[:]
        self.has_text = False
        self.linked = self.pictures = self.breaks = 0

    def _keep(self) -> None:
        found = self.found
        parts = self.parts
        text = one_line("".join([part for part in parts if part.__class__ is str]))
        if text:
            words, least = text.count(" ") + 1, len(text) // 12
            found.texts.append(text)
            found.words.append(words if words > least else least)
            found.linked.append(self.linked)
            found.elements.append(self.element)
            found.inline.append(parts)


def _formula(node: LexborNode) -> str:
    """The TeX of a formula, or nothing where it is not given."""
    attributes = node.attributes
    if node.tag == "script":
        is_tex = (attributes.get("type") or "").startswith("math/tex")
        return one_line(node.text()) if is_tex else ""
    return one_line(attributes.get("alttext") or _annotation(node))


def _annotation(node: LexborNode) -> str:
    parts = (part for child in node.iter() if child.tag == "semantics" for part in child.iter())
    texts = (part.text() for part in parts if part.attributes.get("encoding") == "application/x-tex")
    return next(texts, "")


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    style = attributes.get("style")
    return "hidden" in attributes or (style is not None and _INVISIBLE.search(style) is not None)


def _is_unheard(attributes: Mapping[str, str | None]) -> bool:
    return attributes.get("aria-hidden") == "true"


def _is_frame(node: LexborNode) -> bool:
    """Whether a menu or a footer is nothing else: one that was never closed goes around the content."""
    return node.css_first(_CONTENT) is None


def _is_image(part: object) -> bool:
    return isinstance(part, LexborNode) and part.tag == "img"


def _flags(attributes: Mapping[str, str | None], name: str) -> int:
    """What the attributes say of an element: its role, and whether it is seen."""
    role = attributes.get("role")
    flags = _ROLE_FLAGS.get(role, 0) if role else 0
    if _is_hidden(attributes):
        waits = (
            role == "tabpanel"
            or "aria-labelledby" in attributes
            or (attributes.get("id") or "").startswith("S:")
            or _REVEALED.search(name)
        )
        flags |= FOLDED if waits else HIDDEN
    elif _is_unheard(attributes):
        flags |= FOLDED
    return flags


def _hide(found: Cut) -> None:
    """Empty the runs that nobody sees, unless they are most of the page: then a script shows them."""
    hidden = [index for index, element in enumerate(found.elements) if element.flags & HIDDEN]
    if not hidden:
        return
    long = [count if count >= LONG else 0 for count in found.words]
    if 2 * sum(long[index] for index in hidden) > sum(long):
        return
    for index in hidden:
        found.texts[index] = ""
        found.words[index] = found.linked[index] = 0
