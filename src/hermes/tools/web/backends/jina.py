"""Jina: a reader of pages, and a search; the reader also works a little without a key, when it is chosen."""

from collections.abc import Sequence
from typing import Any

from hermes.errors import NotConfigured
from hermes.protocols import Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Site,
    address_option,
    at,
    json_request,
    key_option,
    text,
    with_operators,
)

MOST_RESULTS = 20
_ROWS = Columns(at=("data",), others={"description": ("content",), "date": ("publishedTime",)})
_READER, _SEARCH = "r.jina.ai", "s.jina.ai"
_UNPROCESSABLE = 422
_NOTHING = "No search results"
_PAGE_FAILED = "Target URL returned error"


def _search_request(site: Site, query: Query) -> HttpRequest:
    if site.key is None:
        raise NotConfigured(
            "the web backend `jina` needs an API key to search: `JINA_API_KEY` is not set",
            hint="run `hermes config set JINA_API_KEY`, or get one at https://jina.ai/reader",
        )
    payload = {
        "q": with_operators(query),
        "num": min(query.limit, MOST_RESULTS),
        "gl": query.region.lower(),
        "hl": query.language,
    }
    headers = {"X-Respond-With": "no-content", **site.bearer()}
    return json_request(_search_address(site.base_url), headers, payload)


def _search_address(reader: str) -> str:
    """The search beside a reader: Jina has a host for each, a server of one's own has a path."""
    if reader.endswith(_READER):
        return f"{reader.removesuffix(_READER)}{_SEARCH}/"
    return f"{reader}/search"


def _read_search(reply: Any, _query: Query) -> Found:
    return Found(rows=_ROWS.rows(at(reply, "data")))


def _is_empty(status: int, body: Any) -> bool:
    """Jina answers a search without results with an error."""
    return status == _UNPROCESSABLE and text(at(body, "message")).startswith(_NOTHING)


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    return json_request(f"{site.base_url}/", site.bearer(), {"url": urls[0]})


def _read_extract(reply: Any, urls: Sequence[str]) -> list[Document]:
    page = at(reply, "data")
    content, final = text(at(page, "content")), text(at(page, "url"))
    warning = text(at(page, "warning"))
    error = None if content else "Jina returned nothing for this page"
    if warning.startswith(_PAGE_FAILED):
        error = f"Jina could not read the page: {warning}"
    return [
        Document(
            url=urls[0],
            title=text(at(page, "title")),
            content=content,
            error=error,
            final_url=final if final != urls[0] else "",
        )
    ]


BACKEND = Backend(
    name="jina",
    title="Jina",
    rank=24,
    options=(
        key_option("JINA_API_KEY", title="Jina", url="https://jina.ai/reader", required=False),
        address_option("https://r.jina.ai", "JINA_BASE_URL"),
    ),
    filters=frozenset({"include_domains", "exclude_domains", "language", "region"}),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    is_empty=_is_empty,
    extract_request=_extract_request,
    read_extract=_read_extract,
)
