"""Brave: its limits, its codes of countries and languages, and its two names."""

import pytest

from hermes.tools.web.select import Backends
from simulators.web.base import KEY, answers, as_json


async def test_no_more_than_twenty_results_are_asked_for_with_the_key_in_its_header(desk):
    _, vendor = await desk("brave-free").search(answers([]), limit=50)
    [asked] = vendor.asked
    assert asked.params["count"] == "20"
    assert asked.headers["x-subscription-token"] == KEY
    assert "search_lang" not in asked.params


async def test_a_reply_without_results_is_an_empty_success(desk):
    outcome, _ = await desk("brave-free").search(lambda *_: as_json({}))
    assert outcome.rows == ()


@pytest.mark.parametrize("name", ["brave", "Brave", "brave-free", "brave_free"])
def test_both_names_mean_the_same_backend(name):
    assert Backends().load(name).name == "brave-free"


@pytest.mark.parametrize(
    "environ",
    [
        {"BRAVE_API_KEY": KEY, "BRAVE_SEARCH_API_KEY": None},
        {"BRAVE_API_KEY": "another-key-1234567890", "BRAVE_SEARCH_API_KEY": KEY},
    ],
)
async def test_the_key_may_be_in_either_variable(environ, desk):
    _, vendor = await desk("brave-free").search(None, environ=environ)
    assert vendor.is_authorized(vendor.asked[0])


async def test_the_address_may_be_in_either_variable(desk):
    _, vendor = await desk("brave-free").search(
        answers([]), environ={"BRAVE_API_URL": "http://unused.invalid"}
    )
    assert len(vendor.asked) == 1


@pytest.mark.parametrize(
    ("filters", "sent"),
    [
        ({"freshness": "day"}, {"freshness": "pd"}),
        ({"freshness": "year"}, {"freshness": "py"}),
        ({"after": "2026-01-05", "before": "2026-02-01"}, {"freshness": "2026-01-05to2026-02-01"}),
        ({"after": "2026-01-05"}, {"freshness": "2026-01-05to2099-12-31"}),
        ({"before": "2026-02-01"}, {"freshness": "1970-01-01to2026-02-01"}),
        ({"language": "ja"}, {"search_lang": "jp"}),
        ({"language": "zh", "region": "TW"}, {"search_lang": "zh-hant", "country": "TW"}),
        ({"language": "pt", "region": "BR"}, {"search_lang": "pt-br", "country": "BR"}),
        ({"language": "pt"}, {"search_lang": "pt-pt"}),
        ({"exclude_domains": ["b.example"]}, {"q": "who sings? -site:b.example"}),
    ],
)
async def test_filters_are_sent_in_its_own_codes(filters, sent, desk):
    outcome, vendor = await desk("brave-free").search(answers([]), **filters)
    assert sent.items() <= vendor.asked[0].params.items()
    assert outcome.notes == ()


@pytest.mark.parametrize(("filter", "value"), [("region", "IS"), ("language", "eo")])
async def test_a_country_or_language_that_it_does_not_know_is_told_and_not_sent(filter, value, desk):
    outcome, vendor = await desk("brave-free").search(answers([]), **{filter: value})
    assert [filter in note and value in note for note in outcome.notes] == [True]
    assert set(vendor.asked[0].params) == {"q", "count", "text_decorations"}


@pytest.mark.parametrize("words", ["word " * 80, "w" * 900, "long-word-of-some-letters " * 40])
async def test_a_query_that_is_too_long_is_cut_and_said_to_be(words, desk):
    outcome, vendor = await desk("brave-free").search(answers([]), words, include_domains=["a.example"])
    assert vendor.asked[0].params["q"].endswith(" site:a.example")
    assert any("cut" in note for note in outcome.notes)


@pytest.mark.parametrize("filter", ["include_domains", "exclude_domains"])
async def test_more_domains_than_it_takes_leave_room_for_the_words(filter, desk):
    domains = [f"a-domain-with-a-long-name-{n}.example" for n in range(60)]
    outcome, vendor = await desk("brave-free").search(answers([]), **{filter: domains})
    assert vendor.asked[0].params["q"].startswith("who sings? ")
    assert "a-domain-with-a-long-name-1.example" in vendor.asked[0].params["q"]
    assert any("domains" in note for note in outcome.notes) == (filter == "include_domains")


async def test_news_come_from_their_own_search(desk):
    outcome, vendor = await desk("brave-free").search(
        answers([("T", "https://a.example/", "D")]), limit=40, topic="news"
    )
    assert vendor.asked[0].path == "/res/v1/news/search"
    assert vendor.asked[0].params["count"] == "40"
    assert [row.title for row in outcome.rows] == ["T"]
