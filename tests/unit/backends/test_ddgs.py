"""DuckDuckGo through a package: its options, its failures, and searches that hang."""

import asyncio
import json
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes import discover
from hermes.app.services import Services
from hermes.config import load
from hermes.errors import BackendDown, BackendSpent, NotConfigured, WebError
from hermes.protocols import Query
from hermes.tools.web.backends.ddgs import Ddgs
from simulators.scripted import ScriptedServer, http_reply

PACKAGES = Path(__file__).parents[2] / "simulators" / "packages"
ROWS = [{"title": f"T{n}", "href": f"https://s{n}.example/", "body": f"B{n}"} for n in range(1, 4)]


@pytest.fixture
def package(monkeypatch):
    """The package can be imported, and is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(PACKAGES))
    yield
    for name in ("ddgs", "ddgs.exceptions"):
        sys.modules.pop(name, None)


class Engine:
    """The server behind the package; `answer` is what it says, None for silence."""

    def __init__(self, monkeypatch, answer):
        self.calls = []
        self.answer = answer
        self._monkeypatch = monkeypatch
        self._server = ScriptedServer(self._serve)

    async def __aenter__(self):
        await self._server.__aenter__()
        self._before = set(threading.enumerate())
        self._monkeypatch.setenv("FAKE_DDGS_URL", self._server.url)
        return self

    async def __aexit__(self, *error):
        await self._server.__aexit__(*error)
        for thread in set(threading.enumerate()) - self._before:
            await asyncio.to_thread(thread.join, 5)

    async def _serve(self, exchange):
        self.calls.append(json.loads(exchange.request.body))
        if self.answer is None:
            await exchange.client_left()
        else:
            body = json.dumps(self.answer).encode()
            await exchange.send(http_reply(200, body, content_type="application/json"))
        exchange.close()


@pytest.fixture
def engine(monkeypatch, package):
    return lambda answer: Engine(monkeypatch, answer)


def services(home, **settings):
    (home / "config.yaml").write_text(json.dumps({"web": {"backend": "ddgs", **settings}}))
    return Services(load({"HERMES_HOME": str(home)}))


def options(**given):
    return lambda path: given.get(path.removeprefix("ddgs."))


async def test_rows_are_mapped_and_cut_to_the_limit(engine, tmp_path):
    run = services(tmp_path)
    async with engine([*ROWS, {"title": None, "url": "https://s9.example/"}]) as server:
        outcome = await run.web.search("who sings?", 4)
    await run.close()
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [
        ("T1", "https://s1.example/", "B1"),
        ("T2", "https://s2.example/", "B2"),
        ("T3", "https://s3.example/", "B3"),
        ("", "https://s9.example/", ""),
    ]
    assert outcome.served_by == "ddgs"
    [call] = server.calls
    assert (call["query"], call["max_results"], call["timeout"], call["region"]) == (
        "who sings?",
        4,
        10,
        "us-en",
    )


async def test_nothing_found_is_a_success_although_the_package_raises(engine):
    async with engine({"raise": "DDGSException", "words": "No results found."}):
        assert (await Ddgs(options()).search(Query(text="q"))).rows == ()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RatelimitException", BackendSpent),
        ("TimeoutException", BackendDown),
        ("DDGSException", BackendDown),
        ("ValueError", BackendDown),
    ],
)
async def test_whatever_the_package_raises_is_told_apart(name, kind, engine):
    async with engine({"raise": name, "words": "the engine said no"}):
        with pytest.raises(kind, match="the engine said no"):
            await Ddgs(options()).search(Query(text="q"))


async def test_a_search_that_hangs_ends_in_time_and_the_next_does_not_wait_for_it(engine):
    backend = Ddgs(options(), seconds=0.15)
    async with engine(None) as server:
        began = time.monotonic()
        with pytest.raises(BackendDown, match=r"0\.15 seconds"):
            await backend.search(Query(text="q"))
        while not server.calls:
            await asyncio.sleep(0.01)
        server.answer = ROWS
        found = await Ddgs(options()).search(Query(text="q"))
        assert time.monotonic() - began < 5
    assert len(found.rows) == 3


async def test_many_searches_go_out_at_once(engine):
    async with engine(None) as server:
        hung = [asyncio.ensure_future(Ddgs(options(), seconds=5).search(Query(text="q"))) for _ in range(40)]
        while len(server.calls) < 40:
            await asyncio.sleep(0.01)
        for task in hung:
            task.cancel()
        assert all(isinstance(end, asyncio.CancelledError) for end in await _ends(hung))


async def _ends(tasks):
    return await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"freshness": "week"}, {"timelimit": "w"}),
        ({"region": "AT"}, {"region": "at-de"}),
        ({"region": "GB"}, {"region": "uk-en"}),
        ({"region": "CH", "language": "fr"}, {"region": "ch-fr"}),
        ({"region": "TW", "language": "zh"}, {"region": "tw-tzh"}),
        ({"language": "de"}, {"region": "de-de"}),
        ({"language": "ja"}, {"region": "jp-jp"}),
        ({"topic": "news"}, {"category": "news"}),
        ({"topic": "general"}, {"category": "text"}),
        ({"include_domains": ("a.example", "b.example")}, {"query": "q (site:a.example OR site:b.example)"}),
        ({"exclude_domains": ("c.example",)}, {"query": "q -site:c.example"}),
    ],
)
async def test_filters_are_sent_as_the_package_takes_them(given, sent, engine):
    async with engine(ROWS) as server:
        found = await Ddgs(options()).search(Query(text="q", **given))
    assert sent.items() <= server.calls[0].items()
    assert found.notes == ()


async def test_a_region_that_there_is_not_is_told(engine):
    async with engine(ROWS) as server:
        found = await Ddgs(options(region="de-de")).search(Query(text="q", region="AT", language="fi"))
    assert server.calls[0]["region"] == "us-en"
    assert ["`region`" in note for note in found.notes] == [True]


async def test_the_options_of_the_package_are_settings(engine, tmp_path):
    run = services(tmp_path, ddgs={"region": "at-de", "safesearch": "off", "engines": ["brave", "mojeek"]})
    async with engine(ROWS) as server:
        await run.web.search("who sings?")
    await run.close()
    sent = {"region": "at-de", "safesearch": "off", "backend": "brave,mojeek"}
    assert sent.items() <= server.calls[0].items()


async def test_news_have_their_address_and_day_elsewhere(engine):
    row = {
        "date": "2026-01-02T00:00:00",
        "title": "T",
        "body": "B",
        "url": "https://a.example/",
        "source": "S",
    }
    async with engine([row]):
        found = await Ddgs(options()).search(Query(text="q", topic="news"))
    assert [(each.url, each.date) for each in found.rows] == [("https://a.example/", "2026-01-02T00:00:00")]


@pytest.mark.parametrize("rows", [None, 7, ["x", None, []], [{"href": 5, "title": [], "body": {}}]])
async def test_rows_of_any_shape_are_read_or_a_web_error(rows, package, monkeypatch):
    monkeypatch.setattr(discover.module("ddgs").DDGS, "text", lambda _self, _query, **_: rows)
    try:
        found = await Ddgs(options()).search(Query(text="q"))
    except WebError:
        return
    assert all(isinstance(row.title, str) and isinstance(row.description, str) for row in found.rows)


async def test_without_the_package_the_fix_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(discover, "is_installed", lambda _package: False)
    run = services(tmp_path)
    with pytest.raises(NotConfigured, match="`ddgs`") as caught:
        await run.web.search("q")
    await run.close()
    assert "hermes[ddgs]" in caught.value.hint


async def test_with_the_package_and_no_key_it_searches_and_is_not_loaded_before(package, tmp_path):
    run = Services(load({"HERMES_HOME": str(tmp_path)}))
    assert [each.name for each in run.web_parts.choice("search").backends] == ["ddgs", "local"]
    assert "ddgs" not in [each.name for each in run.web_parts.choice("extract").backends]
    assert "ddgs" not in sys.modules
    await run.close()


async def test_with_a_key_nobody_else_is_asked(package, tmp_path):
    run = Services(load({"HERMES_HOME": str(tmp_path), "EXA_API_KEY": "a-key-of-exa-0123456789"}))
    assert [each.name for each in run.web_parts.choice("search").backends] == ["exa"]
    await run.close()


def test_a_folder_of_that_name_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "ddgs").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not discover.is_installed("ddgs")
