"""What is special about single vendors, beyond what every backend keeps."""

import asyncio
import json
import os
import subprocess
import sys
from base64 import b64decode

import pytest

from hermes.app.services import Services
from hermes.config import load
from hermes.errors import BackendDown, BackendRefused, BackendSpent, ConfigError, NetError, WebError
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.tools.web.backends import firecrawl
from simulators.web import custom, exa, parallel, searxng, tavily
from simulators.web.base import KEY, answers, as_json, fails, reads


class Run:
    """The web of a run whose chosen backend is a simulated vendor."""

    def __init__(self, name, home, environ, web=None):
        if web:
            (home / "config.yaml").write_text(json.dumps({"web": web}))
        self.services = Services(load({"HERMES_HOME": str(home), "HERMES_WEB_BACKEND": name, **environ}))
        self.services._wires[None] = Client(retry=RetryPolicy(attempts=1))

    async def __aenter__(self):
        return self.services.web

    async def __aexit__(self, *_):
        await self.services.close()


def rows(outcome):
    return [(row.title, row.url, row.description) for row in outcome.rows]


async def customised(home, reply, limit=5, **environ):
    simulator = custom.VENDOR(lambda _vendor, _asked: as_json(reply))
    async with simulator as vendor, Run("custom", home, vendor.environ() | environ) as web:
        return await web.search("q", limit)


SONAR = {
    "search_results": [
        {"title": "A", "url": "https://a.example/", "snippet": "s"},
        {"title": "B", "url": "https://b.example/", "content": "c"},
    ],
    "citations": ["https://c.example/"],
    "choices": [{"message": {"content": "the answer"}}],
}


async def test_results_come_before_citations_and_the_answer(tmp_path):
    assert rows(await customised(tmp_path, SONAR)) == [
        ("A", "https://a.example/", "s"),
        ("B", "https://b.example/", "c"),
    ]


@pytest.mark.parametrize("results", [[], None, "x"])
async def test_citations_come_next_as_texts_or_objects(tmp_path, results):
    cited = ["https://a.example/", 7, None, {"title": "B", "url": "https://b.example/", "snippet": "s"}]
    found = await customised(tmp_path, {**SONAR, "search_results": results, "citations": cited})
    assert rows(found) == [("", "https://a.example/", ""), ("B", "https://b.example/", "s")]


@pytest.mark.parametrize("nested", [True, False])
async def test_annotations_of_the_message_come_third(tmp_path, nested):
    cited = [{"url": "https://a.example/", "title": "A"}, {"url": "https://a.example/", "title": "again"}]
    notes = [
        {"type": "url_citation", "url_citation": each} if nested else {"type": "url_citation", **each}
        for each in cited
    ]
    reply = {"choices": [{"message": {"content": "text", "annotations": [*notes, {"type": "file"}, 7]}}]}
    assert rows(await customised(tmp_path, reply)) == [("A", "https://a.example/", "")]


@pytest.mark.parametrize("score", [10**400, -(10**400), 1e308, 7, True, "9"])
async def test_a_score_of_any_size_breaks_nothing(tmp_path, score):
    found, _ = await found_by_searxng(tmp_path, {"results": [scored("https://a.example/", score)]})
    assert len(found.rows) == 1


@pytest.mark.parametrize("content", ["the answer", [{"type": "text", "text": "the answer"}]])
async def test_an_answer_alone_is_one_row(tmp_path, content):
    found = await customised(tmp_path, {"choices": [{"message": {"content": content}}]})
    assert rows(found) == [("Search Answer", "", "the answer")]


async def test_a_long_answer_is_cut(tmp_path):
    [(_, _, words)] = rows(await customised(tmp_path, {"choices": [{"message": {"content": "x" * 9000}}]}))
    assert len(words) == 2000


@pytest.mark.parametrize("reply", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}])
async def test_nothing_at_all_is_a_success(tmp_path, reply):
    assert rows(await customised(tmp_path, reply)) == []


async def test_an_error_with_status_200_is_a_failure(tmp_path):
    with pytest.raises(WebError, match="no credit"):
        await customised(tmp_path, {"error": {"message": f"no credit for {KEY}"}})


async def test_variables_win_over_the_settings(tmp_path):
    settings = {
        "custom_base_url": "http://127.0.0.1:1/wrong",
        "custom_model": "sonar",
        "custom_api_key": "wrong",
    }
    async with custom.VENDOR(answers([("A", "https://a.example/", "d")])) as vendor:
        environ = {**vendor.environ(), "CUSTOM_SEARCH_BASE_URL": f"{vendor.url}//"}
        async with Run("custom", tmp_path, environ, settings) as web:
            assert rows(await web.search("q")) == [("A", "https://a.example/", "d")]
    assert (vendor.refusals, vendor.is_authorized(vendor.asked[0])) == ([], True)


async def test_settings_alone_are_enough(tmp_path):
    async with custom.VENDOR(answers([("A", "https://a.example/", "d")])) as vendor:
        settings = {"custom_base_url": vendor.url, "custom_api_key": KEY}
        async with Run("custom", tmp_path, {}, settings) as web:
            assert len((await web.search("q")).rows) == 1
    assert vendor.asked[0].body == {"model": "sonar", "messages": [{"role": "user", "content": "q"}]}
    assert vendor.is_authorized(vendor.asked[0])


async def test_one_bad_page_of_three_is_one_error(tmp_path):
    urls = [f"https://a.example/{n}" for n in range(3)]
    simulator = custom.VENDOR(reads({urls[0]: "one", urls[2]: "three"}))
    async with simulator as vendor, Run("custom", tmp_path, vendor.environ()) as web:
        pages = (await web.extract(urls)).pages
    assert [page.content for page in pages] == ["one", "", "three"]
    assert "cannot fetch" in pages[1].error
    assert len(vendor.asked) == 3


async def found_by_searxng(home, reply, limit=5, web=None, **environ):
    simulator = searxng.VENDOR(lambda _vendor, _asked: as_json(reply))
    async with simulator as vendor, Run("searxng", home, vendor.environ() | environ, web) as kernel:
        return await kernel.search("q", limit), vendor


def scored(url, score):
    return {"title": "", "url": url, "content": "", "score": score}


async def test_searxng_rows_are_sorted_by_score_and_the_unscored_come_last(tmp_path):
    scores = [("https://a/", 0.1), ("https://b/", 0.99), ("https://c/", None), ("https://d/", 0.5)]
    found, _ = await found_by_searxng(tmp_path, {"results": [scored(*each) for each in scores]})
    assert [row.url for row in found.rows] == ["https://b/", "https://d/", "https://a/", "https://c/"]


async def test_searxng_rows_without_a_url_take_no_place(tmp_path):
    found, _ = await found_by_searxng(
        tmp_path, {"results": [scored("", 9), scored(None, 8), scored("https://a/", 1)]}, 1
    )
    assert [row.url for row in found.rows] == ["https://a/"]


async def test_engines_that_did_not_answer_are_no_empty_result(tmp_path):
    silent = [["google", "timeout"], ["bing", "access denied"], "odd", None, [None]]
    with pytest.raises(BackendDown, match=r"google \(timeout\), bing \(access denied\), odd"):
        await found_by_searxng(tmp_path, {"results": [], "unresponsive_engines": silent})
    found, _ = await found_by_searxng(
        tmp_path, {"results": [scored("https://a/", 1)], "unresponsive_engines": silent}
    )
    assert "google (timeout)" in found.notes[0]
    found, _ = await found_by_searxng(tmp_path / "x", {"results": None, "unresponsive_engines": []})
    assert found.rows == ()


async def test_searxng_is_asked_with_the_options_that_are_set(tmp_path):
    options = {
        "searxng": {"engines": ["duckduckgo", "brave"], "categories": "it", "language": "fr", "safesearch": 2}
    }
    _, vendor = await found_by_searxng(tmp_path, {"results": []}, web=options)
    sent = vendor.asked[0].params
    assert (sent["engines"], sent["categories"], sent["language"], sent["safesearch"]) == (
        "duckduckgo,brave", "it", "fr", "2",
    )  # fmt: skip


async def test_a_login_in_the_address_of_an_instance_is_sent_in_a_header_and_told_to_nobody(tmp_path):
    async with searxng.VENDOR(answers([("A", "https://a.example/", "d")])) as vendor:
        address = vendor.url.replace("://", f"://me%40home:{KEY}@")
        run = Run("searxng", tmp_path, {"SEARXNG_URL": address})
        run.services.sent = []
        async with run as web:
            assert rows(await web.search("who@where")) == [("A", "https://a.example/", "d")]
    [asked] = vendor.asked
    assert b64decode(asked.headers["authorization"].removeprefix("Basic ")).decode() == f"me@home:{KEY}"
    told = repr(run.services.sent)
    assert "127.0.0.1" in told
    assert KEY not in told
    assert asked.headers["authorization"] not in told


async def test_a_login_in_an_address_beside_a_key_is_refused_exactly(tmp_path):
    address = "http://me:word@127.0.0.1:1"
    async with Run("tavily", tmp_path, {"TAVILY_API_KEY": KEY, "TAVILY_BASE_URL": address}) as web:
        with pytest.raises(ConfigError, match="`tavily` holds a user name or a password beside a key"):
            await web.search("q")


async def test_searxng_without_json_says_how_to_allow_it(tmp_path):
    async with searxng.VENDOR(fails(403)) as vendor, Run("searxng", tmp_path, vendor.environ()) as web:
        with pytest.raises(BackendRefused, match="403") as caught:
            await web.search("q")
    assert "json" in caught.value.hint


async def test_tavily_is_asked_for_twenty_at_most_and_keeps_its_key_in_a_header(tmp_path):
    async with tavily.VENDOR(answers([])) as vendor, Run("tavily", tmp_path, vendor.environ()) as web:
        await web.search("q", 50)
    [asked] = vendor.asked
    assert asked.body["max_results"] == 20
    assert "api_key" not in asked.body


@pytest.mark.parametrize("word", ["four", "x" * 500])
async def test_tavily_is_asked_with_as_many_words_as_it_takes(tmp_path, word):
    async with tavily.VENDOR(answers([])) as vendor, Run("tavily", tmp_path, vendor.environ()) as web:
        outcome = await web.search(f"{word} " * 100)
    assert vendor.refusals == []
    assert len(vendor.asked[0].body["query"]) > 390
    assert outcome.notes == ("Tavily takes 400 letters: the query was cut",)


async def test_tavily_answers_without_a_key_when_it_is_chosen(tmp_path):
    async with (
        tavily.VENDOR() as vendor,
        Run("tavily", tmp_path, {"TAVILY_BASE_URL": f"{vendor.url}/"}) as web,
    ):
        assert (await web.search("q")).rows == ()
    assert vendor.asked[0].headers["x-tavily-access-mode"] == "keyless"
    assert vendor.asked[0].path == "/search"
    assert "authorization" not in vendor.asked[0].headers


@pytest.mark.parametrize("status", [432, 433, 429])
async def test_a_used_up_plan_of_tavily_is_told_with_the_wait(tmp_path, status):
    body = {"error": {"code": "limit", "message": "used up", "retry_after_seconds": 99}}

    def reply(_vendor, _asked):
        return as_json(body).replace(b" 200 ", f" {status} ".encode(), 1)

    async with tavily.VENDOR(reply) as vendor, Run("tavily", tmp_path, vendor.environ()) as web:
        with pytest.raises(BackendSpent, match="used up") as caught:
            await web.search("q")
    assert caught.value.retry_after == 99


async def test_tavily_pages_are_matched_whatever_their_order(tmp_path):
    urls = ["https://a.example/1", "https://a.example/2"]
    async with (
        tavily.VENDOR(reads({urls[1]: "two"})) as vendor,
        Run("tavily", tmp_path, vendor.environ()) as web,
    ):
        pages = (await web.extract(urls)).pages
    assert [page.content for page in pages] == ["", "two"]
    assert "Failed to fetch" in pages[0].error


@pytest.mark.parametrize(("highlights", "description"), [(["a", "b"], "a b"), (None, ""), ([], "")])
async def test_highlights_of_exa_are_joined(tmp_path, highlights, description):
    row = {**exa.VENDOR().row("T", "https://a.example/", ""), "highlights": highlights}
    async with exa.VENDOR(answers([row])) as vendor, Run("exa", tmp_path, vendor.environ()) as web:
        [found] = (await web.search("q")).rows
    assert found.description == description


async def test_failover_and_its_memory_work_over_real_sockets(tmp_path):
    async with (
        exa.VENDOR(fails(429, retry_after=60)) as down,
        tavily.VENDOR(answers([("A", "https://a.example/", "d")])) as up,
    ):
        settings = {"failover": ["exa", "tavily"], "cache_enabled": False}
        (tmp_path / "config.yaml").write_text(json.dumps({"web": settings}))
        for _ in range(2):
            services = Services(load({"HERMES_HOME": str(tmp_path), **down.environ(), **up.environ()}))
            outcome = await services.web.search("q")
            await services.close()
            assert outcome.served_by == "tavily"
    assert (len(down.asked), len(up.asked)) == (1, 2)


async def test_a_federation_works_over_real_sockets(tmp_path):
    first = exa.VENDOR(answers([("A", "https://a.example/", "d")]))
    second = tavily.VENDOR(answers([("B", "https://b.example/", "d"), ("A", "http://www.a.example", "e")]))
    async with first as one, second as two:
        environ = {**one.environ(), **two.environ(), "HERMES_WEB_FEDERATE": "exa,tavily"}
        services = Services(load({"HERMES_HOME": str(tmp_path), **environ}))
        outcome = await services.web.search("q")
        await services.close()
    assert [row.title for row in outcome.rows] == ["A", "B"]
    assert outcome.served_by == "exa, tavily"


async def test_the_command_explains_itself_without_the_key(tmp_path):
    async with exa.VENDOR(answers([("A", "https://a.example/", "d"), ("B", "", "d")])) as vendor:
        code, out, err = await asyncio.to_thread(
            hermes_in_process,
            tmp_path,
            vendor.environ(),
            "search",
            "who?",
            "--explain",
            "--freshness",
            "week",
        )
    assert code == 0
    assert "1. A\n   https://a.example/\n   d" in out
    assert "asked: exa" in err
    assert f"POST {vendor.url}/search" in err
    assert "startPublishedDate" in err
    assert "rows: 1, dropped: 1" in err
    assert "a row has no URL (1)" in err
    assert KEY not in out + err


def hermes_in_process(home, environ, *words):
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "hermes", *words],
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(home), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


async def test_a_key_that_the_vendor_refuses_is_an_error_in_json_too(tmp_path):
    async with exa.VENDOR(fails(401, f"bad key {KEY}")) as vendor:
        code, out, err = await asyncio.to_thread(
            hermes_in_process, tmp_path, vendor.environ(), "search", "who?", "--json"
        )
    assert (code, json.loads(out)["success"]) == (1, False)
    assert KEY not in out
    assert "Exa refuses the key" in err
    assert "`EXA_API_KEY`" in err
    assert KEY not in err


async def test_a_page_of_exa_that_was_elsewhere_is_found_by_what_was_asked_for(tmp_path):
    asked, final = "https://a.example/old", "https://a.example/new"
    reply = {"results": [{"id": asked, "url": final, "title": "T", "text": "Text."}, {"id": "x", "url": ""}]}
    simulator = exa.VENDOR(lambda *_: as_json(reply))
    async with simulator as vendor, Run("exa", tmp_path, vendor.environ()) as web:
        [page] = (await web.extract([asked])).pages
    assert (page.url, page.content, page.final_url) == (asked, "Text.", final)


@pytest.mark.parametrize(("name", "vendor", "page"), [
    ("exa", exa, {"results": [{"id": "https://a.example/", "url": "https://a.example/", "text": None}]}),
    ("tavily", tavily, {"results": [{"url": "https://a.example/", "raw_content": None}]}),
    ("parallel", parallel, {"results": [{"url": "https://a.example/", "excerpts": [], "full_content": ""}]}),
])  # fmt: skip
async def test_a_page_without_text_is_an_error(tmp_path, name, vendor, page):
    simulator = vendor.VENDOR(lambda *_: as_json(page))
    async with simulator as server, Run(name, tmp_path, server.environ()) as web:
        [read] = (await web.extract(["https://a.example/"])).pages
    assert "returned nothing for this page" in read.error


class Deaf:
    """A wire that only remembers what it was to send."""

    def open(self, request, _may_retry=None):
        self.request = request
        raise NetError("nobody is here")

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("name", "environ", "total"),
    [
        ("exa", {"EXA_API_KEY": KEY}, 60),
        ("brave-free", {"BRAVE_SEARCH_API_KEY": KEY}, 20),
        ("firecrawl", {"FIRECRAWL_API_KEY": KEY}, firecrawl.PATIENCE + 10),
        ("searxng", {"SEARXNG_URL": "https://x.example", "SEARXNG_TIMEOUT": "7"}, 12),
    ],
)
async def test_a_request_has_the_deadlines_of_its_backend_or_its_own(tmp_path, name, environ, total):
    run, wire = Run(name, tmp_path, environ), Deaf()
    run.services._wires[None] = wire
    async with run as web:
        with pytest.raises(BackendDown, match="nobody is here"):
            await web.search("q")
    assert wire.request.deadlines.total == total
