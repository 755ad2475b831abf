"""Several backends as one: in turn, at once, and by the kind of address."""

import asyncio
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import BackendDown, BackendRefused, BackendSpent, NotConfigured, WebError
from hermes.protocols import Document, Query
from hermes.tools.web.several import TOPIC, ByScheme, Failover, Federation, Member, Memory, fused
from unit.web.fakes import Fake, Notes, row

QUERY = Query(text="q")


def today():
    return dt.date(2026, 11, 15)


def member(backend):
    return Member(backend.name, backend.schemes, lambda: backend)


def lacking(name):
    def connect():
        raise NotConfigured(f"`{name}` needs a key")

    return Member(name, ("http", "https"), connect)


def failover(*members, notes=None, **more):
    return Failover(members, Memory(Notes() if notes is None else notes), today, **more)


async def test_the_first_serves_and_nobody_else_is_asked():
    first, second = Fake("a", [row("https://a/")]), Fake("b", [row("https://b/")])
    found = await failover(member(first), member(second)).search(QUERY)
    assert ([each.url for each in found.rows], found.served_by, found.notes) == (["https://a/"], "a", ())
    assert second.asked == []


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(BackendDown("no"), 60), (BackendSpent("no"), 300), (BackendSpent("no", retry_after=9), 9),
     (BackendSpent("no", retry_after=1e6), 3600)],
)  # fmt: skip
async def test_one_that_is_down_is_passed_over_and_remembered_for_a_while(error, seconds):
    notes = Notes()
    first, second = Fake("a", error=error), Fake("b", [row("https://b/")])
    both = failover(member(first), member(second), notes=notes)
    found = await both.search(QUERY)
    assert (found.served_by, found.notes) == ("b", ("`a` was passed over: no",))
    assert notes.kept[TOPIC, "a"] == ("no", seconds)
    again = await both.search(QUERY)
    assert (again.served_by, again.notes, len(first.asked)) == ("b", (), 1)


@pytest.mark.parametrize("error", [BackendRefused("wrong key"), WebError("bad request")])
async def test_a_refused_key_and_a_bad_request_are_errors_and_no_reason_to_ask_another(error):
    second = Fake("b", [row("https://b/")])
    with pytest.raises(type(error), match=str(error)):
        await failover(member(Fake("a", error=error)), member(second)).search(QUERY)
    assert second.asked == []


async def test_one_that_lacks_its_key_is_passed_over_with_a_note():
    found = await failover(lacking("a"), member(Fake("b", [row("https://b/")]))).search(QUERY)
    assert (found.served_by, found.notes) == ("b", ("`a` was passed over: `a` needs a key",))


async def test_when_nobody_answers_everybody_is_named():
    with pytest.raises(BackendDown, match="`a` was passed over: slow; `b` was passed over: gone"):
        await failover(
            member(Fake("a", error=BackendDown("slow"))), member(Fake("b", error=BackendDown("gone")))
        ).search(QUERY)


async def test_those_who_were_down_are_asked_again_when_all_were():
    notes = Notes()
    only = Fake("a", error=BackendDown("no"))
    one = failover(member(only), notes=notes)
    with pytest.raises(BackendDown):
        await one.search(QUERY)
    only.error = None
    assert (await one.search(QUERY)).served_by == "a"


@pytest.mark.parametrize(("on_empty", "served"), [(False, "a"), (True, "b")])
async def test_nothing_found_moves_on_only_where_that_is_asked_for(on_empty, served):
    both = failover(member(Fake("a")), member(Fake("b", [row("https://b/")])), on_empty=on_empty)
    assert (await both.search(QUERY)).served_by == served


async def test_nothing_found_by_anybody_is_a_success_of_the_first():
    found = await failover(member(Fake("a")), member(Fake("b")), on_empty=True).search(QUERY)
    assert (found.rows, found.served_by) == ((), "a")


async def test_only_pages_that_another_may_read_are_read_elsewhere():
    busy = Document("https://x/2", error="busy", elsewhere=True)
    gone = Document("https://x/3", error="gone")
    first = Fake("a", pages={"https://x/1": "one", "https://x/2": busy, "https://x/3": gone})
    second = Fake("b", pages={"https://x/2": "two"})
    read = await failover(member(first), member(second)).extract(
        ["https://x/1", "https://x/2", "https://x/3"]
    )
    assert {each.url: (each.content, each.error, each.served_by) for each in read} == {
        "https://x/1": ("one", None, "a"),
        "https://x/2": ("two", None, "b"),
        "https://x/3": ("", "gone", "a"),
    }
    assert second.asked == [("https://x/2",)]


async def test_a_page_that_comes_under_another_spelling_is_not_read_twice():
    first = Fake("a", pages={"https://x/": Document(url="https://X", content="text")})
    second = Fake("b")
    [read] = await failover(member(first), member(second)).extract(["https://x/"])
    assert (read.url, read.content, read.served_by) == ("https://x/", "text", "a")
    assert second.asked == []


async def test_what_nobody_reads_keeps_its_last_error():
    busy = Document("https://x/", error="busy", elsewhere=True)
    notes = Notes()
    both = failover(
        member(Fake("a", pages={"https://x/": busy})),
        member(Fake("b", pages={"https://x/": busy})),
        notes=notes,
    )
    [read] = await both.extract(["https://x/"])
    assert (read.error, read.served_by) == ("busy", "b")
    assert set(notes.kept) == {(TOPIC, "a"), (TOPIC, "b")}


def federation(*members, patience=0.05):
    return Federation(members, patience, today)


async def test_all_are_asked_at_once_and_a_page_that_two_found_comes_first():
    one = Fake("a", [row("https://x.org/1"), row("https://www.x.org/2/?utm_source=z", title="Best")])
    two = Fake("b", [row("http://x.org/2"), row("https://x.org/3")])
    found = await federation(member(one), member(two)).search(QUERY)
    assert [each.url for each in found.rows] == ["http://x.org/2", "https://x.org/1", "https://x.org/3"]
    assert found.served_by == "a, b"


async def test_a_slow_one_is_not_waited_for_longer_than_patience():
    slow = Fake("slow", [row("https://s/")], wait=30)
    began = asyncio.get_running_loop().time()
    found = await federation(member(Fake("a", [row("https://a/")])), member(slow)).search(QUERY)
    assert asyncio.get_running_loop().time() - began < 2
    assert found.served_by == "a"
    assert "`slow` was too slow" in found.notes[0]
    assert slow.was_cancelled


async def test_patience_begins_with_the_first_that_found_something():
    late = Fake("late", [row("https://l/")], wait=0.1)
    found = await federation(
        member(Fake("a")), member(Fake("b", error=BackendDown("no"))), member(late), patience=0.01
    ).search(QUERY)
    assert [each.url for each in found.rows] == ["https://l/"]
    assert found.notes == ("`b` was passed over: no",)


async def test_a_federation_of_failures_is_a_failure():
    with pytest.raises(BackendDown, match="`a` was passed over: no; `b` was passed over"):
        await federation(member(Fake("a", error=BackendRefused("no"))), lacking("b")).search(QUERY)


async def test_cancelling_a_federation_cancels_all():
    members = [Fake("a", wait=30), Fake("b", wait=30)]
    task = asyncio.ensure_future(federation(*map(member, members)).search(QUERY))
    while not all(each.asked for each in members):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(each.was_cancelled for each in members)


async def test_each_page_is_read_by_who_reads_its_kind():
    web = Fake("web", pages={"https://x/": "page"})
    local = Fake("local", pages={"hermes://a": "manual"}, schemes=("hermes", "file"))
    both = ByScheme([web, local])
    read = await both.extract(["hermes://a", "https://x/"])
    assert {each.url: (each.content, each.served_by) for each in read} == {
        "hermes://a": ("manual", "local"),
        "https://x/": ("page", "web"),
    }
    assert both.schemes == ("http", "https", "hermes", "file")


@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=4))
def test_fusing_loses_no_page_and_repeats_none(lists):
    rows = [[row(f"https://p{page}.example/") for page in pages] for pages in lists]
    urls = [each.url for each in fused(rows)]
    assert sorted(urls) == sorted({f"https://p{page}.example/" for pages in lists for page in pages})


@given(st.lists(st.integers(0, 30), unique=True))
def test_one_list_keeps_its_order(pages):
    rows = [row(f"https://p{page}.example/") for page in pages]
    assert [each.url for each in fused([rows])] == [each.url for each in rows]
