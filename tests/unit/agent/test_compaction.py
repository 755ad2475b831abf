"""What of a long conversation can go, and where it can be cut."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.agent import compaction
from hermes.agent.prompt import LIMIT_REACHED
from hermes.messages import Image, Message, ToolCall


def user(text="q" * 40):
    return Message(role="user", content=text)


def answer(text="a" * 40):
    return Message(role="assistant", content=text)


def loop(*ids, size=40):
    calls = tuple(ToolCall(id, "look", "{}") for id in ids)
    results = [Message(role="tool", tool_call_id=id, content="r" * size) for id in ids]
    return [Message(role="assistant", tool_calls=calls), *results]


def test_an_estimate_counts_characters_and_pictures():
    assert compaction.estimate([user("x" * 400)]) == 104
    assert compaction.estimate([Message(role="user", images=(Image(url="http://x"),))]) == 1_604


def test_smaller_windows_are_used_further():
    assert compaction.threshold(100_000, None) == 75_000
    assert compaction.threshold(1_000_000, None) == 500_000
    assert compaction.threshold(100_000, 20_000) == 60_000
    assert compaction.threshold(8_000, 7_900) == 3_000


def test_the_running_question_stays_whole_however_long_it_is():
    talk = [user(), answer(), user(), *loop("a", size=4_000), *loop("b", size=4_000)]
    assert compaction.cut(talk, 10) == 2


def test_what_the_loop_says_is_no_question():
    talk = [user(), answer(), user(), *loop("a", size=4_000), user(LIMIT_REACHED.format("5 model calls"))]
    assert compaction.cut(talk, 10) == 2


def test_as_much_of_the_end_stays_as_fits():
    talk = [user(), answer(), user(), answer(), user()]
    assert [compaction.cut(talk, keep) for keep in (1, 28, 42, 1_000)] == [4, 3, 2, 0]


pieces = st.lists(st.sampled_from(["user", "answer", "one call", "two calls"]), min_size=1, max_size=20)


@given(pieces, st.integers(1, 300))
def test_a_call_is_never_cut_from_its_results(kinds, keep):
    talk: list[Message] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "user":
                talk.append(user())
            case "answer":
                talk.append(answer())
            case "one call":
                talk += loop(f"{number}")
            case _:
                talk += loop(f"{number}a", f"{number}b")
    at = compaction.cut(talk, keep)
    kept = talk[at:]
    called = {call.id for message in kept for call in message.tool_calls}
    assert {message.tool_call_id for message in kept if message.role == "tool"} <= called
    assert at <= max(
        (index for index, message in enumerate(talk) if message.role == "user"), default=len(talk)
    )


def test_old_results_are_left_out_and_the_newest_are_not():
    talk = [user(), *loop("a", size=4_000), *loop("b", size=4_000)]
    shorter = compaction.cleared(talk, 1_100)
    assert "4000 characters" in shorter[2].content
    assert shorter[2].tool_call_id == "a"
    assert [shorter[index] is talk[index] for index in (0, 1, 3, 4)] == [True] * 4


def test_a_result_that_nobody_has_seen_is_not_left_out_however_long():
    talk = [user(), *loop("a", size=4_000), *loop("b", "c", size=40_000)]
    shorter = compaction.cleared(talk, 10)
    assert "4000 characters" in shorter[2].content
    assert shorter[3:] == tuple(talk[3:])


def test_what_is_too_long_by_itself_loses_its_middle():
    talk = [user(), *loop("a", "b", size=40_000), *loop("c")]
    assert compaction.clipped(talk, 1_000) == tuple(talk)
    shorter = compaction.clipped(talk[:-2], 5_000)
    assert shorter[:2] == tuple(talk[:2])
    assert compaction.estimate(shorter) < 5_100
    assert all(message.content.startswith("r" * 4_900) for message in shorter[2:])
    assert all(message.content.endswith("r" * 4_900) for message in shorter[2:])
