"""DuckDuckGo and other engines without a key, through the package `ddgs` (the extra `hermes[ddgs]`)."""

from collections.abc import Callable, Sequence
from typing import Any

from hermes import discover
from hermes.errors import BackendDown, BackendSpent, NotConfigured, WebError
from hermes.protocols import Document, Filter, Found, Query
from hermes.threads import in_thread
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Option,
    Services,
    text,
    texts,
    unknown_topic,
    with_operators,
)

PACKAGE = "ddgs"
SECONDS_PER_REQUEST = 10
SECONDS_IN_ALL = 30.0
LONGEST_REASON = 200
_ROWS = Columns(url="href", description="body", others={"url": ("url",)})
_NOTHING = "No results found"
_REGIONS = (
    "us-en uk-en de-de fr-fr es-es it-it br-pt pt-pt nl-nl pl-pl ru-ru jp-jp kr-kr cn-zh xa-ar in-en au-en"
    " nz-en ca-en ca-fr ie-en za-en sg-en ph-en ar-es mx-es cl-es co-es pe-es ve-es at-de ch-de ch-fr ch-it"
    " be-nl be-fr se-sv no-no dk-da fi-fi ee-et lv-lv lt-lt cz-cs sk-sk hu-hu ro-ro bg-bg gr-el tr-tr ua-uk"
    " hr-hr sl-sl il-he id-id my-ms th-th vn-vi hk-tzh tw-tzh ct-ca"
)
_OWN_COUNTRIES = {"GB": "uk", "SI": "sl"}
_OWN_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no"}


class Ddgs:
    """Asks the package in a thread of its own for every search, so that one that hangs delays no other."""

    name: str = "ddgs"
    schemes: tuple[str, ...] = ("http", "https")
    filters: frozenset[Filter] = frozenset(
        {"freshness", "include_domains", "exclude_domains", "language", "region", "topic"}
    )

    def __init__(self, option: Callable[[str], Any], seconds: float = SECONDS_IN_ALL) -> None:
        self._option = option
        self._seconds = seconds

    async def search(self, query: Query) -> Found:
        chosen = self._chosen(query)
        try:
            rows = await in_thread(lambda: _ask(query, chosen), self._seconds)
        except TimeoutError:
            raise BackendDown(f"DuckDuckGo gave no answer within {self._seconds:g} seconds") from None
        is_known = not (query.region or query.language) or "region" in chosen
        note = "DuckDuckGo has no results of its own for this `region` and `language`, which were not heeded"
        notes = (*unknown_topic("DuckDuckGo", query), *(() if is_known else (note,)))
        return Found(rows=_ROWS.rows(rows), notes=notes)

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        return [Document(url=url, error="DuckDuckGo only searches") for url in urls]

    def _chosen(self, query: Query) -> dict[str, Any]:
        """What the package is asked with beside the words; what is not set is left to it."""
        region = _region(query) if query.region or query.language else text(self._option("ddgs.region"))
        given = {
            "max_results": query.limit,
            "timelimit": query.freshness[0] if query.freshness else None,
            "region": region,
            "safesearch": text(self._option("ddgs.safesearch")),
            "backend": ",".join(texts(self._option("ddgs.engines"))),
        }
        return {name: value for name, value in given.items() if value}


def _ask(query: Query, chosen: dict[str, Any]) -> list[Any]:
    try:
        package, errors = discover.module(PACKAGE), discover.module(f"{PACKAGE}.exceptions")
    except ImportError as error:
        raise WebError(f"the package `{PACKAGE}` cannot be loaded: {error}") from error
    client = package.DDGS(timeout=SECONDS_PER_REQUEST)
    ask = client.news if query.topic == "news" else client.text
    try:
        return list(ask(with_operators(query), **chosen))
    except errors.RatelimitException as error:
        raise BackendSpent(f"DuckDuckGo is asked too often: {_words(error)}") from error
    except errors.DDGSException as error:
        if _NOTHING in str(error):
            return []
        raise BackendDown(f"DuckDuckGo gave no answer: {_words(error)}") from error
    except Exception as error:  # the package is another author's code, and its engines may raise anything
        told = f"{type(error).__name__}: {_words(error)}"
        raise BackendDown(f"the package `{PACKAGE}` failed: {told}") from error


def _words(error: Exception) -> str:
    """What the package says, which may repeat a whole chain of causes."""
    return " ".join(str(error).split())[:LONGEST_REASON]


def _region(query: Query) -> str:
    """DuckDuckGo's code of a country with a language, such as `at-de`; empty when there is none."""
    country = _OWN_COUNTRIES.get(query.region, query.region.lower())
    language = _OWN_LANGUAGES.get(query.language, query.language)
    wanted = (
        code
        for code in _REGIONS.split()
        if (not country or code.startswith(f"{country}-")) and code.endswith(language)
    )
    return next(wanted, "")


def _is_installed() -> bool:
    return discover.is_installed(PACKAGE)


def _connect(services: Services) -> Ddgs:
    if not _is_installed():
        raise NotConfigured(
            f"the web backend `ddgs` needs the package `{PACKAGE}`", hint='run `pip install "hermes[ddgs]"`'
        )
    return Ddgs(services.option)


BACKEND = Backend(
    name="ddgs",
    title="DuckDuckGo",
    rank=60,
    extracts=False,
    options=(
        Option(name="region", what="a region such as `us-en`", setting="ddgs.region"),
        Option(name="safesearch", what="a level of safe search", setting="ddgs.safesearch"),
        Option(name="engines", what="a list of engines", setting="ddgs.engines"),
    ),
    offered_by=(),
    filters=Ddgs.filters,
    connect=_connect,
    is_ready=_is_installed,
    badge="free",
)
