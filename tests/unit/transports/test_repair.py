"""Any history, however broken, becomes one that a strict vendor accepts, and is itself left alone."""

import copy

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Provider, Request
from hermes.transports.base.cache import LOOKBACK, marked_messages
from hermes.transports.base.repair import NO_RESULT, Repairer, repair, told
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import refusal

USER = Message(role="user", content="q")


def calling(*ids):
    return Message(
        role="assistant", tool_calls=tuple(ToolCall(id=id, name="f", arguments="{}") for id in ids)
    )


def result(id, content="r"):
    return Message(role="tool", tool_call_id=id, content=content)


def test_a_sound_history_is_passed_on_as_it_is():
    history = (USER, calling("a", "b"), result("a"), result("b"), Message(role="assistant", content="x"))
    assert all(one is other for one, other in zip(history, repair(history), strict=True))


def test_a_result_moves_next_to_its_call():
    wait = Message(role="user", content="wait")
    assert repair((USER, calling("a"), wait, result("a"))) == (USER, calling("a"), result("a"), wait)


def test_missing_results_are_filled_in_and_orphans_dropped():
    [_, _, filled] = repair((USER, calling("a"), result("zzz")))
    assert (filled.tool_call_id, filled.content, filled.is_error) == ("a", NO_RESULT, True)


def test_the_first_of_two_results_counts_and_an_id_may_return_in_a_later_turn():
    first, second, later = result("a", "1"), result("a", "2"), result("a", "3")
    assert repair((USER, calling("a"), first, second))[-1] is first
    again = repair((USER, calling("a"), first, USER, calling("a"), later))
    assert [message.content for message in again if message.role == "tool"] == ["1", "3"]


def test_repeated_and_missing_ids_and_names_are_mended():
    broken = Message(
        role="assistant",
        tool_calls=(
            ToolCall(id="a", name="f", arguments="1"),
            ToolCall(id="a", name="f", arguments="2"),
            ToolCall(id=None, name="", arguments="{}"),
        ),
    )
    [_, mended, *answers] = repair((USER, broken, result("a")))
    assert [(call.name, call.arguments) for call in mended.tool_calls] == [
        ("f", "1"),
        ("invalid_tool_call", "{}"),
    ]
    assert [answer.tool_call_id for answer in answers] == [call.id for call in mended.tool_calls]


def test_neighbours_of_one_role_are_joined_and_empty_turns_dropped():
    history = (USER, Message(role="user", content="more"), Message(role="assistant", content="  "), USER)
    assert [message.content for message in repair(history)] == ["q\n\nmore\n\nq"]


ids = st.sampled_from(["a", "b", "c", "", None])
messages = st.lists(
    st.one_of(
        st.builds(Message, role=st.just("user"), content=st.none() | st.text(max_size=4)),
        st.builds(
            Message,
            role=st.just("assistant"),
            content=st.none() | st.text(max_size=4),
            tool_calls=st.lists(
                st.builds(ToolCall, id=ids, name=st.sampled_from(["f", ""]), arguments=st.just("{}")),
                max_size=3,
            ).map(tuple),
        ),
        st.builds(Message, role=st.just("tool"), tool_call_id=ids, content=st.text(max_size=4)),
    ),
    max_size=12,
)


@given(messages)
def test_any_history_becomes_acceptable_and_stays_unchanged(history):
    before = copy.deepcopy(history)
    provider = Provider(name="p", title="P", api_mode="chat_completions")
    request = Request(model="m", messages=(*history, USER), stream=False)
    body = Transport().build_kwargs(request, provider)
    assert refusal("/v1/chat/completions", body) is None
    assert history == before
    assert repair(repair(history)) == repair(history)


@given(messages, st.integers(0, 12), st.integers(0, 12))
def test_a_growing_history_is_repaired_as_if_seen_whole(history, first, second):
    repairer = Repairer()
    for size in (*sorted((first, second)), len(history)):
        grown = tuple(history[:size])
        before = list(repairer.repaired)
        kept = repairer.take(grown)
        assert repairer.repaired == list(repair(grown))
        assert repairer.repaired[:kept] == before[:kept]
    other = (USER, *history)
    repairer.take(other)
    assert repairer.repaired == list(repair(other))


def test_a_model_that_sees_nothing_is_told_of_the_picture():
    shown = Message(role="user", content="look", images=(Image(media_type="image/png", data="AAAA"),))
    heard = told(shown)
    assert (heard.content, heard.images) == ("look\n[a picture that you cannot see: image/png]", ())
    assert told(heard) is heard


def test_cache_marks_stand_at_the_end_and_where_the_last_call_ended():
    system = Message(role="system", content="s")
    said = Message(role="assistant", content="a")
    assert marked_messages(()) == ()
    assert marked_messages((system, USER)) == (1,)
    assert marked_messages((system, USER, said, USER)) == (1, 3)
    long = (system, USER, calling(*map(str, range(30))), *(result(str(n)) for n in range(30)))
    first, last = marked_messages(long)
    assert (last, last - first) == (len(long) - 1, LOOKBACK)


def test_a_picture_stays_with_the_words_it_came_with():
    picture = Image(media_type="image/png", data="aGk=")
    before, after = (Message(role="user", content=text, images=(picture,)) for text in ("before", "after"))
    assert repair([before, after]) == (before, after)


def test_joined_turns_keep_what_their_issuer_sealed_in_each():
    one, other = (
        Message(role="assistant", content=text, provider_data={"sealed": [text], "id": text}, issuer="me")
        for text in ("a", "b")
    )
    [joined] = repair([one, other])
    assert (joined.content, joined.provider_data) == ("a\nb", {"sealed": ["a", "b"], "id": "b"})
    [mixed] = repair([one, msgspec.structs.replace(other, issuer="you")])
    assert (mixed.provider_data, mixed.issuer) == (other.provider_data, "you")
    [kept] = repair([one, Message(role="assistant", content="c")])
    assert (kept.provider_data, kept.issuer) == (one.provider_data, "me")
