"""Any search server that answers a GET request with JSON, described by a template and the names of fields."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec

from hermes.errors import ConfigError, WebError
from hermes.protocols import Deadlines, Found, HttpRequest, Query, SearchRow
from hermes.tools.web.backends.base import Backend, Option, Site, text

PLACE = "%s"
DEFAULT_SECONDS = 30.0
_MISSING = object()


def _search_request(site: Site, query: Query) -> HttpRequest:
    seconds = _seconds(site.options["timeout"])
    return HttpRequest(
        "GET",
        text(site.options["url_template"]).replace(PLACE, quote(query.text, safe="")),
        headers={"Accept": "application/json", **_headers(site.options["headers"])},
        deadlines=Deadlines(connect=5, first_byte=seconds, idle=seconds, total=seconds),
    )


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if seconds > 0:
        return seconds
    raise ConfigError("`web.custom.timeout` must be a number of seconds")


def _headers(given: Any) -> dict[str, str]:
    """The headers of the settings, whose values are secrets."""
    if not isinstance(given, Mapping):
        raise ConfigError("`web.custom.headers` must be a mapping of names to values")
    values = {
        name: value.reveal() if hasattr(value, "reveal") else text(value) for name, value in given.items()
    }
    return {str(name): value for name, value in values.items() if value}


def _refine(site: Site) -> Backend:
    """The backend with the places where this server keeps its rows; raises for a template without a query."""
    template = text(site.options["url_template"])
    if PLACE not in template:
        raise ConfigError(
            f"`web.custom.url_template` has no `{PLACE}`, which stands for the query",
            hint=f"write it as `https://search.example.org/api?q={PLACE}`",
        )
    if not template.startswith(("http://", "https://")):
        raise ConfigError("`web.custom.url_template` must start with `http://` or `https://`")
    return msgspec.structs.replace(BACKEND, read_search=_reader(site.options))


def _reader(options: Mapping[str, Any]) -> Callable[[Any, Query], Found]:
    return partial(_read_search, {name: _word(value) for name, value in options.items()})


def _read_search(places: Mapping[str, str], reply: Any, _query: Query) -> Found:
    _check(reply, places["ok_path"], places["ok_value"])
    rows = _at(reply, places["results_path"])
    if rows is not None and not isinstance(rows, list):
        named = f"`{places['results_path']}` of the reply" if places["results_path"] else "the reply"
        raise WebError(
            f"the custom search server sent no list of results: {named} is something else",
            hint="set `web.custom.results_path` to the place of the list",
        )
    return Found(rows=tuple(_row(places, item) for item in rows or ()))


def _row(places: Mapping[str, str], item: Any) -> SearchRow:
    title, url, description = (
        text(_at(item, places[field])) for field in ("title_field", "url_field", "description_field")
    )
    return SearchRow(title=title, url=url, description=description)


def _check(reply: Any, path: str, wanted: str) -> None:
    """A server may report a failure with status 200, in a field that the settings name."""
    if not path:
        return
    said = _word(_at(reply, path))
    if said != (wanted or "true"):
        raise WebError(f"the custom search server answered `{said}` in `{path}`")


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else text(value)


def _at(value: Any, path: str) -> Any:
    """What lies at a path of keys and list indexes with dots between them; `_MISSING` when it ends early."""
    for step in filter(None, path.split(".")):
        if isinstance(value, dict):
            value = value.get(step, _MISSING)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _MISSING
    return value


_OPTIONS = (
    Option(
        name="url_template",
        what="an address with `%s` for the query",
        setting="custom.url_template",
        required=True,
        prompt="URL with %s for the query",
    ),
    Option(
        name="results_path",
        what="the place of the list of results",
        setting="custom.results_path",
        prompt="Path to the list of results",
    ),
    Option(name="title_field", what="a field", setting="custom.title_field", default="title"),
    Option(name="url_field", what="a field", setting="custom.url_field", default="url"),
    Option(
        name="description_field", what="a field", setting="custom.description_field", default="description"
    ),
    Option(name="ok_path", what="a field that says whether it went well", setting="custom.ok_path"),
    Option(name="ok_value", what="a word that says so", setting="custom.ok_value"),
    Option(name="headers", what="a mapping of headers", setting="custom.headers", default={}),
    Option(name="timeout", what="a number of seconds", setting="custom.timeout", default=DEFAULT_SECONDS),
)

BACKEND = Backend(
    name="custom-json",
    title="Custom (JSON)",
    rank=41,
    extracts=False,
    options=_OPTIONS,
    offered_by=("url_template",),
    sent_to="url_template",
    search_request=_search_request,
    read_search=_reader({option.name: option.default for option in _OPTIONS}),
    refine=_refine,
    describe=lambda site: f"Using a JSON server at {text(site.options['url_template']).partition('?')[0]}",
    badge="self-hosted",
)
