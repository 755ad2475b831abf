"""Perplexity's search: ranked results with long excerpts, without an answer of a model."""

from typing import Any

from hermes.protocols import Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Site,
    address_option,
    at,
    json_request,
    key_option,
    us_date,
)

MOST_RESULTS = 20
MOST_DOMAINS = 20
_ROWS = Columns(at=("results",), description="snippet", others={"date": ("last_updated",)})


def _search_request(site: Site, query: Query) -> HttpRequest:
    is_dated = bool(query.after or query.before)
    payload = {
        "query": query.text,
        "max_results": min(query.limit, MOST_RESULTS),
        "search_context_size": "low",
        "search_recency_filter": None if is_dated else query.freshness,
        "search_after_date_filter": us_date(query.after) if query.after else None,
        "search_before_date_filter": us_date(query.before) if query.before else None,
        "search_domain_filter": _domains(query)[:MOST_DOMAINS],
        "search_language_filter": [query.language] if query.language else None,
        "country": query.region,
    }
    return json_request(f"{site.base_url}/search", site.bearer(), payload)


def _domains(query: Query) -> list[str]:
    """Wanted domains, or unwanted ones with a minus: it does not take both at once."""
    return list(query.include_domains) or [f"-{domain}" for domain in query.exclude_domains]


def _read_search(reply: Any, query: Query) -> Found:
    rows = _ROWS.rows(at(reply, "results"))
    is_cut = len(query.include_domains) > MOST_DOMAINS
    note = f"Perplexity searches at most {MOST_DOMAINS} domains: the first ones were searched"
    return Found(rows=rows, notes=(note,) if is_cut else ())


BACKEND = Backend(
    name="perplexity",
    title="Perplexity Search",
    rank=23,
    extracts=False,
    options=(
        key_option(
            "PERPLEXITY_API_KEY", title="Perplexity", url="https://www.perplexity.ai/account/api/keys"
        ),
        address_option("https://api.perplexity.ai", "PERPLEXITY_BASE_URL"),
    ),
    filters=frozenset(
        {"freshness", "after", "before", "include_domains", "exclude_domains", "language", "region"}
    ),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
)
