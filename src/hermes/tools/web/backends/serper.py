"""Serper: what Google finds, as JSON."""

from typing import Any

from hermes.errors import BackendSpent, WebError
from hermes.protocols import Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Site,
    address_option,
    at,
    first_text,
    google_range,
    json_request,
    key_option,
    text,
    unknown_topic,
    with_operators,
)
from hermes.tools.web.filters import EVERY

_ROWS = Columns(at=("organic",), beside=("news", "answerBox"), url="link", description="snippet")
_BAD_REQUEST = 400


def _search_request(site: Site, query: Query) -> HttpRequest:
    payload = {
        "q": with_operators(query),
        "num": query.limit,
        "gl": query.region.lower(),
        "hl": query.language,
        "tbs": google_range(query),
    }
    kind = "news" if query.topic == "news" else "search"
    key = {"X-API-KEY": site.key.reveal()} if site.key else {}
    return json_request(f"{site.base_url}/{kind}", key, payload)


def _read_search(reply: Any, query: Query) -> Found:
    rows = _ROWS.rows(at(reply, "news" if query.topic == "news" else "organic"))
    box = at(reply, "answerBox")
    answer = first_text(box, "answer", "snippet") if isinstance(box, dict) else ""
    return Found(rows=rows, answer=answer, notes=unknown_topic("Serper", query))


def _read_error(status: int, body: Any) -> WebError | None:
    words = text(at(body, "message"))
    if status != _BAD_REQUEST or "credits" not in words.lower():
        return None
    return BackendSpent(
        f"Serper has no credits left (status {status}): {words}",
        hint="buy some, or choose another backend",
    )


BACKEND = Backend(
    name="serper",
    title="Serper",
    rank=22,
    extracts=False,
    options=(
        key_option("SERPER_API_KEY", title="Serper", url="https://serper.dev/api-keys"),
        address_option("https://google.serper.dev", "SERPER_BASE_URL"),
    ),
    filters=EVERY,
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    read_error=_read_error,
)
