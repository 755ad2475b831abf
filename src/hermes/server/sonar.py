"""Sonar's options as the filters of a search."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import msgspec

from hermes.errors import RequestFault

_RECENCY = {"hour": "day", "day": "day", "week": "week", "month": "month", "year": "year"}
"""The ages that Sonar knows, each with the nearest that backends do."""
_MOST_DOMAINS = 20


class UserLocation(msgspec.Struct, frozen=True):
    country: str | None = None


class WebSearchOptions(msgspec.Struct, frozen=True):
    user_location: UserLocation | None = None


class SonarOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may ask of the searches of an answer."""

    search_domain_filter: tuple[str, ...] | None = None
    search_recency_filter: str | None = None
    search_after_date_filter: str | None = None
    search_before_date_filter: str | None = None
    web_search_options: WebSearchOptions | None = None
    search_language_filter: tuple[str, ...] | None = None
    disable_search: bool | None = None
    return_images: bool | None = None
    return_related_questions: bool | None = None


def filters(options: SonarOptions) -> dict[str, Any]:
    """The filters that hold for every search; raises `RequestFault` for what cannot be done."""
    if options.return_images:
        raise _refused("return_images", "pictures are not searched for")
    if options.return_related_questions:
        raise _refused("return_related_questions", "related questions are not made")
    kept, left_out = _domains(options.search_domain_filter or ())
    place = options.web_search_options and options.web_search_options.user_location
    found = {
        "include_domains": kept,
        "exclude_domains": left_out,
        "freshness": _recency(options.search_recency_filter),
        "after": _day("search_after_date_filter", options.search_after_date_filter),
        "before": _day("search_before_date_filter", options.search_before_date_filter),
        "region": _code("web_search_options", place.country if place else None).upper(),
        "language": _language(options.search_language_filter or ()),
    }
    return {name: value for name, value in found.items() if value}


def _domains(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The domains to keep to, and those that a `-` leaves out."""
    if len(given) > _MOST_DOMAINS:
        raise _refused("search_domain_filter", f"at most {_MOST_DOMAINS} domains can be named")
    named = [domain.strip().lower() for domain in given]
    if not all(domain.removeprefix("-") for domain in named):
        raise _refused("search_domain_filter", "a domain is empty")
    kept = [domain for domain in named if not domain.startswith("-")]
    return kept, [domain[1:] for domain in named if domain.startswith("-")]


def _recency(given: str | None) -> str:
    if given is not None and given not in _RECENCY:
        raise _refused("search_recency_filter", f"must be one of {', '.join(_RECENCY)}")
    return _RECENCY[given] if given else ""


def _day(param: str, given: str | None) -> str:
    """A day as Sonar writes it, month first, or as everybody else does."""
    if not given:
        return ""
    for form in ("%m/%d/%Y", "%Y-%m-%d"):
        try:
            return dt.datetime.strptime(given, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    raise _refused(param, "must be a day, as MM/DD/YYYY")


def _language(given: Sequence[str]) -> str:
    if len(given) > 1:
        raise _refused("search_language_filter", "only one language can be searched")
    return _code("search_language_filter", next(iter(given), None)).lower()


def _code(param: str, given: str | None) -> str:
    if given and not (len(given) == 2 and given.isascii() and given.isalpha()):
        raise _refused(param, "must be a code of two letters")
    return given or ""


def _refused(param: str, words: str) -> RequestFault:
    return RequestFault(f"`{param}`: {words}", param=param, code="unsupported_value")
