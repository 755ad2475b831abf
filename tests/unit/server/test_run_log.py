"""What readers of a run are told: in order, from where they left off, and never more than is kept."""

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import AuthFailed
from hermes.events import Answer, Done, Failed, Notice, Reasoning, Text, ToolFinished, ToolProgress
from hermes.messages import Message, Usage
from hermes.server.holding import Holding
from hermes.server.run_log import LONGEST_RESULT, RunLog

ANSWER = Answer("s", "Yes.", (), (Message("user", "all that was said"),), Usage(), "stop", "p", "m", "a")


def log(*events, most=100_000, closed=True, redact=None):
    made = RunLog(lambda: 7.0, Holding(redact), most)
    for event in events:
        made.add(event)
    if closed:
        made.close()
    return made


async def read(kept, place=""):
    return [(told.place, json.loads(told.data)) async for told in kept.follow(place)]


async def test_words_of_a_kind_are_told_as_one_event():
    told = await read(log(Text("one "), Text("two "), Reasoning("hm"), Text("three")))
    assert [(event["type"], event["delta"]) for _, event in told] == [
        ("text", "one two "),
        ("reasoning", "hm"),
        ("text", "three"),
    ]


async def test_an_event_says_when_it_happened_and_is_else_what_json_lines_print():
    ((_, event),) = await read(log(Notice("look", hint="there")))
    assert event == {"at": 7.0, "type": "notice", "message": "look", "hint": "there"}


async def test_the_output_of_two_tools_is_kept_apart():
    told = await read(
        log(ToolProgress("1", "t", "a "), ToolProgress("2", "t", "b "), ToolProgress("2", "t", "c "))
    )
    assert [(event["id"], event["text"]) for _, event in told] == [("1", "a "), ("2", "b c ")]


@given(st.lists(st.sampled_from([Text("word "), Text("one two "), Reasoning("so "), Notice("n")])), st.data())
async def test_who_comes_back_is_told_exactly_what_is_missing(events, data):
    kept = log(closed=False)
    seen = []
    reader = kept.follow(patience=0.001)
    for event in events:
        kept.add(event)
        if data.draw(st.booleans()):
            told = await anext(reader)
            if told.data:
                seen.append((told.place, json.loads(told.data)))
    await reader.aclose()
    kept.close()
    seen += await read(kept, seen[-1][0] if seen else "")
    assert _words(seen) == _words(await read(kept))


def _words(told):
    texts = "".join(event.get("delta", "") for _, event in told if event["type"] == "text")
    return texts, [event["message"] for _, event in told if event["type"] == "notice"]


async def test_a_reader_that_waits_is_told_at_once_and_ends_with_the_run():
    kept = log(closed=False)
    reading = asyncio.ensure_future(read(kept))
    await asyncio.sleep(0)
    kept.add(Notice("first"))
    await asyncio.sleep(0)
    kept.add(Notice("second"))
    kept.close()
    assert [event["message"] for _, event in await reading] == ["first", "second"]


async def test_a_slow_reader_costs_nothing_and_misses_nothing():
    kept = log(closed=False)
    reader = kept.follow()
    kept.add(Text("begin "))
    assert json.loads((await anext(reader)).data)["delta"] == "begin "
    for number in range(1000):
        kept.add(Text(f"{number} "))
    kept.close()
    rest = [json.loads(told.data)["delta"] async for told in reader]
    assert rest == ["".join(f"{number} " for number in range(1000))]


async def test_where_nothing_happens_there_is_a_sign_of_life():
    reader = log(closed=False).follow(patience=0.01)
    assert (await anext(reader)).data == b""
    await reader.aclose()


async def test_no_more_is_kept_than_allowed_and_who_needs_more_is_told_of_the_gap():
    kept = log(*(Notice(f"{number} {'x' * 100}") for number in range(200)), most=5_000)
    assert kept.size <= 5_000
    told = await read(kept)
    assert told[0][1] == {"type": "gap"}
    assert told[-1][1]["message"].startswith("199 ")
    assert told[1:] == await read(kept, told[0][0])


async def test_one_endless_answer_is_bounded_too():
    kept = log(*(Text(f"{number} ") for number in range(5_000)), most=5_000)
    assert kept.size <= 5_000
    told = await read(kept)
    assert told[-1][1]["delta"].endswith("4998 4999 ")
    assert "\n" not in told[-1][0]


async def test_a_place_that_is_none_is_the_beginning():
    kept = log(Notice("a"), Notice("b"))
    for place in ("", "x", "1", "-1.0", "1.2.3", "9" * 50 + ".1", "²3.1"):
        assert len(await read(kept, place)) == 2
    assert await read(kept, "99.1") == []


async def test_a_key_is_not_told_even_when_it_comes_in_pieces():
    kept = log(
        Text("the key sk-se"),
        Text("cret-1 is"),
        Text(" it"),
        redact=lambda text: text.replace("sk-secret-1", "***"),
    )
    told = await read(kept)
    assert "".join(event["delta"] for _, event in told) == "the key *** is it"


async def test_words_without_blanks_do_not_wait_for_one():
    kept = log(closed=False, redact=str)
    kept.add(Text("答えはここにあります"))
    reader = kept.follow()
    assert json.loads((await anext(reader)).data)["delta"] == "答えはここにあります"
    await reader.aclose()


async def test_a_long_result_is_cut_and_its_length_told():
    ((_, event),) = await read(log(ToolFinished("1", "t", "x" * 50_000, False, 0.1, "local")))
    assert (len(event["result"]), event["characters"], event["served_by"]) == (
        LONGEST_RESULT,
        50_000,
        "local",
    )


async def test_an_ending_is_told_without_the_whole_conversation():
    told = await read(log(Done(ANSWER), Failed(AuthFailed("no", hint="yes"), ANSWER)))
    assert [event.get("answer", event.get("partial"))["messages"] for _, event in told] == [[], []]
    assert told[1][1]["error"] == {"type": "AuthFailed", "message": "no", "hint": "yes"}
