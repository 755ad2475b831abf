"""Firecrawl: search and page text, from its cloud or from a server of your own."""

from collections.abc import Sequence
from typing import Any

from hermes.errors import NotConfigured, WebError
from hermes.protocols import Deadlines, Document, Found, HttpRequest, Query, SearchRow
from hermes.tools.web.backends.base import (
    Backend,
    Site,
    address_option,
    at,
    cut,
    cut_note,
    first_text,
    google_range,
    items,
    json_request,
    key_option,
    number,
    text,
    unknown_topic,
)

CLOUD = "https://api.firecrawl.dev"
PATIENCE = 60.0
"""Seconds that the server itself may take for a search or a page."""
LONGEST_QUERY = 500
_MILLISECONDS = 1000
_CLIENT_ERROR = 400


def _headers(site: Site) -> dict[str, str]:
    if site.key is None and site.base_url == CLOUD:
        raise NotConfigured(
            "the web backend `firecrawl` needs an API key: `FIRECRAWL_API_KEY` is not set",
            hint="run `hermes config set FIRECRAWL_API_KEY`,"
            " or set `FIRECRAWL_API_URL` to a server of your own",
        )
    return site.bearer()


def _search_request(site: Site, query: Query) -> HttpRequest:
    payload = {
        "query": cut(query.text, LONGEST_QUERY),
        "limit": query.limit,
        "timeout": int(PATIENCE * _MILLISECONDS),
        "sources": [{"type": "news"}] if query.topic == "news" else None,
        "tbs": google_range(query),
        "country": query.region,
        "includeDomains": query.include_domains,
        # It takes only one of the two lists; rows from these hosts are dropped afterwards in any case.
        "excludeDomains": () if query.include_domains else query.exclude_domains,
    }
    return json_request(f"{site.base_url}/v2/search", _headers(site), payload)


def _read_search(reply: Any, query: Query) -> Found:
    """The rows of the first place that has any: servers of different age put them in different ones."""
    _check(reply)
    data = at(reply, "data")
    wanted = at(data, "news") if query.topic == "news" else None
    places = (data, wanted, at(data, "web"), at(data, "results"), at(reply, "web"), at(reply, "results"))
    told = text(at(reply, "warning"))
    warning = (f"Firecrawl says: {told}",) if told else ()
    return Found(
        rows=tuple(map(_row, next(filter(None, map(items, places)), []))),
        notes=(*unknown_topic("Firecrawl", query), *cut_note("Firecrawl", query, LONGEST_QUERY), *warning),
    )


def _row(item: dict[str, Any]) -> SearchRow:
    """A row may be a whole page, with its title among the metadata."""
    metadata = item.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    return SearchRow(
        title=first_text(item, "title") or first_text(inner, "title"),
        url=first_text(item, "url") or first_text(inner, "url", "sourceURL"),
        description=first_text(item, "description", "snippet") or first_text(inner, "description"),
        date=text(item.get("date")),
    )


def _check(reply: Any) -> None:
    """Firecrawl may report a failure with status 200."""
    if at(reply, "success") is False:
        words = text(at(reply, "error")) or text(at(reply, "message")) or "no reason is given"
        raise WebError(f"Firecrawl answered with an error: {words}")


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    payload = {"url": urls[0], "formats": ["markdown"], "timeout": int(PATIENCE * _MILLISECONDS)}
    return json_request(f"{site.base_url}/v2/scrape", _headers(site), payload)


def _read_extract(reply: Any, urls: Sequence[str]) -> list[Document]:
    _check(reply)
    data = at(reply, "data")
    page = data if isinstance(data, dict) else reply
    metadata = at(page, "metadata")
    content = text(at(page, "markdown"))
    return [
        Document(
            url=urls[0],
            title=text(at(metadata, "title")),
            content=content,
            error=_problem(metadata, content),
            final_url=_final_url(metadata, urls[0]),
        )
    ]


def _problem(metadata: Any, content: str) -> str | None:
    status = number(at(metadata, "statusCode"))
    if status is not None and status >= _CLIENT_ERROR:
        return f"Firecrawl could not read the page: it answered with status {status:.0f}"
    return None if content else "Firecrawl returned nothing for this page"


def _final_url(metadata: Any, asked: str) -> str:
    """Where the page was: `url` is what was loaded, and older servers only tell it as `sourceURL`."""
    told = (text(at(metadata, "url")), text(at(metadata, "sourceURL")))
    return next((url for url in told if url and url != asked), "")


BACKEND = Backend(
    name="firecrawl",
    title="Firecrawl",
    rank=13,
    options=(
        key_option(
            "FIRECRAWL_API_KEY",
            title="Firecrawl",
            url="https://firecrawl.dev/app/api-keys",
            required=False,
        ),
        address_option(CLOUD, "FIRECRAWL_API_URL"),
    ),
    offered_by=("key", "base_url"),
    filters=frozenset(
        {"freshness", "after", "before", "include_domains", "exclude_domains", "region", "topic"}
    ),
    deadlines=Deadlines(connect=5, first_byte=PATIENCE + 5, idle=PATIENCE + 5, total=PATIENCE + 10),
    search_request=_search_request,
    read_search=_read_search,
    extract_request=_extract_request,
    read_extract=_read_extract,
)
