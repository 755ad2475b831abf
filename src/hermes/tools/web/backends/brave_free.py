"""Brave Search: an index of its own, with a free allowance every month."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from hermes.protocols import Deadlines, Found, HttpRequest, Query
from hermes.tools.web.backends.base import (
    Backend,
    Columns,
    Site,
    address_option,
    at,
    key_option,
    unknown_topic,
    with_operators,
)
from hermes.tools.web.filters import EVERY

MOST_RESULTS = 20
MOST_NEWS = 50
MOST_WORDS = 50
MOST_LETTERS = 400
_ROWS = Columns(at=("web", "results"), beside=("results",), date="page_age", others={"date": ("age",)})
_FIRST_DAY, _LAST_DAY = "1970-01-01", "2099-12-31"
_COUNTRIES = (
    "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW"
    " US ZA"
)
_LANGUAGES = (
    "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it ja kn ko lt lv ml mr ms nb nl no pa pl pt"
    " ro ru sk sl sr sv ta te th tr uk vi zh"
)
_OWN_CODES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
_BY_COUNTRY = {("pt", "BR"): "pt-br", ("en", "GB"): "en-gb", ("zh", "TW"): "zh-hant", ("zh", "HK"): "zh-hant"}


def _search_request(site: Site, query: Query) -> HttpRequest:
    is_news = query.topic == "news"
    parameters = {
        "q": _shortened(query),
        "count": str(min(query.limit, MOST_NEWS if is_news else MOST_RESULTS)),
        "freshness": _age(query),
        "country": _country(query),
        "search_lang": _language(query),
        "text_decorations": None if is_news else "false",
    }
    chosen = urlencode({name: value for name, value in parameters.items() if value})
    kind = "news" if is_news else "web"
    key = {"X-Subscription-Token": site.key.reveal()} if site.key else {}
    return HttpRequest(
        "GET",
        f"{site.base_url}/res/v1/{kind}/search?{chosen}",
        headers={"Accept": "application/json", **key},
    )


def _shortened(query: Query) -> str:
    """The words with their operators, as long as Brave takes them: it refuses a longer query."""
    operators = with_operators(_domains(query))
    words = query.text.split()[: MOST_WORDS - len(operators.split())]
    kept = " ".join(words)[: MOST_LETTERS - len(operators) - 1]
    return f"{kept} {operators}".strip()


def _domains(query: Query) -> Query:
    """The domains alone, as many as leave half of the query to its words; unwanted ones go first."""
    found = msgspec.structs.replace(query, text="")
    while len(said := with_operators(found)) > MOST_LETTERS // 2 or len(said.split()) > MOST_WORDS // 2:
        name = "exclude_domains" if found.exclude_domains else "include_domains"
        found = msgspec.structs.replace(found, **{name: getattr(found, name)[:-1]})
    return found


def _age(query: Query) -> str | None:
    if query.after or query.before:
        return f"{query.after or _FIRST_DAY}to{query.before or _LAST_DAY}"
    return f"p{query.freshness[0]}" if query.freshness else None


def _country(query: Query) -> str | None:
    return query.region if query.region in _COUNTRIES.split() else None


def _language(query: Query) -> str | None:
    if query.language not in _LANGUAGES.split():
        return None
    by_country = _BY_COUNTRY.get((query.language, query.region))
    return by_country or _OWN_CODES.get(query.language, query.language)


def _read_search(reply: Any, query: Query) -> Found:
    rows = at(reply, "results") if query.topic == "news" else at(reply, "web", "results")
    return Found(rows=_ROWS.rows(rows), notes=_lost(query))


def _lost(query: Query) -> tuple[str, ...]:
    """What could not be asked for, in sentences."""
    asked = len(_domains(query).include_domains)
    is_cut = not _shortened(query).startswith(" ".join(query.text.split()))
    found = {
        f"Brave does not know the `region` {query.region}, which was not heeded": (
            query.region and _country(query) is None
        ),
        f"Brave does not know the `language` {query.language}, which was not heeded": (
            query.language and _language(query) is None
        ),
        f"Brave takes no more than {asked} of these domains: the first ones were searched": (
            asked < len(query.include_domains)
        ),
        f"Brave takes {MOST_WORDS} words of {MOST_LETTERS} letters in all: the query was cut": is_cut,
    }
    return (*unknown_topic("Brave", query), *(note for note, is_true in found.items() if is_true))


BACKEND = Backend(
    name="brave-free",
    title="Brave Search",
    aliases=("brave",),
    rank=21,
    extracts=False,
    options=(
        key_option(
            "BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY", title="Brave Search", url="https://brave.com/search/api/"
        ),
        address_option("https://api.search.brave.com", "BRAVE_BASE_URL", "BRAVE_API_URL"),
    ),
    filters=EVERY,
    deadlines=Deadlines(connect=5, first_byte=15, idle=15, total=20),
    search_request=_search_request,
    columns=_ROWS,
    read_search=_read_search,
    badge="free allowance",
)
