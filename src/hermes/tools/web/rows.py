"""What a search gave, judged row by row: what holds, what does not and why, and what is there twice."""

from collections.abc import Sequence

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
    if not is_open or "http" not in schemes or "https" not in schemes or not _are_plainly_apart(rows):
        return _taken_apart(rows, schemes, query)
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
    for pattern in (PLAIN_HOST, PLAIN_PLACE):
        match = matcher(pattern)
        try:
            found = {match(row.url)[1] for row in rows}
        except TypeError:  # one is no text, or not plain
            return False
        if len(found) == len(rows):
            return True
    return False


def _taken_apart(
    rows: Sequence[SearchRow], schemes: Sequence[str], query: Query
) -> tuple[list[SearchRow], list[str], int]:
    """The same for any rows: each address is taken apart."""
    good: list[SearchRow] = []
    dropped: list[str] = []
    pages: set[str] = set()
    for row in rows:
        problem = _problem(row.url, schemes, query)
        if problem:
            dropped.append(problem)
        elif (page := canonical(row.url)) not in pages:
            pages.add(page)
            good.append(_clipped(row))
    return good, dropped, len(rows) - len(good) - len(dropped)


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
