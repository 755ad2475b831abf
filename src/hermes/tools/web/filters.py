"""What a search is narrowed by: judged once, fitted to what a backend can, and never dropped in silence."""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, get_args

import msgspec

from hermes.errors import UsageError
from hermes.protocols import Filter, Found, Freshness, Query, Topic, WebBackend

FILTERS: tuple[Filter, ...] = get_args(Filter)
EVERY: frozenset[Filter] = frozenset(FILTERS)
_given = attrgetter(*FILTERS)
DAYS: Mapping[Freshness, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
_DOMAINS: frozenset[Filter] = frozenset({"include_domains", "exclude_domains"})
_LEFT_OUT = "results were left out after the search, and there may be more"
_CODE = 2

Today = Callable[[], dt.date]
"""Gives the day that the age of results is counted from."""


def judged(text: str, limit: int, given: Mapping[str, object]) -> Query:
    """The query with its filters; raises `UsageError` that names the one which makes no sense."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value in ("", [], ()):
            continue
        if name not in _JUDGES:
            raise UsageError(f"there is no filter `{name}`", hint=f"there are {', '.join(FILTERS)}")
        found[name] = _JUDGES[name](name, value)
    query = Query(text=text, limit=limit, **found)
    if query.after and query.before and query.after > query.before:
        raise UsageError(f"`after` ({query.after}) is later than `before` ({query.before})")
    return query


def ask(backend: WebBackend, query: Query, today: Today) -> Awaitable[Found]:
    """Search with what the backend knows of the query; the notes say what it does not know."""
    if not any(_given(query)):
        return backend.search(query)
    fitted, notes = fit(query, backend, today)
    found = backend.search(fitted)
    return _noted(found, notes) if notes else found


async def _noted(search: Awaitable[Found], notes: Sequence[str]) -> Found:
    found = await search
    return msgspec.structs.replace(found, notes=(*notes, *found.notes))


def fit(query: Query, backend: WebBackend, today: Today) -> tuple[Query, tuple[str, ...]]:
    """The query without what the backend cannot narrow by, and a sentence for each thing that is lost."""
    query, notes = _same_age(query, backend, today)
    unknown = [name for name in FILTERS if getattr(query, name) and name not in backend.filters]
    if not unknown:
        return query, notes
    defaults = Query(text="")
    kept = msgspec.structs.replace(query, **{name: getattr(defaults, name) for name in unknown})
    lost = [name for name in unknown if name not in _DOMAINS]
    if lost:
        named = " and ".join(f"`{name}`" for name in lost)
        notes = (*notes, f"`{backend.name}` cannot narrow a search by {named}, which was not heeded")
    if len(lost) < len(unknown):
        notes = (*notes, f"`{backend.name}` cannot search by domain: {_LEFT_OUT}")
    return kept, notes


def _same_age(query: Query, backend: WebBackend, today: Today) -> tuple[Query, tuple[str, ...]]:
    """The age of results in the words that the backend knows, where it knows any."""
    knows = backend.filters
    if query.freshness and "freshness" not in knows and "after" in knows:
        first = today() - dt.timedelta(days=DAYS[query.freshness])
        after = max(query.after, first.isoformat())
        return msgspec.structs.replace(query, freshness=None, after=after), ()
    if query.after and "after" not in knows and "freshness" in knows and not query.freshness:
        age = (today() - dt.date.fromisoformat(query.after)).days
        wider = next((name for name, days in DAYS.items() if age <= days), None)
        if wider is not None:
            note = f"`{backend.name}` knows no dates: it searched the last {wider}"
            return msgspec.structs.replace(query, after="", freshness=wider), (note,)
    return query, ()


def is_within(host: str, domains: tuple[str, ...]) -> bool:
    """Whether a host is one of the domains or below one."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _choice(name: str, value: object) -> str:
    choices = get_args(Freshness if name == "freshness" else Topic)
    if isinstance(value, str) and value.strip().lower() in choices:
        return value.strip().lower()
    raise UsageError(f"`{name}` must be one of {', '.join(f'`{choice}`' for choice in choices)}")


def _day(name: str, value: object) -> str:
    try:
        return dt.date.fromisoformat(str(value).strip()).isoformat()
    except ValueError:
        raise UsageError(f"`{name}` must be a day, as YYYY-MM-DD") from None


def _domains(name: str, value: object) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        raise UsageError(f"`{name}` must be a list of domains")
    found = tuple(dict.fromkeys(domain for each in given if (domain := _domain(each))))
    if len(found) < 1:
        raise UsageError(f"`{name}` holds no domain", hint="write it as `example.org`")
    return found


def _domain(value: object) -> str:
    """The host of whatever stands for a domain: a URL, a pattern with a star, a name in any case."""
    words = str(value).strip().lower()
    host = (words.partition("://")[2] or words).partition("/")[0].partition(":")[0]
    return host.removeprefix("*").strip(".")


def _letters(name: str, value: object) -> str:
    """A language or a country; `pt-BR` has both."""
    language, _, country = str(value).strip().replace("_", "-").partition("-")
    code = country or language if name == "region" else language
    if len(code) != _CODE or not code.isascii() or not code.isalpha():
        raise UsageError(
            f"`{name}` must be a code of two letters, such as `{'US' if name == 'region' else 'en'}`"
        )
    return code.upper() if name == "region" else code.lower()


_JUDGES: Mapping[str, Any] = {
    "freshness": _choice,
    "topic": _choice,
    "after": _day,
    "before": _day,
    "include_domains": _domains,
    "exclude_domains": _domains,
    "language": _letters,
    "region": _letters,
}
