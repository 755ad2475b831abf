"""What was found lately is not asked for again, and equal questions at the same time are one."""

import asyncio

import pytest

from hermes.errors import BackendDown
from hermes.protocols import Document, Query, progress
from hermes.tools.web.cache import Cache, Cached
from unit.web.fakes import Fake, row

ROWS = [row(f"https://a.example/{n}", date="2026-01-02", score=0.5) for n in range(10)]


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(tmp_path, clock):
    made = Cache(str(tmp_path / "web.db"), 60, clock)
    yield made
    made.close()


async def test_the_same_search_is_asked_once_whatever_its_spaces_and_case(cache):
    backend = Fake("a", ROWS)
    web = Cached(backend, cache, "")
    first = await web.search(Query(text="Who  sings", limit=5))
    assert await web.search(Query(text=" who SINGS ", limit=5)) == first.__class__(rows=first.rows[:5])
    assert len(backend.asked) == 1


async def test_fewer_results_come_from_more_and_more_are_asked_for(cache):
    backend = Fake("a", ROWS)
    web = Cached(backend, cache, "")
    await web.search(Query(text="q", limit=5))
    assert len((await web.search(Query(text="q", limit=3))).rows) == 3
    assert len(backend.asked) == 1
    await web.search(Query(text="q", limit=8))
    assert len(backend.asked) == 2


@pytest.mark.parametrize(
    "other", [{"freshness": "day"}, {"language": "de"}, {"include_domains": ("a.example",)}]
)
async def test_another_filter_is_another_search(cache, other):
    backend = Fake("a", ROWS)
    web = Cached(backend, cache, "")
    await web.search(Query(text="q"))
    await web.search(Query(text="q", **other))
    assert len(backend.asked) == 2


async def test_another_backend_or_address_is_another_search(cache):
    one, two, three = Fake("a", ROWS), Fake("b", ROWS), Fake("a", ROWS)
    for backend, identity in ((one, "x"), (two, "x"), (three, "y")):
        await Cached(backend, cache, identity).search(Query(text="q"))
    assert [len(each.asked) for each in (one, two, three)] == [1, 1, 1]


async def test_an_answer_grows_old(cache, clock):
    backend = Fake("a", ROWS)
    web = Cached(backend, cache, "")
    await web.search(Query(text="q"))
    clock.now += 61
    await web.search(Query(text="q"))
    assert len(backend.asked) == 2


async def test_neither_nothing_nor_a_failure_is_kept(cache):
    backend = Fake("a", [])
    web = Cached(backend, cache, "")
    await web.search(Query(text="q"))
    backend.error = BackendDown("no")
    with pytest.raises(BackendDown):
        await web.search(Query(text="q"))
    backend.error, backend.rows = None, ROWS
    assert (await web.search(Query(text="q"))).rows


async def test_another_run_finds_it_too(cache, tmp_path, clock):
    await Cached(Fake("a", ROWS), cache, "").search(Query(text="q"))
    later = Cache(str(tmp_path / "web.db"), 60, clock)
    backend = Fake("a")
    found = await Cached(backend, later, "").search(Query(text="q", limit=5))
    assert (found.rows[0].date, found.rows[0].score, backend.asked) == ("2026-01-02", 0.5, [])
    later.close()


async def test_a_page_is_kept_under_the_address_that_was_asked_for(cache):
    page = Document(url="https://A.example/1/", content="one")
    backend = Fake("a", pages={"https://a.example/1": page})
    web = Cached(backend, cache, "")
    assert [await web.extract(["https://a.example/1"]) for _ in range(2)] == [[page], [page]]
    assert len(backend.asked) == 1


async def test_pages_are_kept_one_by_one(cache):
    backend = Fake("a", pages={"https://a.example/1": "one", "https://a.example/2": "two"})
    web = Cached(backend, cache, "")
    await web.extract(["https://a.example/1"])
    read = await web.extract(["https://a.example/1", "https://a.example/2"])
    assert {each.url: each.content for each in read} == {
        "https://a.example/1": "one",
        "https://a.example/2": "two",
    }
    assert backend.asked == [("https://a.example/1",), ("https://a.example/2",)]


async def test_who_asks_is_told_what_comes_from_the_cache(cache):
    told = []
    progress.set(told.append)
    web = Cached(
        Fake("a", ROWS, pages={"https://a.example/1": "one", "https://a.example/2": "two"}), cache, ""
    )
    await web.search(Query(text="q"))
    await web.extract(["https://a.example/1"])
    assert told == []
    await web.search(Query(text="q"))
    await web.extract(["https://a.example/1"])
    await web.extract(["https://a.example/1", "https://a.example/2"])
    assert told == ["from the cache", "from the cache", "1 of 2 from the cache"]


@pytest.mark.parametrize(
    "url",
    ["http://localhost/", "http://127.0.0.1:8/", "http://10.0.0.1/", "http://nas.local/", "http://[::1]/",
     "https://x.private.example/", "https://a.example/failed"],
)  # fmt: skip
async def test_near_and_exempt_hosts_and_failures_are_never_kept(cache, url):
    pages = {"https://a.example/failed": Document("https://a.example/failed", error="no")}
    backend = Fake("a", pages=pages)
    web = Cached(backend, cache, "", exempt=("private.example",))
    await web.extract([url])
    await web.extract([url])
    assert len(backend.asked) == 2


async def test_equal_searches_at_the_same_time_share_one(cache):
    gate = asyncio.Event()
    backend = Fake("a", ROWS, wait=gate)
    web = Cached(backend, cache, "")
    asked = [asyncio.ensure_future(web.search(Query(text="q"))) for _ in range(5)]
    await asyncio.sleep(0)
    gate.set()
    assert len({id(found) for found in await asyncio.gather(*asked)}) == 1
    assert len(backend.asked) == 1


async def test_one_who_leaves_does_not_take_the_answer_from_the_others():
    gate = asyncio.Event()
    backend = Fake("a", ROWS, wait=gate)
    web = Cached(backend, None, "")
    leaves, stays = (asyncio.ensure_future(web.search(Query(text="q"))) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    await asyncio.wait([leaves])
    gate.set()
    assert (await stays).rows
    assert len(backend.asked) == 2


async def test_when_all_leave_the_search_ends():
    backend = Fake("a", ROWS, wait=30)
    web = Cached(backend, None, "")
    asked = [asyncio.ensure_future(web.search(Query(text="q"))) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in asked:
        task.cancel()
    await asyncio.wait(asked)
    assert backend.was_cancelled
    backend.wait = None
    assert (await web.search(Query(text="q"))).rows


async def test_a_failure_is_shared_and_forgotten():
    backend = Fake("a", error=BackendDown("no"))
    web = Cached(backend, None, "")
    outcomes = await asyncio.gather(*(web.search(Query(text="q")) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(outcome, BackendDown) for outcome in outcomes)
    backend.error, backend.rows = None, ROWS
    assert (await web.search(Query(text="q"))).rows


async def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, clock):
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = Cache(str(blocked / "web.db"), 60, clock)
    backend = Fake("a", ROWS)
    for _ in range(2):
        assert (await Cached(backend, cache, "").search(Query(text="q"))).rows
    assert len(backend.asked) == 2


def test_the_oldest_are_dropped_when_there_are_too_many(cache, clock, monkeypatch):
    monkeypatch.setattr("hermes.tools.web.cache.MOST_ENTRIES", 3)
    for number in range(5):
        clock.now += 1
        cache.put(str(number), number)
    assert [cache.get(str(number), int) for number in range(5)] == [None, None, 2, 3, 4]


def test_the_oldest_are_dropped_when_they_are_too_large_together(cache, clock, monkeypatch):
    monkeypatch.setattr("hermes.tools.web.cache.MOST_BYTES", 250)
    for number in range(5):
        clock.now += 1
        cache.put(str(number), "x" * 98)
    assert [number for number in range(5) if cache.get(str(number), str)] == [3, 4]


async def test_a_page_of_the_open_web_that_is_near_in_the_end_is_not_kept(cache):
    page = Document("https://a.example/", content="in the house", final_url="http://nas.local/")
    backend = Fake("a", pages={"https://a.example/": page})
    web = Cached(backend, cache, "")
    for _ in range(2):
        await web.extract(["https://a.example/"])
    assert len(backend.asked) == 2
