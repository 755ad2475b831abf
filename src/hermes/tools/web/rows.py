"""What a search gave, judged row by row: what holds, what does not and why, and what is there twice."""

import re
from collections.abc import Sequence

from hermes.protocols import Query, SearchRow
from hermes.tools.web.addresses import canonical, split
from hermes.tools.web.filters import is_within

LONGEST_TITLE = 500
LONGEST_TEXT = 20_000
"""Characters of a description: more is a page in disguise, and pages are read with their own budget."""

_WEB = frozenset({"http", "https"})
_PLAIN = r"https?://(?:www\.)?([a-z0-9.-]+)/"


def judged_rows(
    rows: Sequence[SearchRow], schemes: Sequence[str], query: Query
) -> tuple[list[SearchRow], list[str], int]:
    """The rows that hold, why others do not, and how many were a page that another row had."""
    good: list[SearchRow] = []
    dropped: list[str] = []
    pages: dict[str, set[str] | str] = {}
    repeated = 0
    is_open = not query.include_domains and not query.exclude_domains and {*schemes} >= _WEB
    plain = re.compile(_PLAIN).match
    for row in rows:
        url, title, text = row.url, row.title, row.description
        # Most addresses are plain, and taking one apart costs more than all else that is done with a row.
        if is_open and isinstance(url, str) and (found := plain(url)) is not None:
            host = found[1]
        else:
            host, problem = _host(url, schemes, query)
            if problem:
                dropped.append(problem)
                continue
        if host not in pages:
            pages[host] = url
        elif _is_again(host, url, pages):
            repeated += 1
            continue
        is_text = isinstance(title, str) and isinstance(text, str) and isinstance(row.date, str)
        if not is_text or len(title) > LONGEST_TITLE or len(text) > LONGEST_TEXT:
            row = _clipped(row)  # noqa: PLW2901 - it is the same row
        good.append(row)
    return good, dropped, repeated


def _is_again(host: str, url: str, pages: dict[str, set[str] | str]) -> bool:
    """Whether a page of this host is among its pages; from the second one on these are told by spelling."""
    known = pages[host]
    if isinstance(known, str):
        known = pages[host] = {canonical(known)}
    page = canonical(url)
    is_known = page in known
    known.add(page)
    return is_known


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
