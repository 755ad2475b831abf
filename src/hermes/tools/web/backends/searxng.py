"""SearXNG: search through an instance of your own, named by `SEARXNG_URL`."""

from typing import Any
from urllib.parse import urlencode

from hermes.errors import BackendDown, BackendRefused, WebError
from hermes.protocols import Deadlines, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Option,
    Site,
    address_option,
    at,
    number,
    text,
    texts,
    unknown_topic,
    with_operators,
)

_ROWS = Columns(
    at=("results",), beside=("unresponsive_engines",), description="content", date="publishedDate"
)
SHORTEST_TIMEOUT = 5.0
_FORBIDDEN = 403


def _search_request(site: Site, query: Query) -> HttpRequest:
    options = site.options
    parameters = {
        "q": with_operators(query),
        "format": "json",
        "pageno": "1",
        "time_range": query.freshness,
        "language": query.language or options["language"],
        "categories": "news" if query.topic == "news" else _listed(options["categories"]),
        "engines": _listed(options["engines"]),
        "safesearch": text(options["safesearch"]),
    }
    chosen = urlencode({name: value for name, value in parameters.items() if value})
    seconds = max(number(options["timeout"]) or _seconds(options["timeout"]), SHORTEST_TIMEOUT)
    return HttpRequest(
        "GET",
        f"{site.base_url}/search?{chosen}",
        headers={"Accept": "application/json"},
        deadlines=Deadlines(connect=5, first_byte=seconds, idle=seconds, total=seconds + 5),
    )


def _listed(value: Any) -> str:
    """Names with commas between them, however they were set."""
    return ",".join(texts(value))


def _seconds(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def _read_search(reply: Any, query: Query) -> Found:
    rows = sorted(_ROWS.rows(at(reply, "results")), key=lambda row: -(row.score or 0.0))
    silent = _unresponsive(at(reply, "unresponsive_engines"))
    if silent and not rows:
        raise BackendDown(
            f"SearXNG found nothing, and some of its engines did not answer: {silent}",
            hint="look at the engines of the instance, or ask again later",
        )
    lost = (f"some engines of SearXNG did not answer: {silent}",) if silent else ()
    return Found(rows=tuple(rows), notes=(*unknown_topic("SearXNG", query), *lost))


def _unresponsive(engines: Any) -> str:
    """Each engine that failed, with its reason: they come as pairs."""
    pairs = [texts(engine) for engine in engines] if isinstance(engines, list) else []
    return ", ".join(f"{name} ({' '.join(why)})" if why else name for name, *why in filter(None, pairs))


def _read_error(status: int, _body: Any) -> WebError | None:
    if status != _FORBIDDEN:
        return None
    return BackendRefused(
        "SearXNG refuses to answer in JSON (status 403)",
        hint="add `json` to `search.formats` in the settings of the instance",
    )


def _option(name: str, what: str, *env: str, default: str = "") -> Option:
    return Option(name=name, what=what, env=env, setting=f"searxng.{name}", default=default)


BACKEND = Backend(
    name="searxng",
    title="SearXNG",
    rank=20,
    extracts=False,
    options=(
        address_option(
            "", "SEARXNG_URL", what="the address of an instance", prompt="SearXNG URL", required=True
        ),
        _option("categories", "a list of categories"),
        _option("engines", "a list of engines"),
        _option("language", "a language"),
        _option("safesearch", "a level of safe search, 0 to 2"),
        _option("timeout", "a number of seconds", "SEARXNG_TIMEOUT", default="15"),
    ),
    offered_by=("base_url",),
    filters=frozenset({"freshness", "include_domains", "exclude_domains", "language", "topic"}),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    read_error=_read_error,
    badge="self-hosted",
)
