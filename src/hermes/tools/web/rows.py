"""What a search gave, judged row by row: what holds, what does not and why, and what is there twice."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from hermes.protocols import Query, SearchRow
from hermes.tools.web.addresses import PLAIN_HOST, PLAIN_PLACE, canonical, matcher, split
from hermes.tools.web.filters import is_within

LONGEST_TITLE = 500
LONGEST_TEXT = 20_000
"""Characters of a description: more is a page in disguise, and pages are read with their own budget."""


def judged_rows(
    rows: Sequence[SearchRow], schemes: Sequence[str], query: Query
) -> tuple[list[SearchRow], list[str], int]:
    """The rows that hold, why others do not, and how many were a page that another row had."""
    is_open = not query.include_domains and not query.exclude_domains
    is_open = is_open and "http" in schemes and "https" in schemes
    if not is_open or not _are_plainly_apart(rows):
        return _one_by_one(rows, schemes, query, is_open=is_open)
    good = [
        row
        if isinstance(row.title, str)
        and isinstance(row.description, str)
        and isinstance(row.date, str)
        and len(row.title) <= LONGEST_TITLE
        and len(row.description) <= LONGEST_TEXT
        and len(row.date) <= LONGEST_TITLE
        else _clipped(row)
        for row in rows
    ]
    return good, [], 0


def _are_plainly_apart(rows: Sequence[SearchRow]) -> bool:
    """Whether all have plain addresses, no two of which can be one page: by their hosts, else by their paths.

    To take addresses apart costs more than all else that is done with a row, and most need not be.
    """
    try:
        addresses = "\n".join([row.url for row in rows])
        hosts = _host_finder()(addresses)
        if len(hosts) != len(rows) or addresses.count("\n") >= len(rows):
            return False
        match = matcher(PLAIN_PLACE)
        return len(set(hosts)) == len(rows) or len({match(row.url)[1] for row in rows}) == len(rows)
    except TypeError:  # one is no text, or has no plain path
        return False


@cache
def _host_finder() -> Callable[[str], list[str]]:
    """Finds the hosts of plain addresses, each on a line of its own."""
    return re.compile(rf"(?m)^{PLAIN_HOST}").findall


def _one_by_one(
    rows: Sequence[SearchRow], schemes: Sequence[str], query: Query, *, is_open: bool
) -> tuple[list[SearchRow], list[str], int]:
    """The same for any rows: an address that is not plain is taken apart."""
    good: list[SearchRow] = []
    dropped: list[str] = []
    pages: dict[str, set[str] | str] = {}
    match = matcher(PLAIN_PLACE)
    for row in rows:
        url = row.url
        plain = match(url) if is_open and isinstance(url, str) else None
        problem = "" if plain is not None else _problem(url, schemes, query)
        if problem:
            dropped.append(problem)
            continue
        place = _place(url) if plain is None else plain[1]
        if place not in pages:
            pages[place] = url
        elif _is_again(place, url, pages):
            continue
        good.append(_clipped(row))
    return good, dropped, len(rows) - len(good) - len(dropped)


def _place(url: str) -> str:
    """The place of an address that is not plain, as that of a plain one of the same page would be."""
    return canonical(url).removeprefix("https://").partition("?")[0].partition("#")[0]


def _is_again(place: str, url: str, pages: dict[str, set[str] | str]) -> bool:
    """Whether the page is among those of its place; from the second one on these are told by spelling."""
    known = pages[place]
    if isinstance(known, str):
        known = pages[place] = {canonical(known)}
    page = canonical(url)
    is_known = page in known
    known.add(page)
    return is_known


def _problem(url: object, schemes: Sequence[str], query: Query) -> str:
    """Why a row with this address is not shown; empty when it is."""
    if not isinstance(url, str) or not url:
        return "a row has no URL"
    scheme, _, rest = url.partition(":")
    if scheme.lower() not in schemes or not rest.strip("/"):
        return "a row has a URL of a kind that is not read here"
    parts = split(url)
    if parts is None:
        return "a row has a URL that is none"
    host = parts[1]
    if query.include_domains and not is_within(host, query.include_domains):
        return f"a row is from `{host}`, which is not one of the wanted domains"
    if is_within(host, query.exclude_domains):
        return f"a row is from `{host}`, which is not wanted"
    return ""


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
