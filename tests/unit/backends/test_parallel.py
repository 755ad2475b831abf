"""Parallel: limits, modes, and pages that come as excerpts."""

import pytest

from simulators.web.base import answers, as_json

PAGE = "https://a.example/page"


@pytest.mark.parametrize(("limit", "sent"), [(99, 20), (3, 3)])
async def test_no_more_than_twenty_results_are_asked_for(limit, sent, desk):
    _, vendor = await desk("parallel").search(answers([]), limit=limit)
    assert vendor.asked[0].body["advanced_settings"]["max_results"] == sent


@pytest.mark.parametrize(
    ("set_to", "sent"),
    [
        ("bogus", "advanced"),
        ("", "advanced"),
        ("agentic", "advanced"),
        ("one-shot", "basic"),
        (" Basic ", "basic"),
        ("FAST", "fast"),
        ("turbo", "turbo"),
    ],
)
async def test_an_old_or_unknown_mode_means_one_that_there_is(set_to, sent, desk):
    _, vendor = await desk("parallel").search(answers([]), environ={"PARALLEL_SEARCH_MODE": set_to})
    assert vendor.asked[0].body["mode"] == sent


async def test_the_mode_can_be_a_setting(desk):
    _, vendor = await desk("parallel").search(answers([]), settings={"parallel": {"mode": "turbo"}})
    assert vendor.asked[0].body["mode"] == "turbo"


async def test_a_long_query_is_cut_to_what_is_taken(desk):
    outcome, vendor = await desk("parallel").search(answers([]), "word " * 2000)
    [asked] = vendor.asked
    assert asked.body["search_queries"] == [("word " * 40).strip()]
    assert asked.body["objective"] == ("word " * 1000).strip()
    assert outcome.notes == ("Parallel takes 5000 letters: the query was cut",)


@pytest.mark.parametrize("filter", ["include_domains", "exclude_domains"])
async def test_more_domains_than_it_takes_are_cut(filter, desk):
    domains = tuple(f"d{n}.example" for n in range(12))
    outcome, vendor = await desk("parallel").search(answers([]), **{filter: domains})
    assert vendor.asked[0].body["advanced_settings"]["source_policy"] == {filter: list(domains[:10])}
    told = outcome.notes == ("Parallel searches at most 10 domains: the first ones were searched",)
    assert told == (filter == "include_domains")


async def test_excerpts_are_joined_and_warnings_are_told(desk):
    row = {"url": PAGE, "title": None, "excerpts": ["a", None, "b"]}
    reply = {"results": [row], "warnings": [{"type": "input", "message": "the country is not known"}]}
    outcome, _ = await desk("parallel").search(lambda *_: as_json(reply))
    assert [(row.title, row.description) for row in outcome.rows] == [("", "a b")]
    assert outcome.notes == ("Parallel says: the country is not known",)


async def test_a_page_without_full_content_is_its_excerpts(desk):
    reply = {"results": [{"url": PAGE, "full_content": "", "excerpts": ["x", "y"]}], "errors": []}
    [page], _ = await desk("parallel").extract(lambda *_: as_json(reply), PAGE)
    assert page.content == "x\n\ny"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"content": "blocked", "error_type": "fetch_error"}, "blocked"),
        ({"content": None, "error_type": "fetch_error", "http_status_code": 403}, "fetch_error (status 403)"),
        ({}, "no reason is given"),
    ],
)
async def test_the_reason_of_a_page_that_failed_is_told(error, words, desk):
    reply = {"results": [], "errors": [{"url": PAGE, **error}]}
    [page], _ = await desk("parallel").extract(lambda *_: as_json(reply), PAGE)
    assert words in page.error


async def test_wanted_domains_are_sent_without_the_unwanted_ones(desk):
    _, vendor = await desk("parallel").search(
        answers([]),
        include_domains=["a.example"],
        exclude_domains=["b.example"],
        after="2026-01-05",
        region="at",
    )
    settings = vendor.asked[0].body["advanced_settings"]
    assert settings["source_policy"] == {"include_domains": ["a.example"], "after_date": "2026-01-05"}
    assert settings["location"] == "at"
