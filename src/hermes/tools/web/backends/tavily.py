"""Tavily: search and page text for programs. It also answers a little without a key, when it is chosen."""

from collections.abc import Sequence
from typing import Any

from hermes.protocols import Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
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
LONGEST_QUERY = 400
_ROWS = Columns(at=("results",), beside=("answer",), description="content", date="published_date")


def _headers(site: Site) -> dict[str, str]:
    return site.bearer() or {"X-Tavily-Access-Mode": "keyless"}


def _search_request(site: Site, query: Query) -> HttpRequest:
    payload = {
        "query": cut(query.text, LONGEST_QUERY),
        "max_results": min(query.limit, MOST_RESULTS),
        "include_raw_content": False,
        "include_images": False,
        "topic": query.topic,
        "time_range": None if query.after else query.freshness,
        "start_date": query.after,
        "end_date": query.before,
        "include_domains": query.include_domains,
        "exclude_domains": query.exclude_domains,
    }
    return json_request(f"{site.base_url}/search", _headers(site), payload)


def _read_search(reply: Any, query: Query) -> Found:
    return Found(
        rows=_ROWS.rows(at(reply, "results")),
        answer=text(at(reply, "answer")),
        notes=cut_note("Tavily", query, LONGEST_QUERY),
    )


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    payload = {"urls": list(urls), "include_images": False, "format": "markdown"}
    return json_request(f"{site.base_url}/extract", _headers(site), payload)


def _read_extract(reply: Any, urls: Sequence[str]) -> list[Document]:
    only = urls[0] if len(urls) == 1 else ""
    read = [_page(item, only) for item in items(at(reply, "results"))]
    failed = [
        Document(url=text(item.get("url")), error=f"Tavily could not read the page: {_why(item)}")
        for item in items(at(reply, "failed_results"))
    ]
    named = [
        Document(url=url, error="Tavily could not read the page") for url in texts(at(reply, "failed_urls"))
    ]
    return read + failed + named


def _page(item: dict[str, Any], only: str) -> Document:
    content = first_text(item, "raw_content", "content")
    return Document(
        url=text(item.get("url")) or only,
        title=text(item.get("title")),
        content=content,
        error=None if content else "Tavily returned nothing for this page",
    )


def _why(item: dict[str, Any]) -> str:
    return text(item.get("error")) or "no reason is given"


BACKEND = Backend(
    name="tavily",
    title="Tavily",
    rank=10,
    options=(
        key_option("TAVILY_API_KEY", title="Tavily", url="https://app.tavily.com/home", required=False),
        address_option("https://api.tavily.com", "TAVILY_BASE_URL"),
    ),
    filters=frozenset({"freshness", "after", "before", "include_domains", "exclude_domains", "topic"}),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    extract_request=_extract_request,
    read_extract=_read_extract,
    extract_batch=MOST_PAGES,
)
