"""Exa: a search engine for programs, with the text of pages."""

from collections.abc import Sequence
from typing import Any

from hermes.protocols import Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Site,
    address_option,
    at,
    first_text,
    items,
    json_request,
    key_option,
    text,
)

_ROWS = Columns(at=("results",), description="highlights", date="publishedDate")
_CATEGORIES = {"news": "news", "finance": "financial report"}


def _headers(site: Site) -> dict[str, str]:
    return {"x-api-key": site.key.reveal()} if site.key is not None else {}


def _search_request(site: Site, query: Query) -> HttpRequest:
    payload = {
        "query": query.text,
        "numResults": query.limit,
        "contents": {"highlights": True},
        "includeDomains": query.include_domains,
        "excludeDomains": query.exclude_domains,
        "startPublishedDate": f"{query.after}T00:00:00.000Z" if query.after else None,
        "endPublishedDate": f"{query.before}T23:59:59.999Z" if query.before else None,
        "userLocation": query.region,
        "category": _CATEGORIES.get(query.topic or ""),
    }
    return json_request(f"{site.base_url}/search", _headers(site), payload)


def _read_search(reply: Any, _query: Query) -> Found:
    return Found(rows=_ROWS.rows(at(reply, "results")))


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    return json_request(f"{site.base_url}/contents", _headers(site), {"urls": list(urls), "text": True})


def _read_extract(reply: Any, _urls: Sequence[str]) -> list[Document]:
    """The pages, and those that failed: Exa leaves them out of its results and says why in `statuses`."""
    return list(map(_page, items(at(reply, "results")))) + [
        Document(url=text(status.get("id")), error=f"Exa could not read the page: {_why(status)}")
        for status in items(at(reply, "statuses"))
        if status.get("status") == "error"
    ]


def _page(item: dict[str, Any]) -> Document:
    """A page is named by the address that was asked for, as its `id`, and by the one where it was."""
    content = text(item.get("text"))
    return Document(
        url=first_text(item, "id", "url"),
        title=text(item.get("title")),
        content=content,
        error=None if content else "Exa returned nothing for this page",
        final_url=text(item.get("url")),
    )


def _why(status: dict[str, Any]) -> str:
    error = status.get("error")
    if not isinstance(error, dict):
        return text(error) or "no reason is given"
    code = text(error.get("httpStatusCode"))
    tag = first_text(error, "tag", "message") or "no reason is given"
    return f"{tag} (status {code})" if code else tag


BACKEND = Backend(
    name="exa",
    title="Exa",
    rank=11,
    options=(
        key_option("EXA_API_KEY", title="Exa", url="https://dashboard.exa.ai/api-keys"),
        address_option("https://api.exa.ai", "EXA_BASE_URL"),
    ),
    filters=frozenset({"after", "before", "include_domains", "exclude_domains", "region", "topic"}),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    extract_request=_extract_request,
    read_extract=_read_extract,
    extract_batch=5,
)
