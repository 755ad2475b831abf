import asyncio
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import StoreError, StoreUnavailable, UnknownName, UsageError
from hermes.events import Notice
from hermes.messages import Message, ToolCall
from hermes.protocols import SessionLog
from hermes.store import Happening, Session, Store, new_session_id

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
provider_data = st.none() | st.dictionaries(st.text(), json_values, max_size=4)
optional_text = st.none() | st.text()
calls = st.builds(
    ToolCall,
    id=optional_text,
    name=st.text(),
    arguments=st.text(),
    provider_data=provider_data,
    truncated=st.booleans(),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=optional_text,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    tool_call_id=optional_text,
    is_error=st.booleans(),
    reasoning=optional_text,
    finish_reason=st.sampled_from([None, "stop", "tool_calls", "length", "content_filter", "incomplete"]),
    provider_data=provider_data,
)


@settings(deadline=None)
@given(st.lists(messages, max_size=6), st.integers(0, 6))
def test_messages_come_back_as_they_were_in_order_and_byte_for_byte(said, cut):
    async def round_trip():
        store = Store.open(None)
        await store.create(Session("s", "", 0, 0, "p", "m", "/"))
        await store.append("s", said[:cut])
        await store.append("s", said[cut:])
        kept = await store.messages("s")
        await store.close()
        return kept

    kept = asyncio.run(round_trip())
    assert kept == tuple(said)
    assert repr([message.provider_data for message in kept]) == repr([m.provider_data for m in said])


async def test_the_store_is_a_session_log(store, session):
    log: SessionLog = store
    await store.create(session("s"))
    await log.append("s", [Message("user", "hello")])
    assert await store.messages("s") == (Message("user", "hello"),)


async def test_what_was_appended_is_seen_by_another_connection_at_once(store, path, session):
    await store.create(session("s"))
    await store.append("s", [Message("user", "hello")])
    other = Store.open(path)
    assert await other.messages("s") == (Message("user", "hello"),)
    await other.close()


async def test_a_stray_byte_is_kept_in_a_visible_form(store, session):
    await store.create(session("s", title="caf\udce9", cwd="/tmp/\udcff"))
    said = Message("user", "a\udcffb\x00é", provider_data={"\udcfe": ["\udcfd", 1]})
    await store.append("s", [said])
    (kept,) = await store.messages("s")
    assert kept == Message("user", "a\\udcffb\x00é", provider_data={"\\udcfe": ["\\udcfd", 1]})
    assert (await store.latest("/tmp/\udcff")).title == "caf\\udce9"
    assert (await store.find("caf\udce9")).id == "s"


async def test_append_reopens_a_session_and_mark_closes_it(store, session, clock):
    await store.create(session("s"))
    assert (await store.find("s")).status == "open"
    await store.append("s", [Message("user", "q"), Message("assistant", "a")])
    await store.mark("s", "done")
    found = await store.find("s")
    assert (found.status, found.messages, found.updated) == ("done", 2, clock.now)
    await store.append("s", [Message("user", "q2")])
    assert (await store.find("s")).status == "open"


async def test_an_append_to_a_session_that_was_removed_says_that_nothing_is_saved(store, session):
    await store.create(session("s"))
    await store.delete("s")
    with pytest.raises(StoreUnavailable, match="`s` is not in the store"):
        await store.append("s", [Message("user", "q")])
    with pytest.raises(StoreUnavailable):
        await store.mark("s", "done")
    assert await store.list(5) == []


async def test_an_append_that_cannot_be_encoded_leaves_nothing_behind(store, session):
    await store.create(session("s"))
    with pytest.raises(TypeError):
        await store.append("s", [Message("user", "q"), Message("user", provider_data={"x": object()})])
    assert (await store.find("s")).messages == 0
    assert await store.messages("s") == ()


async def test_an_id_is_given_once(store, session):
    await store.create(session("s", title="first"))
    with pytest.raises(StoreError, match="`s` already exists"):
        await store.create(session("s", title="second"))
    assert (await store.find("s")).title == "first"


async def test_latest_is_the_last_used_of_the_folder(store, session):
    assert await store.latest() is None
    await store.create(session("old", cwd="/a"))
    await store.create(session("new", cwd="/a"))
    await store.create(session("elsewhere", cwd="/b"))
    assert (await store.latest()).id == "elsewhere"
    assert (await store.latest("/a")).id == "new"
    await store.append("old", [Message("user", "again")])
    assert (await store.latest("/a")).id == (await store.latest()).id == "old"
    assert await store.latest("/c") is None


async def test_list_is_newest_first_and_counts_messages(store, session):
    for id in ("a", "b", "c"):
        await store.create(session(id))
    await store.append("a", [Message("user", "q")] * 3)
    assert [(found.id, found.messages) for found in await store.list(2)] == [("a", 3), ("c", 0)]


async def test_find_takes_an_id_a_title_or_the_beginning_of_an_id(store, session):
    await store.create(session("20261115-1-aaa", title="HTTP/3"))
    await store.create(session("20261115-2-bbb", title="100% _like_"))
    await store.create(session("20261116-1", title="20261115-1-aaa"))
    assert (await store.find("20261115-1-aaa")).title == "HTTP/3"
    assert (await store.find("http/3")).id == "20261115-1-aaa"
    assert (await store.find("20261115-2")).title == "100% _like_"
    with pytest.raises(UsageError, match="stands for 2 sessions") as ambiguous:
        await store.find("20261115")
    assert "`20261115-2-bbb`, `20261115-1-aaa`" in ambiguous.value.hint


@pytest.mark.parametrize("reference", ["", "%", "*", "2026111_", "' OR 1=1 --", "\0", "\udcff"])
async def test_find_never_takes_a_reference_for_a_pattern(store, session, reference):
    await store.create(session("20261115-1", title="t"))
    with pytest.raises(UnknownName):
        await store.find(reference)


async def test_an_unknown_session_offers_near_ones(store, session):
    await store.create(session("20261115-142530-a1b2c3", title="\x1b[2Jevil"))
    with pytest.raises(UnknownName, match="unknown session `20261115-142530-a1b2c4`") as unknown:
        await store.find("20261115-142530-a1b2c4")
    assert unknown.value.hint == "did you mean `20261115-142530-a1b2c3`"
    for call in (store.messages("nope"), store.delete("nope")):
        with pytest.raises(UnknownName):
            await call


async def test_one_store_may_be_shared_by_threads(store, session):
    await store.create(session("s"))

    async def write(writer):
        for number in range(20):
            await store.append("s", [Message("user", f"{writer}:{number}")])

    threads = [
        threading.Thread(target=lambda writer: asyncio.run(write(writer)), args=(writer,))
        for writer in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [message.content for message in await store.messages("s")]
    assert sorted(said) == sorted(f"{writer}:{number}" for writer in range(8) for number in range(20))


async def test_a_closed_store_stays_closed_and_makes_no_file(store, path):
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.list(1)
    os.remove(path)
    with pytest.raises(StoreError, match="closed"):
        await store.list(1)
    assert not os.path.exists(path)


def test_session_ids_sort_by_time():
    assert new_session_id(1_794_752_730.9, b"\xa1\xb2\xc3\xd4") == "20261115-142530-a1b2c3"
    assert new_session_id(1_794_752_730, b"\xff" * 3) < new_session_id(1_794_752_731, b"\x00" * 3)


def _said(*texts):
    return [
        Message(role="assistant" if number % 2 else "user", content=text) for number, text in enumerate(texts)
    ]


async def test_what_is_taken_back_is_gone_also_from_the_search(store, session):
    await store.create(session("s"))
    await store.append("s", _said("first quic?", "yes", "second tls?", "no"), [Happening(1.0, Notice("a"))])
    await store.mark("s", "failed", [Happening(2.0, Notice("b"))])
    assert len(await store.search("tls", 5)) == 1
    await store.cut("s", 2, 4)
    assert [message.content for message in await store.messages("s")] == ["first quic?", "yes"]
    assert [happened.event for happened in await store.events("s")] == [Notice("a")]
    assert await store.search("tls", 5) == []
    assert len(await store.search("quic", 5)) == 1
    found = await store.find("s")
    assert (found.messages, found.status) == (2, "done")
    await store.append("s", _said("third tls?"))
    assert [hit.seq for hit in await store.search("tls", 5)] == [3]


async def test_a_session_of_which_all_is_taken_back_can_be_begun_again(store, session):
    await store.create(session("s"))
    await store.append("s", _said("first?", "yes"))
    await store.cut("s", 0, 2)
    with pytest.raises(UnknownName):
        await store.find("s")
    await store.create(session("s"))
    await store.append("s", _said("again?"))
    assert (await store.find("s")).messages == 1


async def test_what_another_wrote_meanwhile_is_not_taken_back(store, session):
    await store.create(session("s"))
    await store.append("s", _said("first?", "yes", "theirs?"))
    with pytest.raises(StoreError, match="another program wrote") as caught:
        await store.cut("s", 0, 2)
    assert caught.value.hint
    with pytest.raises(StoreUnavailable):
        await store.cut("gone", 0, 2)
    assert len(await store.messages("s")) == 3
