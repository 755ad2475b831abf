"""What a search gave, judged row by row: what holds, what does not and why, and what is there twice."""

from collections.abc import Sequence

import msgspec

from hermes.protocols import Query, SearchRow
from hermes.tools.web.addresses import canonical, split
from hermes.tools.web.filters import is_within

LONGEST_TITLE = 500
LONGEST_TEXT = 20_000
"""Characters of a description: more is a page in disguise, and pages are read with their own budget."""


class Judged(msgspec.Struct, frozen=True):
    """The rows that hold, why others do not, and how many were a page that another row had."""

    good: list[SearchRow]
    dropped: list[str]
    repeated: int


def judged_rows(rows: Sequence[SearchRow], schemes: Sequence[str], query: Query) -> Judged:
    """The rows of a backend, which come from strangers; each page once, and nothing too long."""
    good: list[SearchRow] = []
    dropped: list[str] = []
    seen = _Seen()
    is_narrowed = bool(query.include_domains or query.exclude_domains)
    for row in rows:
        # Most hosts are plain, and taking a URL apart costs more than all else that is done with a row.
        host = "" if is_narrowed else _plain_host(row.url, schemes)
        if not host:
            host, problem = _host(row.url, schemes, query)
            if problem:
                dropped.append(problem)
                continue
        if not seen.before(host, row.url):
            good.append(row if _is_short(row) else _clipped(row))
    return Judged(good, dropped, seen.count)


class _Seen:
    """Which pages there were. Only rows of one host are compared."""

    __slots__ = ("_first", "_pages", "count")

    def __init__(self) -> None:
        self.count = 0
        self._first: dict[str, str] = {}
        self._pages: set[str] = set()

    def before(self, host: str, url: str) -> bool:
        """Whether an earlier row of this host had the page."""
        if host not in self._first:
            self._first[host] = url
            return False
        self._pages.add(canonical(self._first[host]))
        page = canonical(url)
        is_known = page in self._pages
        self._pages.add(page)
        self.count += is_known
        return is_known


def _plain_host(url: object, schemes: Sequence[str]) -> str:
    """The host of a usual address, without `www.`; empty for one that must be taken apart."""
    if not isinstance(url, str):
        return ""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    is_odd = "?" in host or ":" in host or "@" in host or "#" in host
    return host.removeprefix("www.") if scheme in schemes and host.islower() and not is_odd else ""


def _host(url: object, schemes: Sequence[str], query: Query) -> tuple[str, str]:
    """The host without `www.`, and why the row is not shown; empty when it is."""
    if not isinstance(url, str) or not url:
        return "", "a row has no URL"
    scheme, _, rest = url.partition(":")
    if scheme.lower() not in schemes or not rest.strip("/"):
        return "", "a row has a URL of a kind that is not read here"
    parts = split(url)
    if parts is None:
        return "", "a row has a URL that is none"
    host = parts[1]
    if query.include_domains and not is_within(host, query.include_domains):
        return "", f"a row is from `{host}`, which is not one of the wanted domains"
    if is_within(host, query.exclude_domains):
        return "", f"a row is from `{host}`, which is not wanted"
    return host.removeprefix("www."), ""


def _is_short(row: SearchRow) -> bool:
    title, description = row.title, row.description
    is_text = isinstance(title, str) and isinstance(description, str) and isinstance(row.date, str)
    return is_text and len(title) <= LONGEST_TITLE and len(description) <= LONGEST_TEXT


def _clipped(row: SearchRow) -> SearchRow:
    """The row with texts, where a backend may have put anything, and no longer than they may be."""
    return SearchRow(
        _cut(row.title, LONGEST_TITLE),
        row.url,
        _cut(row.description, LONGEST_TEXT),
        _cut(row.date, LONGEST_TITLE),
        row.score,
    )


def _cut(text: object, most: int) -> str:
    if not isinstance(text, str):
        return ""
    return text if len(text) <= most else f"{text[: most - 1]}…"
