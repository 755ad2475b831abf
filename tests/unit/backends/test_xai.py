"""xAI: a model's list of rows, wherever it wrote it, and what is settled before it is asked."""

import msgspec
import pytest

from hermes.errors import BackendRefused, ConfigError, WebError
from hermes.tools.web.select import Backends
from simulators.web.base import KEY, answers, as_json, fails

ROWS = {"results": [{"title": "T", "url": "https://a.example/", "description": "D"}]}
WRITTEN = msgspec.json.encode(ROWS).decode()


def said(text, **more):
    return lambda vendor, _asked: as_json(vendor.said(text, **more))


def mark(url, start, title="1"):
    return {"type": "url_citation", "url": url, "title": title, "start_index": start, "end_index": start + 5}


def test_it_is_never_chosen_unasked():
    assert Backends().load("xai").rank == 0


async def test_domains_that_contradict_each_other_are_refused_before_a_request(desk):
    settings = {"xai": {"allowed_domains": ["a.example"], "excluded_domains": "b.example"}}
    error, vendor = await desk("xai").fails(answers([]), ConfigError, settings=settings)
    assert "cannot be used together" in str(error)
    assert vendor.asked == []


@pytest.mark.parametrize(
    ("settings", "filters", "sent"),
    [
        ({}, {}, None),
        ({"allowed_domains": ["a.example"]}, {}, {"allowed_domains": ["a.example"]}),
        ({"excluded_domains": "a.example, b.example"}, {}, {"excluded_domains": ["a.example", "b.example"]}),
        (
            {"allowed_domains": [f"d{n}.example" for n in range(9)]},
            {},
            {"allowed_domains": [f"d{n}.example" for n in range(5)]},
        ),
        (
            {"allowed_domains": ["a.example"]},
            {"include_domains": ["c.example"]},
            {"allowed_domains": ["c.example"]},
        ),
        (
            {},
            {"include_domains": ["c.example"], "exclude_domains": ["b.example"]},
            {"allowed_domains": ["c.example"]},
        ),
    ],
)
async def test_domains_are_sent_to_the_search_of_the_model(settings, filters, sent, desk):
    _, vendor = await desk("xai").search(answers([]), settings={"xai": settings}, **filters)
    assert vendor.asked[0].body["tools"][0].get("filters") == sent


async def test_more_wanted_domains_than_it_takes_are_said_to_be_cut(desk):
    domains = [f"d{n}.example" for n in range(9)]
    outcome, _ = await desk("xai").search(answers([]), include_domains=domains)
    assert any("5 domains" in note for note in outcome.notes)


async def test_the_request_is_a_question_with_the_search_of_the_vendor(desk):
    _, vendor = await desk("xai").search(
        answers([]), limit=7, freshness="week", settings={"xai": {"model": "grok-9"}}
    )
    body = vendor.asked[0].body
    assert (body["model"], body["include"]) == ("grok-9", ["no_inline_citations"])
    assert "at most 7 pages" in body["input"][0]["content"]
    assert "the last week" in body["input"][0]["content"]


@pytest.mark.parametrize(
    "text", [WRITTEN, f"```json\n{WRITTEN}\n```", f"Here they are: {WRITTEN} Anything else?"]
)
async def test_rows_are_read_from_the_json_in_the_answer(text, desk):
    outcome, _ = await desk("xai").search(said(text, annotations=[mark("https://z.example/", 0)]))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [
        ("T", "https://a.example/", "D")
    ]


async def test_without_a_list_the_marks_of_the_text_are_the_rows(desk):
    text = "x" * 300 + "Grass is green. [[1]] And so on."
    marks = [
        mark("https://a.example/", 316),
        mark("https://b.example/", 330),
        mark("https://a.example/", 331),
    ]
    outcome, _ = await desk("xai").search(said(text, annotations=marks, citations=["https://z.example/"]))
    assert [(row.title, row.url) for row in outcome.rows] == [
        ("", "https://a.example/"),
        ("", "https://b.example/"),
    ]
    assert outcome.rows[0].description.endswith("Grass is green.")
    assert len(outcome.rows[0].description) <= 200


async def test_without_marks_the_pages_that_it_opened_are_the_rows(desk):
    citations = ["https://a.example/", "", None, "https://b.example/"]
    outcome, _ = await desk("xai").search(said("Grass is green.", citations=citations))
    assert [row.url for row in outcome.rows] == ["https://a.example/", "https://b.example/"]


async def test_words_without_any_page_are_an_empty_success(desk):
    outcome, _ = await desk("xai").search(said("I found nothing."))
    assert outcome.rows == ()


@pytest.mark.parametrize("error", ["overloaded", {"message": "overloaded", "code": "x"}])
async def test_an_error_with_status_200_is_a_failure(error, desk):
    failure, _ = await desk("xai").fails(lambda *_: as_json({"id": "r", "error": error}), WebError)
    assert "overloaded" in str(failure)


async def test_a_key_that_is_refused_is_not_tried_again(desk):
    error, vendor = await desk("xai").fails(fails(401, f"bad key {KEY}"), BackendRefused)
    assert len(vendor.asked) == 1
    assert "401" in str(error)
    assert KEY not in f"{error} {error.hint}"
