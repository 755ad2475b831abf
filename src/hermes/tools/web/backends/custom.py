"""Any chat-completions endpoint whose model searches by itself, such as Perplexity's Sonar."""

from collections.abc import Sequence
from typing import Any

from hermes.errors import WebError
from hermes.protocols import Deadlines, Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Option,
    Services,
    Site,
    address_option,
    at,
    items,
    json_request,
    key_option,
    text,
)

LONGEST_ANSWER = 2000
_ROWS = Columns(description="snippet", others={"description": ("content",), "date": ("last_updated",)})
_FETCH = """\
Fetch this page and return its main content in Markdown: {url}
Return the content alone, without navigation, advertisements or a comment of your own."""


def _chat(site: Site, words: str) -> HttpRequest:
    """The whole request: endpoints differ in everything beyond these two fields."""
    payload = {"model": site.options["model"], "messages": [{"role": "user", "content": words}]}
    return json_request(f"{site.base_url}/chat/completions", site.bearer(), payload)


def _search_request(site: Site, query: Query) -> HttpRequest:
    return _chat(site, query.text)


def _read_search(reply: Any, _query: Query) -> Found:
    """The rows of the first place that has any, and the answer for when there are none."""
    _check(reply)
    cited = at(reply, "citations")
    tiers = (
        items(at(reply, "search_results")),
        items([{"url": each} if isinstance(each, str) else each for each in cited])
        if isinstance(cited, list)
        else [],
        _annotations(reply),
    )
    rows = _ROWS.rows(next(filter(None, tiers), []))
    return Found(rows=rows, answer=_answer(reply)[:LONGEST_ANSWER])


def _message(reply: Any) -> Any:
    return at(next(iter(items(at(reply, "choices"))), None), "message")


def _annotations(reply: Any) -> list[dict[str, Any]]:
    """The citations beside the message, each written out or within a `url_citation`, every URL once."""
    noted = [
        nested if isinstance(nested := each.get("url_citation"), dict) else each
        for each in items(at(_message(reply), "annotations"))
        if each.get("type") == "url_citation"
    ]
    return list({text(each.get("url")): each for each in reversed(noted)}.values())[::-1]


def _answer(reply: Any) -> str:
    content = at(_message(reply), "content")
    if isinstance(content, list):
        return "\n\n".join(filter(None, (text(part.get("text")) for part in items(content))))
    return text(content)


def _check(reply: Any) -> None:
    """An endpoint may report a failure with status 200."""
    error = at(reply, "error")
    if error:
        words = text(error) or text(at(error, "message")) or "no reason is given"
        raise WebError(f"the custom search endpoint answered with an error: {words}")


def _extract_request(site: Site, urls: Sequence[str]) -> HttpRequest:
    return _chat(site, _FETCH.format(url=urls[0]))


def _read_extract(reply: Any, urls: Sequence[str]) -> list[Document]:
    _check(reply)
    content = _answer(reply)
    error = None if content else "the custom search endpoint returned nothing for this page"
    return [Document(url=urls[0], content=content, error=error)]


def _meant(services: Services) -> str:
    """A template for requests, without a base URL, means the other backend that goes by this name."""
    is_template = services.option("custom.url_template") and not services.option("custom_base_url")
    return "custom-json" if is_template and not services.setting("CUSTOM_SEARCH_BASE_URL") else ""


BACKEND = Backend(
    name="custom",
    title="Custom (OpenAI-compatible)",
    rank=40,
    options=(
        key_option("CUSTOM_SEARCH_API_KEY", title="Custom search", setting="custom_api_key"),
        address_option(
            "", "CUSTOM_SEARCH_BASE_URL", setting="custom_base_url", prompt="Base URL", required=True
        ),
        Option(
            name="model",
            what="a model",
            env=("CUSTOM_SEARCH_MODEL",),
            setting="custom_model",
            default="sonar",
            prompt="Model",
        ),
    ),
    deadlines=Deadlines(connect=5, first_byte=60, idle=60, total=60),
    search_request=_search_request,
    read_search=_read_search,
    extract_request=_extract_request,
    read_extract=_read_extract,
    meant=_meant,
    describe=lambda site: f"Using custom backend: {site.base_url} (model: {site.options['model']})",
)
