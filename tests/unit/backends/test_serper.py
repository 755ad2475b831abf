"""Serper: news, and credits that are used up."""

from hermes.errors import BackendSpent
from simulators.web.base import answers, as_json, fails


async def test_used_up_credits_come_as_a_bad_request_and_are_told_as_such(desk):
    error, vendor = await desk("serper").fails(fails(400, "Not enough credits"), BackendSpent)
    assert "Not enough credits" in str(error)
    assert len(vendor.asked) == 1


async def test_news_come_from_their_own_search(desk):
    outcome, vendor = await desk("serper").search(answers([("T", "https://a.example/", "D")]), topic="news")
    assert vendor.asked[0].path == "/news"
    assert [(row.title, row.url, row.date) for row in outcome.rows] == [
        ("T", "https://a.example/", "Jan 2, 2026")
    ]


async def test_the_answer_of_the_box_is_a_row_when_there_is_no_other(desk):
    reply = {"answerBox": {"answer": "42", "link": "https://a.example/"}, "organic": []}
    outcome, _ = await desk("serper").search(lambda *_: as_json(reply))
    assert [(row.title, row.description) for row in outcome.rows] == [("Search Answer", "42")]


async def test_filters_are_sent_as_google_takes_them(desk):
    _, vendor = await desk("serper").search(
        answers([]), freshness="month", region="AT", language="de", exclude_domains=["b.example"]
    )
    assert vendor.asked[0].body == {
        "q": "who sings? -site:b.example",
        "num": 5,
        "gl": "at",
        "hl": "de",
        "tbs": "qdr:m",
    }
