"""HTML made readable: the part of a page that people came for, as Markdown."""

import re
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from hermes.protocols import Page
from hermes.tools.web.reader.charset import decode
from hermes.tools.web.reader.markdown import Resolve, render
from hermes.tools.web.reader.tame import tame

MAX_BYTES = 20_000_000
MAX_FIELD = 500
MOST = 0.5

_NEVER = (
    "script, style, template, svg, canvas, iframe, object, embed, video, audio, annotation, annotation-xml"
)
_CONTROLS = "button, input, select, textarea, datalist, progress, meter"
_HIDDEN = '[hidden], [aria-hidden="true"]'
_AROUND = (
    'nav, footer, aside, [role="navigation"], [role="banner"], [role="contentinfo"], [role="complementary"],'
    ' [role="search"], [role="dialog"], [role="alertdialog"]'
)
_INVISIBLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|(?:font-size|opacity)\s*:\s*0(?:\.0+)?(?:px|em|rem|%)?\s*(?:[;!]|$)"
    # Letters in the colour of their ground.
    r"|color\s*:\s*([^;\s]{1,40})\s*;(?:[^;]{0,80};){0,8}?\s*background(?:-color)?\s*:\s*\1\s*(?:[;!]|$)"
    r"|background(?:-color)?\s*:\s*([^;\s]{1,40})\s*;(?:[^;]{0,80};){0,8}?\s*color\s*:\s*\2\s*(?:[;!]|$))",
    re.I,
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_IN_ADDRESS = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", '"': "%22", "\\": "%5C"}
_ADDRESS = str.maketrans({**_IN_ADDRESS, **dict.fromkeys(map(chr, range(32)), "")})
_SCHEMES = ("http", "https", "mailto", "")

_FIELDS = {
    "description": ('meta[name="description" i]', 'meta[property="og:description"]'),
    "author": ('meta[name="author" i]', 'meta[property="article:author"]'),
    "date": (
        'meta[property="article:published_time"]',
        'meta[name="date" i]',
        'meta[itemprop="datePublished"]',
        "time[datetime]",
    ),
    "site": ('meta[property="og:site_name"]',),
    "canonical": ('link[rel="canonical"]',),
}


def read_html(html: bytes | str, url: str = "") -> Page:
    """The readable part of a page. `url` makes its links absolute; nothing is fetched.

    Never raises on odd HTML; what is no HTML at all (a PDF, an archive, an image) raises `DocumentError`.
    """
    text, notes = _bounded(html)
    text, more_notes = tame(text)
    tree = _parse(text)
    resolve = _resolver(tree, url)
    metadata = _metadata(tree, resolve)
    title = _title(tree)
    markdown = _readable(tree, resolve)
    if not markdown:
        markdown = _everything(text, resolve)
        more_notes += ("no main text was found; the whole page is given",) if markdown else ()
    return Page(markdown=markdown, title=title, metadata=metadata, notes=notes + more_notes)


def _bounded(html: bytes | str) -> tuple[str, tuple[str, ...]]:
    cut = len(html) > MAX_BYTES
    html = html[:MAX_BYTES]
    if isinstance(html, bytes):
        text = decode(html, declared=True)
    else:
        text = html.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    return text, (
        f"the page is larger than {MAX_BYTES // 1_000_000} MB; the rest was left out",
    ) if cut else ()


def _parse(html: str) -> LexborHTMLParser:
    """Mutation events are off: with them a long `<select>` takes quadratic time."""
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)


def _readable(tree: LexborHTMLParser, resolve: Resolve) -> str:
    """The main part without what stands around it; text for those without scripts when there is no other."""
    root = tree.body or tree.root
    if root is None:
        return ""
    _drop(root, f"{_NEVER}, {_CONTROLS}, {_HIDDEN}, {_AROUND}")
    _drop_invisible(root)
    unscripted = [node for node in root.css("noscript") if node.mem_id != root.mem_id]
    if len(_letters(root)) > sum(len(_letters(node)) for node in unscripted):
        for node in reversed(unscripted):
            node.decompose()
    return _clean(render(_main(root), resolve))


def _everything(html: str, resolve: Resolve) -> str:
    """All text of a page whose every part looked like decoration; hidden text stays out."""
    root = _parse(html).body
    if root is None:
        return ""
    _drop(root, f"{_NEVER}, {_HIDDEN}")
    _drop_invisible(root)
    return _clean(render(root, resolve))


def _drop(root: LexborNode, selector: str) -> None:
    """Take elements out of the tree. Those inside each other go from the inside out."""
    for node in reversed(root.css(selector)):
        if node.mem_id != root.mem_id:
            node.decompose()


def _drop_invisible(root: LexborNode) -> None:
    for node in reversed(root.css("[style]")):
        if node.mem_id != root.mem_id and _INVISIBLE.search(node.attributes.get("style") or ""):
            node.decompose()


def _main(root: LexborNode) -> LexborNode:
    """The element that says it is the content, if most of the text is there."""
    enough = len(_letters(root)) * MOST
    for selector in ("main, [role=main]", "article"):
        best = max(root.css(selector), key=lambda node: len(_letters(node)), default=None)
        if best is not None and len(_letters(best)) > enough:
            return best
    return root


def _letters(node: LexborNode) -> str:
    return "".join(node.text().split())


def _clean(markdown: str) -> str:
    """Without control characters and the invisible ones that hide or reorder text."""
    return _UNSEEN.sub("", markdown).strip()


def _resolver(tree: LexborHTMLParser, url: str) -> Resolve:
    base = tree.css_first("base[href]")
    start = _joined(url, (base.attributes.get("href") or "") if base is not None else "") or url

    def resolve(address: str) -> str | None:
        if address.lstrip().startswith("#"):
            return None
        whole = _joined(start, address)
        return whole.translate(_ADDRESS) if whole else None

    return resolve


def _joined(base: str, address: str) -> str | None:
    """An absolute address, relative only when the base is unknown; None when it is not one to follow."""
    try:
        whole = urljoin(base, address.strip())
        return whole if urlsplit(whole).scheme in _SCHEMES else None
    except ValueError:
        return None


def _title(tree: LexborHTMLParser) -> str:
    for selector in ('meta[property="og:title"]', "title", "h1"):
        for node in tree.css(selector)[:1]:
            found = _field(node)
            if found:
                return found
    return ""


def _metadata(tree: LexborHTMLParser, resolve: Resolve) -> dict[str, str]:
    found: dict[str, str] = {}
    html = tree.root
    language = _field_text(html.attributes.get("lang")) if html is not None else ""
    if language:
        found["lang"] = language
    for name, selectors in _FIELDS.items():
        values = (_field(node) for selector in selectors for node in tree.css(selector)[:1])
        value = next(filter(None, values), "")
        if name == "canonical":
            value = (resolve(value) or "") if value else ""
        if value:
            found[name] = value
    return found


def _field(node: LexborNode) -> str:
    attributes = node.attributes
    value = attributes.get("content") or attributes.get("href") or attributes.get("datetime")
    return _field_text(value or (node.text() if node.tag in ("title", "h1") else ""))


def _field_text(value: str | None) -> str:
    return " ".join(_UNSEEN.sub("", value or "").split())[:MAX_FIELD]
