"""What a search gave, judged row by row: what holds, what does not and why, and what is there twice."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from hermes.protocols import Query, SearchRow
from hermes.tools.web.addresses import canonical, split
from hermes.tools.web.filters import is_within

LONGEST_TITLE = 500
LONGEST_TEXT = 20_000
"""Characters of a description: more is a page in disguise, and pages are read with their own budget."""

_PLAIN = r"https?://(?:www\.)?([a-z0-9.-]+)/"


def judged_rows(
    rows: Sequence[SearchRow], schemes: Sequence[str], query: Query
) -> tuple[list[SearchRow], list[str], int]:
    """The rows that hold, why others do not, and how many were a page that another row had."""
    is_open = not query.include_domains and not query.exclude_domains
    is_open = is_open and "http" in schemes and "https" in schemes
    # Most addresses are plain and of a host each, and taking them apart costs more than all else.
    if is_open and _have_plain_hosts(rows):
        return _with_texts(rows), [], 0
    good: list[SearchRow] = []
    dropped: list[str] = []
    pages: dict[str, set[str] | str] = {}
    plain = re.compile(_PLAIN).match
    for row in rows:
        url = row.url
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
            continue
        good.append(row)
    return _with_texts(good), dropped, len(rows) - len(good) - len(dropped)


def _have_plain_hosts(rows: Sequence[SearchRow]) -> bool:
    """Whether every row has a plain address, and each another host: then none is the page of another."""
    try:
        lines = "\n".join([row.url for row in rows])
    except TypeError:  # one of them is no text
        return False
    hosts = _plain_hosts()(lines)
    return len(rows) == len({*hosts}) == lines.count("\n") + 1


@cache
def _plain_hosts() -> Callable[[str], list[str]]:
    """Gives the host of every line that is a plain address."""
    return re.compile(f"(?m)^{_PLAIN}").findall


def _with_texts(rows: Iterable[SearchRow]) -> list[SearchRow]:
    """The rows with texts, where a backend may have put anything, and no longer than they may be."""
    return [
        row
        if isinstance(row.title, str)
        and isinstance(row.description, str)
        and isinstance(row.date, str)
        and len(row.title) <= LONGEST_TITLE
        and len(row.description) <= LONGEST_TEXT
        else _clipped(row)
        for row in rows
    ]


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
