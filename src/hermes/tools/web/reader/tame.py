"""HTML made safe to parse: what would make a parser work for minutes is cut, and said.

A standard parser takes quadratic time over deep nesting, over many attributes on one tag and over
formatting tags that are never closed. One linear pass over the tags finds these before it does.
"""

import re

MAX_DEPTH = 1_000
MAX_TAGS = 200_000
MAX_TOKENS = 1_000_000
MAX_ATTRIBUTES = 256
MAX_FORMATTING = 50
MAX_REOPENED = 200_000
HARMLESS_TAGS = 20_000
HARMLESS_REOPENED = 1_000_000
HARMLESS_LENGTH = 120_000

_ATTRIBUTE = r"[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+"
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_OVERLONG = re.compile(rf"<[a-zA-Z][^\s/>]*+(?:[\s/]*+{_ATTRIBUTE}){{{MAX_ATTRIBUTES}}}")
_TOKEN = re.compile(
    rf"<!--(?:-?>|.*?--!?>|.*)|<[!?][^>]*+>?|</(?P<close>[a-zA-Z][^\s/>]*+)[^>]*+>?"
    rf"|<(?P<open>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[\s/]++|{_ATTRIBUTE})*+)>?",
    re.DOTALL,
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_CLOSED_BY_NEXT = _names(
    "a nobr html head body p li dd dt option optgroup tr td th tbody thead tfoot colgroup caption rp rt"
)
_FLAT = _VOID | _CLOSED_BY_NEXT
_FORMATTING = _names("b big code em font i s small strike strong tt u")
_LEFT_OPEN = re.compile(
    rf"<(?=[bcefistu])({'|'.join(sorted(_FORMATTING))})(?=[\s/>])"
    r"(?!(?:\s(?:[^<>\"']|\"[^<>\"]*+\"|'[^<>']*+')*+)?+>[^<]*+</\1>)",
    re.I,
)
"""Formatting that is not closed again before the next tag."""
_FOREIGN = _names("svg math")
_WALLS = _FOREIGN | _names("table template object marquee applet")
_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.I)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}


def tame(html: str) -> tuple[str, tuple[str, ...]]:
    """The HTML with bounded depth, tags and attributes, and a note for each kind of cut.

    What nests deeper than it may, and has few tags, is left for the caller to find: it is parsed in time.
    """
    return (html, ()) if _is_harmless(html) else flattened(html)


def flattened(html: str) -> tuple[str, tuple[str, ...]]:
    """The same for HTML that is known to nest too deeply."""
    return _Tamer(html).run()


def _is_harmless(html: str) -> bool:
    """Whether no reading of the page can be slow: what looks like a tag is counted, wherever it stands."""
    tags = html.count("<")
    return (
        tags <= HARMLESS_TAGS
        and (tags * tags <= HARMLESS_REOPENED or len(_LEFT_OPEN.findall(html)) * tags <= HARMLESS_REOPENED)
        and (len(html) <= HARMLESS_LENGTH or _OVERLONG.search(html) is None)
    )


class _Scope:
    """The elements open inside one wall: an end tag of theirs reaches no further out."""

    def __init__(self, wall: str) -> None:
        self.wall = wall
        self.open: list[str] = []
        self.count: dict[str, int] = {}
        self.formatting = 0

    def push(self, name: str) -> None:
        self.open.append(name)
        self.formatting += name in _FORMATTING
        self.count[name] = self.count.get(name, 0) + 1

    def close(self, name: str) -> None:
        """Close an element; formatting that was open inside it goes on after it."""
        going = []
        while (inner := self.open.pop()) != name:
            if inner in _FORMATTING:
                going.append(inner)
            else:
                self.count[inner] -= 1
        self.count[name] -= 1
        self.formatting -= name in _FORMATTING
        self.open += reversed(going)


class _Tamer:
    """One pass over the tags, with the open elements as a parser would hold them."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.scopes = [_Scope("")]
        self.outside = 0
        self.reopened = self.tags = 0
        self.dropped: dict[str, int] = {}
        self.kept: list[str] = []
        self.kept_to = 0
        self.notes: dict[str, None] = {}

    def run(self) -> tuple[str, tuple[str, ...]]:
        end = self._scan()
        if not self.notes:
            return self.html, ()
        return "".join((*self.kept, self.html[self.kept_to : end])), tuple(self.notes)

    def _scan(self) -> int:
        """Read every tag; returns where the document ends."""
        at = tokens = 0
        while token := _TOKEN.search(self.html, at):
            at = token.end()
            tokens += 1
            if name := token["open"]:
                if self.tags >= MAX_TAGS or tokens > MAX_TOKENS:
                    self.notes["the page has too many elements; the rest was left out"] = None
                    return token.start()
                at = self._start(name.lower(), token)
            elif name := token["close"]:
                self._end(name.lower(), token)
        return len(self.html)

    def _start(self, name: str, token: re.Match[str]) -> int:
        """Take a start tag; returns where reading goes on."""
        attributes = token["attributes"]
        if len(attributes) > 2 * MAX_ATTRIBUTES and len(_ONE_ATTRIBUTE.findall(attributes)) > MAX_ATTRIBUTES:
            self._replace(token, f"<{name}>", "attributes of an overlong tag were left out")
        if raw := _RAW.get(name):
            closing = raw.search(self.html, token.end())
            return closing.start() if closing else len(self.html)
        scope = self.scopes[-1]
        self.tags += 1
        self.reopened += scope.formatting
        if self.reopened > MAX_REOPENED and scope.formatting:
            self._close_formatting(scope, token)
        is_drawn = scope.wall in _FOREIGN and attributes.endswith("/")
        is_nested = name not in _FLAT and not is_drawn
        return self._push(name, token) if is_nested else token.end()

    def _push(self, name: str, token: re.Match[str]) -> int:
        """Open an element, unless that is too much; returns where reading goes on."""
        scope = self.scopes[-1]
        is_full = self.outside + len(scope.open) >= MAX_DEPTH
        is_much = scope.formatting >= MAX_FORMATTING or self.reopened > MAX_REOPENED
        if is_full or (name in _FORMATTING and is_much):
            return self._drop(name, token)
        if name in _WALLS:
            self.outside += len(scope.open) + 1
            self.scopes.append(_Scope(name))
        else:
            scope.push(name)
        return token.end()

    def _drop(self, name: str, token: re.Match[str]) -> int:
        """Leave out a tag, and with it those right after that are written the same."""
        written, end = token[0], token.end()
        while written.endswith(">") and self.html.startswith(written, end):
            end += len(written)
        self.tags -= 1
        self.dropped[name] = self.dropped.get(name, 0) + (end - token.start()) // len(written)
        self._replace(token, "", "the page nests too deeply; its structure was flattened")
        self.kept_to = end
        return end

    def _close_formatting(self, scope: _Scope, token: re.Match[str]) -> None:
        """Close all formatting before a tag, so that it is not opened again in every block to come."""
        closing = "".join(f"</{name}>" for name in reversed(scope.open) if name in _FORMATTING)
        scope.open = [name for name in scope.open if name not in _FORMATTING]
        for name in _FORMATTING:
            scope.count.pop(name, None)
        scope.formatting = 0
        self.kept += (self.html[self.kept_to : token.start()], closing)
        self.kept_to = token.start()
        self.notes["formatting that is never closed was left out"] = None

    def _end(self, name: str, token: re.Match[str]) -> None:
        if self.dropped.get(name):
            self.dropped[name] -= 1
            self._replace(token, "")
        elif name not in _WALLS:
            if self.scopes[-1].count.get(name):
                self.scopes[-1].close(name)
        elif any(scope.wall == name for scope in self.scopes):
            while self.scopes.pop().wall != name:
                self.outside -= len(self.scopes[-1].open) + 1
            self.outside -= len(self.scopes[-1].open) + 1

    def _replace(self, token: re.Match[str], by: str, note: str = "") -> None:
        self.kept += (self.html[self.kept_to : token.start()], by)
        self.kept_to = token.end()
        if note:
            self.notes[note] = None
