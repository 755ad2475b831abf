"""Firecrawl: cloud or own server, where rows may stand, and where a page really was."""

import pytest

from hermes.errors import NotConfigured, WebError
from simulators.web.base import as_json, reads

ROW = {"title": "T", "url": "https://a.example/", "description": "D"}
PAGE = "https://a.example/page"
PRIVATE = "http://127.0.0.1/admin"


def replies(value):
    return lambda _vendor, _asked: as_json(value)


async def test_a_server_of_ones_own_is_asked_without_a_key(desk):
    _, vendor = await desk("firecrawl").search(replies({"data": []}), environ={"FIRECRAWL_API_KEY": None})
    [asked] = vendor.asked
    assert "authorization" not in asked.headers
    assert asked.path == "/v2/search"


@pytest.mark.parametrize("key", [None, "", "   "])
async def test_the_cloud_without_a_key_is_a_setting_that_is_missing(key, desk):
    environ = {"FIRECRAWL_API_KEY": key, "FIRECRAWL_API_URL": None}
    error, vendor = await desk("firecrawl").fails(None, NotConfigured, environ=environ)
    assert "FIRECRAWL_API_KEY" in str(error)
    assert vendor.asked == []


@pytest.mark.parametrize(
    "reply",
    [
        {"success": True, "data": [ROW]},
        {"success": True, "data": {"web": [ROW]}},
        {"success": True, "data": {"results": [ROW]}},
        {"success": True, "data": {"web": [], "results": [ROW]}},
        {"success": True, "data": {"web": []}, "web": [ROW]},
        {"success": True, "data": None, "results": [ROW]},
        {"web": [ROW], "results": [{**ROW, "title": "later"}]},
    ],
)
async def test_rows_are_taken_from_the_first_place_that_has_any(reply, desk):
    outcome, _ = await desk("firecrawl").search(replies(reply))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [
        ("T", "https://a.example/", "D")
    ]


async def test_a_long_query_is_cut_to_what_is_taken(desk):
    outcome, vendor = await desk("firecrawl").search(replies({"data": {"web": []}}), "four " * 200)
    assert vendor.asked[0].body["query"] == ("four " * 100).strip()
    assert outcome.notes == ("Firecrawl takes 500 letters: the query was cut",)


async def test_a_row_that_is_a_whole_page_keeps_its_title(desk):
    metadata = {"title": "T", "description": "D", "sourceURL": "https://a.example/"}
    page = {"markdown": "# T", "html": "<h1>T</h1>", "links": [], "metadata": metadata}
    outcome, _ = await desk("firecrawl").search(replies({"data": {"web": [page]}}))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [
        ("T", "https://a.example/", "D")
    ]


async def test_a_failure_with_status_200_is_a_failure(desk):
    error, _ = await desk("firecrawl").fails(replies({"success": False, "error": "no engine"}), WebError)
    assert "no engine" in str(error)


async def test_news_and_days_are_asked_for_as_google_takes_them(desk):
    _, vendor = await desk("firecrawl").search(
        replies({"data": {"news": [ROW]}}), topic="news", after="2026-01-05", before="2026-02-01"
    )
    [asked] = vendor.asked
    assert asked.body["sources"] == [{"type": "news"}]
    assert asked.body["tbs"] == "cdr:1,cd_min:01/05/2026,cd_max:02/01/2026"


async def test_each_page_is_a_request_with_a_time_limit_for_the_server(desk):
    pages, vendor = await desk("firecrawl").extract(
        reads({PAGE: "Text.", f"{PAGE}2": "More."}), PAGE, f"{PAGE}2"
    )
    assert [page.content for page in pages] == ["Text.", "More."]
    assert [asked.body["formats"] for asked in vendor.asked] == [["markdown"], ["markdown"]]
    assert all(asked.body["timeout"] == 60000 for asked in vendor.asked)


@pytest.mark.parametrize(
    "metadata",
    [
        {"sourceURL": PRIVATE},
        {"sourceURL": PRIVATE, "url": PAGE},
        {"sourceURL": PAGE, "url": PRIVATE},
        {"sourceURL": f"{PAGE}/", "url": PRIVATE},
    ],
)
async def test_a_page_that_was_redirected_to_a_private_address_is_not_shown(metadata, desk):
    reply = replies({"success": True, "data": {"markdown": "secret", "metadata": metadata}})
    [page], _ = await desk("firecrawl").extract(reply, PAGE, forbidden=[PRIVATE])
    assert (page.url, page.content, page.error) == (PAGE, "", "a private address")


async def test_a_page_that_was_redirected_elsewhere_keeps_the_address_that_was_asked(desk):
    metadata = {"title": "T", "url": "https://b.example/new", "sourceURL": PAGE, "statusCode": 200}
    reply = replies({"success": True, "data": {"markdown": "Text.", "metadata": metadata}})
    [page], _ = await desk("firecrawl").extract(reply, PAGE)
    assert (page.url, page.title, page.content, page.error) == (PAGE, "T", "Text.", None)


async def test_a_page_may_come_without_the_wrapper(desk):
    [page], _ = await desk("firecrawl").extract(replies({"markdown": "Text.", "metadata": None}), PAGE)
    assert page.content == "Text."


async def test_the_text_of_an_error_page_is_no_content(desk):
    metadata = {"statusCode": 404, "error": "Not Found"}
    reply = replies({"success": True, "data": {"markdown": "# Oops", "metadata": metadata}})
    [page], _ = await desk("firecrawl").extract(reply, PAGE)
    assert "404" in page.error
    assert page.content == ""
