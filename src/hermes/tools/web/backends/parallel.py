"""Parallel: search with long excerpts, and the text of pages, for programs."""

from collections.abc import Sequence
from typing import Any

from hermes.protocols import Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Option,
    Site,
    address_option,
    at,
    cut,
    cut_note,
    first_text,
    items,
    json_request,
    key_option,
    text,
    texts,
)

MOST_RESULTS = 20
MOST_PAGES = 20
MOST_DOMAINS = 10
LONGEST_QUERY = 200
LONGEST_OBJECTIVE = 5000
DEFAULT_MODE = "advanced"
_ROWS = Columns(at=("results",), beside=("warnings",), description="excerpts", date="publish_date")
_MODES = {mode: mode for mode in ("turbo", "fast", "basic", DEFAULT_MODE)} | {"one-shot": "basic"}


def _headers(site: Site) -> dict[str, str]:
    return {"x-api-key": site.key.reveal()} if site.key else {}


def _search_request(site: Site, query: Query) -> HttpRequest:
    payload = {
        "search_queries": [cut(query.text, LONGEST_QUERY)],
        "objective": cut(query.text, LONGEST_OBJECTIVE),
        "mode": _MODES.get(text(site.options["mode"]).lower(), DEFAULT_MODE),
        "advanced_settings": {"max_results": min(query.limit, MOST_RESULTS), **_narrowed(query)},
    }
    return json_request(f"{site.base_url}/v1/search", _headers(site), payload)


def _narrowed(query: Query) -> dict[str, Any]:
    """The settings that the filters ask for. Beside a list of wanted domains the other list is ignored."""
    policy: dict[str, Any] = {}
    if query.include_domains:
        policy["include_domains"] = list(query.include_domains[:MOST_DOMAINS])
    elif query.exclude_domains:
        policy["exclude_domains"] = list(query.exclude_domains[:MOST_DOMAINS])
    if query.after:
        policy["after_date"] = query.after
    found: dict[str, Any] = {"source_policy": policy} if policy else {}
    return found | {"location": query.region.lower()} if query.region else found


def _read_search(reply: Any, query: Query) -> Found:
    is_cut = len(query.include_domains) > MOST_DOMAINS
    domains = (f"Parallel searches at most {MOST_DOMAINS} domains: the first ones were searched",) * is_cut
    notes = (*cut_note("Parallel", query, LONGEST_OBJECTIVE), *domains, *_warnings(reply))
    return Found(rows=_ROWS.rows(at(reply, "results")), notes=notes)


def _warnings(reply: Any) -> tuple[str, ...]:
    said = (text(warning.get("message")) for warning in items(at(reply, "warnings")))
    return tuple(f"Parallel says: {words}" for words in said if words)


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    payload = {"urls": list(urls), "advanced_settings": {"full_content": True}}
    return json_request(f"{site.base_url}/v1/extract", _headers(site), payload)


def _read_extract(reply: Any, _urls: Sequence[str]) -> list[Document]:
    return list(map(_page, items(at(reply, "results")))) + [
        Document(url=text(item.get("url")), error=f"Parallel could not read the page: {_why(item)}")
        for item in items(at(reply, "errors"))
    ]


def _page(item: dict[str, Any]) -> Document:
    content = text(item.get("full_content")) or "\n\n".join(texts(item.get("excerpts")))
    error = None if content else "Parallel returned nothing for this page"
    return Document(url=text(item.get("url")), title=text(item.get("title")), content=content, error=error)


def _why(item: dict[str, Any]) -> str:
    code = text(item.get("http_status_code"))
    reason = first_text(item, "content", "error_type") or "no reason is given"
    return f"{reason} (status {code})" if code else reason


BACKEND = Backend(
    name="parallel",
    title="Parallel",
    rank=12,
    options=(
        key_option("PARALLEL_API_KEY", title="Parallel", url="https://platform.parallel.ai"),
        address_option("https://api.parallel.ai", "PARALLEL_BASE_URL"),
        Option(
            name="mode",
            what="a search mode",
            env=("PARALLEL_SEARCH_MODE",),
            setting="parallel.mode",
            default=DEFAULT_MODE,
        ),
    ),
    filters=frozenset({"after", "include_domains", "exclude_domains", "region"}),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    extract_request=_extract_request,
    read_extract=_read_extract,
    extract_batch=MOST_PAGES,
)
