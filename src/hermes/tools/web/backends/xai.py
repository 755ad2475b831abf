"""xAI: a Grok model that searches the web by itself and lists what it found. Only when it is chosen.

Its rows are written by a model: the kernel judges their URLs like those of any stranger.
"""

from typing import Any

import msgspec

from hermes.errors import ConfigError, WebError
from hermes.protocols import Deadlines, Found, HttpRequest, Query, SearchRow
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Option,
    Site,
    address_option,
    at,
    items,
    json_request,
    key_option,
    number,
    text,
    texts,
)
from hermes.tools.web.filters import EVERY

MOST_DOMAINS = 5
LONGEST_QUOTE = 200
DEFAULT_SECONDS = 90.0
_ROWS = Columns()
_TASK = """\
Search the web for the query below. Answer with one JSON object and nothing else:
{{"results": [{{"title": "…", "url": "https://…", "description": "…"}}]}}
List at most {limit} pages that you found by searching, best first. Every `url` is an absolute https URL of a
page that you saw, and every `description` says in one or two sentences what the page says of the query."""


def _search_request(site: Site, query: Query) -> HttpRequest:
    seconds = number(site.options["timeout"]) or DEFAULT_SECONDS
    payload = {
        "model": site.options["model"],
        "input": [{"role": "user", "content": _prompt(query)}],
        "tools": [{"type": "web_search", **_filters(site, query)}],
        "include": ["no_inline_citations"],
    }
    request = json_request(f"{site.base_url}/responses", site.bearer(), payload)
    within = Deadlines(connect=5, first_byte=seconds, idle=seconds, total=seconds)
    return msgspec.structs.replace(request, deadlines=within)


def _prompt(query: Query) -> str:
    """The task in words: a model that searches by itself is told there what the pages must be."""
    lines = [_TASK.format(limit=query.limit)]
    if query.freshness:
        lines.append(f"Only pages from the last {query.freshness}.")
    if query.after:
        lines.append(f"Only pages published on {query.after} or later.")
    if query.before:
        lines.append(f"Only pages published on {query.before} or earlier.")
    if query.language:
        lines.append(f"Only pages in the language with the ISO 639-1 code `{query.language}`.")
    if query.region:
        lines.append(f"Only pages for readers in the country with the ISO 3166-1 code `{query.region}`.")
    if query.topic and query.topic != "general":
        lines.append(f"Only pages about {query.topic}.")
    return "\n".join([*lines, "", f"Query: {query.text}"])


def _filters(site: Site, query: Query) -> dict[str, Any]:
    """The domains, those of the query before those of the settings. xAI takes one of the two lists."""
    allowed, excluded = _listed(site.options["allowed_domains"]), _listed(site.options["excluded_domains"])
    if allowed and excluded:
        raise ConfigError(
            "`web.xai.allowed_domains` and `web.xai.excluded_domains` cannot be used together",
            hint="remove one of them",
        )
    wanted = list(query.include_domains) or allowed
    unwanted = list(query.exclude_domains) or excluded
    if wanted:
        return {"filters": {"allowed_domains": wanted[:MOST_DOMAINS]}}
    return {"filters": {"excluded_domains": unwanted[:MOST_DOMAINS]}} if unwanted else {}


def _listed(value: Any) -> list[str]:
    return [name.strip() for each in texts(value) for name in each.split(",") if name.strip()]


def _read_search(reply: Any, query: Query) -> Found:
    """The rows of the first place that has any: the model's own list, its marks, the pages it opened."""
    error = at(reply, "error")
    if error:
        words = text(error) or text(at(error, "message")) or "no reason is given"
        raise WebError(f"xAI answered with an error: {words}")
    parts = _parts(reply)
    tiers = (
        [row for part in parts for row in _written(text(part.get("text")))],
        _marked(parts),
        [SearchRow(title="", url=url, description="") for url in texts(at(reply, "citations"))],
    )
    is_cut = len(query.include_domains) > MOST_DOMAINS
    note = f"xAI searches at most {MOST_DOMAINS} domains: the first ones were searched"
    return Found(rows=tuple(next(filter(None, tiers), [])), notes=(note,) if is_cut else ())


def _parts(reply: Any) -> list[dict[str, Any]]:
    """What the model said, part by part, with the marks of each."""
    return [
        part
        for item in items(at(reply, "output"))
        if item.get("type") == "message"
        for part in items(item.get("content"))
        if part.get("type") == "output_text"
    ]


def _written(said: str) -> list[SearchRow]:
    """The rows of the JSON in a text, which may stand between other words."""
    whole = _object(said) or _object(said[said.find("{") : said.rfind("}") + 1])
    return [row for row in _ROWS.rows(at(whole, "results")) if row.url]


def _object(said: str) -> Any:
    try:
        found = msgspec.json.decode(said)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _marked(parts: list[dict[str, Any]]) -> list[SearchRow]:
    """The pages that the text cites, each once, with the words before the mark."""
    found: dict[str, SearchRow] = {}
    for part in parts:
        said = text(part.get("text"))
        for mark in items(part.get("annotations")):
            url = text(mark.get("url"))
            if mark.get("type") == "url_citation" and url and url not in found:
                end = max(int(number(mark.get("start_index")) or 0), 0)
                quote = said[max(end - LONGEST_QUOTE, 0) : end].strip()
                found[url] = SearchRow(title="", url=url, description=quote)
    return list(found.values())


def _option(name: str, what: str, default: Any = "") -> Option:
    return Option(name=name, what=what, setting=f"xai.{name}", default=default)


BACKEND = Backend(
    name="xai",
    title="xAI",
    rank=0,
    extracts=False,
    options=(
        key_option("XAI_API_KEY", title="xAI", url="https://console.x.ai"),
        address_option("https://api.x.ai/v1", "XAI_BASE_URL"),
        _option("model", "a model", "grok-build-0.1"),
        _option("allowed_domains", "a list of the only domains to search"),
        _option("excluded_domains", "a list of domains not to search"),
        _option("timeout", "a number of seconds", DEFAULT_SECONDS),
    ),
    filters=EVERY,
    search_request=_search_request,
    read_search=_read_search,
)
