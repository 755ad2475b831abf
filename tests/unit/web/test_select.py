"""Who serves: an explicit choice wins, the rest follows from what is set, and files of one's own count."""

import asyncio

import pytest

from hermes.app.services import Services
from hermes.config import load
from hermes.errors import ConfigError, NotConfigured, UnknownName
from hermes.tools.web.backends.base import Backend, Option, key_option
from hermes.tools.web.options import is_available
from hermes.tools.web.select import Backends, Chosen, Preferences, Selector

EXA = {"EXA_API_KEY": "k" * 20}
TAVILY = {"TAVILY_API_KEY": "t" * 20}
SEARXNG = {"SEARXNG_URL": "http://127.0.0.1:1"}
FIRECRAWL = {"FIRECRAWL_API_KEY": "f" * 20}
CUSTOM = {"CUSTOM_SEARCH_API_KEY": "c" * 20}


@pytest.fixture
def parts(tmp_path):
    made = []

    def make(environ=(), web="", flags=None):
        if web:
            (tmp_path / "config.yaml").write_text(f"web:\n{web}")
        services = Services(load({"HERMES_HOME": str(tmp_path), **dict(environ)}, flags))
        made.append(services)
        return services.web_parts

    yield make
    for services in made:
        asyncio.run(services.close())


def name(parts, capability, environ=(), web="", flags=None):
    return parts(environ, web, flags).choice(capability).name


@pytest.mark.parametrize(
    ("environ", "search", "extract"),
    [
        ({}, "local", "reader"),
        (EXA, "exa", "exa"),
        (TAVILY | EXA, "tavily", "tavily"),
        (SEARXNG, "searxng", "reader"),
        (SEARXNG | CUSTOM, "searxng", "custom"),
        (CUSTOM, "custom", "custom"),
        (CUSTOM | EXA, "exa", "exa"),
        (CUSTOM | FIRECRAWL, "firecrawl", "firecrawl"),
        ({"EXA_API_KEY": "   "}, "local", "reader"),
    ],
)
def test_the_best_that_is_available_serves(parts, environ, search, extract):
    assert name(parts, "search", environ) == search
    assert name(parts, "extract", environ) == extract


@pytest.mark.parametrize("written", ["Tavily", " TAVILY ", "tavily"])
def test_names_are_read_in_any_case(parts, written):
    assert name(parts, "search", {"HERMES_WEB_BACKEND": written}) == "tavily"


def test_each_capability_may_have_its_own(parts):
    web = "  search_backend: searxng\n  extract_backend: exa\n  backend: tavily\n"
    chosen = parts(SEARXNG | EXA | TAVILY, web)
    assert (chosen.choice("search").name, chosen.choice("extract").name) == ("searxng", "exa")


async def test_a_chosen_one_that_lacks_something_is_an_error_that_names_it(parts):
    web = parts(TAVILY, "  backend: searxng\n")
    with pytest.raises(NotConfigured, match="SEARXNG_URL"):
        await web.kernel.search("q")
    with pytest.raises(NotConfigured, match="EXA_API_KEY"):
        await parts({"HERMES_WEB_SEARCH_BACKEND": "exa"} | TAVILY).kernel.search("q")


def test_one_that_only_searches_leaves_reading_to_the_best(parts):
    assert name(parts, "extract", SEARXNG | EXA, "  backend: searxng\n") == "exa"
    assert name(parts, "extract", SEARXNG, "  backend: searxng\n") == "reader"


def test_one_that_only_searches_cannot_be_chosen_for_reading(parts):
    with pytest.raises(NotConfigured, match=r"SearXNG\) is search-only"):
        parts(SEARXNG, "  extract_backend: searxng\n").choice("extract")


def test_an_unknown_shared_name_is_said_and_the_best_serves(parts):
    chosen = parts(EXA, "  backend: exxa\n").choice("search")
    assert chosen.name == "exa"
    assert "unknown web backend `exxa`" in chosen.warning
    assert "did you mean `exa`" in chosen.warning


@pytest.mark.parametrize("key", ["search_backend", "extract_backend"])
def test_an_unknown_name_for_one_capability_is_an_error(parts, key):
    with pytest.raises(UnknownName, match="exxa"):
        parts(EXA, f"  {key}: exxa\n").choice(key.partition("_")[0])


def test_custom_is_available_by_its_key_alone_wherever_that_is(parts, tmp_path):
    custom = Backends().load("custom")
    assert not is_available(custom, Services(load({"HERMES_HOME": str(tmp_path)})))
    assert name(parts, "search", {}, "  custom_api_key: cccccccccccc\n") == "custom"


async def test_custom_without_an_address_says_so(parts):
    with pytest.raises(NotConfigured, match="base URL"):
        await parts(CUSTOM).kernel.search("q")
    with pytest.raises(NotConfigured, match="API key"):
        await parts({}, "  backend: custom\n").kernel.search("q")


def test_those_in_the_list_are_asked_in_its_order_after_the_choice(parts):
    chosen = parts(EXA | TAVILY, "  failover: [searxng, exa, local]\n  backend: exa\n").choice("search")
    assert (chosen.how, [each.name for each in chosen.backends]) == ("failover", ["exa", "searxng", "local"])
    chosen = parts({}, "  failover: [searxng, exa]\n").choice("search")
    assert [each.name for each in chosen.backends] == ["searxng", "exa"]
    chosen = parts({}, "  failover: [searxng, exa]\n").choice("extract")
    assert [each.name for each in chosen.backends] == ["exa"]


def test_several_at_once_search_only(parts):
    web = parts(EXA | TAVILY | SEARXNG, "  federate: [exa, tavily, searxng]\n")
    assert web.choice("search").name == "exa + tavily + searxng"
    assert web.choice("extract").name == "tavily"


def test_a_choice_for_one_call_is_asked_alone(parts):
    chosen = parts(EXA, "  failover: [tavily]\n  federate: [exa, tavily]\n", {"web.search_backend": "exa"})
    assert (chosen.choice("search").name, chosen.choice("search").how) == ("exa", "one")


def test_local_documents_can_always_be_read(parts):
    assert [each.name for each in parts(EXA).choice("extract").beside] == ["local"]
    assert [each.name for each in parts(EXA, "  extract_backend: exa\n").choice("extract").beside] == [
        "local"
    ]
    assert parts({}, "  extract_backend: local\n").choice("extract").beside == ()


OWN = """
from hermes.protocols import Found, SearchRow
from hermes.tools.web.backends.base import Backend


class Mine:
    name, schemes, filters = "mine", ("https",), frozenset()

    async def search(self, query):
        return Found(rows=(SearchRow("T", "https://mine.example/", query.text),))

    async def extract(self, urls):
        return []


BACKEND = Backend(name="{name}", title="Mine", rank=1, offered_by=(), connect=lambda services: Mine())
"""


def own_file(tmp_path, text, file="mine.py"):
    (tmp_path / "web").mkdir(exist_ok=True)
    (tmp_path / "web" / file).write_text(text)


async def test_a_file_in_the_home_is_a_backend(parts, tmp_path):
    own_file(tmp_path, OWN.replace("{name}", "mine"))
    web = parts(EXA)
    assert web.choice("search").name == "mine"
    [found] = (await web.kernel.search("hello")).rows
    assert (found.url, found.description) == ("https://mine.example/", "hello")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("BACKEND = 5", "has no web backend"),
        (OWN.replace("{name}", "other"), "named `mine` and holds the web backend `other`"),
        ("1/0", "ZeroDivisionError"),
    ],
)
def test_a_broken_file_is_told_and_the_others_serve(parts, tmp_path, text, problem):
    own_file(tmp_path, text)
    web = parts(EXA)
    assert web.choice("search").name == "exa"
    assert problem in str(web.backends.problems[0])
    with pytest.raises(ConfigError):
        web.backends.load("mine")


def test_a_file_takes_the_name_of_another_only_when_it_says_so(parts, tmp_path):
    text = OWN.replace("{name}", "exa")
    own_file(tmp_path, text, "exa.py")
    with pytest.raises(ConfigError, match="the web backend `exa` is in") as caught:
        Backends(str(tmp_path)).load("exa")
    assert "OVERRIDES = True" in caught.value.hint
    own_file(tmp_path, text + "\nOVERRIDES = True\n", "exa.py")
    assert Backends(str(tmp_path)).load("exa").title == "Mine"


def test_a_plugin_may_add_one_and_the_second_of_a_name_replaces_the_first():
    backends = Backends()
    first, second = (Backend(name="extra", title=title, offered_by=()) for title in ("First", "Second"))
    backends.register(first)
    backends.register(second)
    assert backends.load("EXTRA").title == "Second"
    assert "extra" in backends.names()
    with pytest.raises(TypeError):
        backends.register(object())
    with pytest.raises(ValueError, match="name"):
        backends.register(Backend(name=" ", title="x"))


def test_one_that_cannot_say_whether_it_is_ready_is_not(parts):
    def broken():
        raise RuntimeError("boom")

    web = parts(EXA)
    web.backends.register(Backend(name="bad", title="Bad", rank=1, offered_by=(), is_ready=broken))
    assert web.choice("search").name == "exa"


def test_one_of_rank_zero_is_never_chosen_unasked(parts):
    web = parts({"QUIET_KEY": "q" * 20})
    quiet = Backend(name="quiet", title="Quiet", rank=0, options=(key_option("QUIET_KEY", title="Quiet"),))
    web.backends.register(quiet)
    assert web.choice("search").name == "local"


def test_a_name_may_mean_another_under_some_settings(parts):
    web = parts({}, "  backend: one\n")
    web.backends.register(Backend(name="one", title="One", meant=lambda services: "two"))
    web.backends.register(Backend(name="two", title="Two", options=(Option(name="x", what="an x"),)))
    assert web.choice("search").name == "two"


def test_an_auto_choice_loads_no_file_that_names_nothing_set(parts, monkeypatch):
    web = parts(EXA)
    loaded = []
    load_one = web.backends._registry.load
    monkeypatch.setattr(web.backends._registry, "load", lambda name: loaded.append(name) or load_one(name))
    web.choice("search")
    assert set(loaded) <= {"exa", "local", "reader", "ddgs"}


def test_nobody_at_all_is_an_error_with_a_way_out():
    class Empty(Backends):
        def available(self, services):
            return ()

    with pytest.raises(NotConfigured, match="no web backend can search") as caught:
        Selector(Empty(), None).choose("search", Preferences())
    assert "hermes" in caught.value.hint
    assert isinstance(Chosen(backends=(), reason="").name, str)
