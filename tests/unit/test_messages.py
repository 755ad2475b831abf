"""What is said: calls that parse or say why not, ids that stay, values that survive storage."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.messages import (
    BadArguments,
    Message,
    NormalizedResponse,
    ToolCall,
    Usage,
    build_tool_call,
    with_ids,
)


@pytest.mark.parametrize(
    ("given_arguments", "text"),
    [({"a": 1}, '{"a":1}'), ('{"a": 1', '{"a": 1'), (7, "7"), ([1], "[1]"), (None, "None")],
)
def test_a_call_keeps_its_arguments_as_text(given_arguments, text):
    call = build_tool_call(None, "f", given_arguments)
    assert (call.arguments, call.provider_data, call.id) == (text, None, None)


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ("[1]", BadArguments("not_an_object", "[1]")),
        ('{"a": 1', BadArguments("not_json", '{"a": 1')),
        ("{'a': 1, 'b': None}", {"a": 1, "b": None}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ("{a: 1}", BadArguments("not_json", "{a: 1}")),
        ("(" * 9000, BadArguments("not_json", "(" * 9000)),
    ],
)
def test_arguments_parse_or_say_why_not(arguments, parsed):
    assert ToolCall(id="c", name="f", arguments=arguments).parse() == parsed


def test_a_truncated_call_never_parses_however_whole_it_looks():
    call = ToolCall(id="c", name="f", arguments='{"path": "a"}', truncated=True)
    assert call.parse() == BadArguments("truncated", '{"path": "a"}')


def test_missing_and_repeated_ids_are_made_from_the_call_and_its_place():
    calls = [ToolCall(id=id, name="f", arguments="{}") for id in (None, None, "x", "x", "")]
    named = with_ids(calls)
    assert named == with_ids(calls)
    assert len({call.id for call in named}) == 5
    assert named[2].id == "x"
    assert named[0].id.startswith("call_")
    assert len(named[0].id) == len("call_") + 12


def test_usages_add_up():
    assert Usage(1, 2, 3, 4, 5, 6) + Usage(1, 1, 2, 1, 1, 1) == Usage(2, 3, 5, 5, 6, 7)


def test_opaque_data_is_kept_and_not_printed():
    call = ToolCall(id="c", name="f", arguments="{}", provider_data={"signature": "zzz"})
    response = NormalizedResponse("t", [call], "tool_calls", provider_data={"blob": "zzz"})
    assert "zzz" not in repr(response)
    assert NormalizedResponse.__struct_fields__[:3] == ("content", "tool_calls", "finish_reason")


texts = st.none() | st.text(max_size=20)


@given(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        content=texts,
        tool_calls=st.lists(
            st.builds(ToolCall, id=texts, name=st.text(), arguments=st.text()), max_size=2
        ).map(tuple),
        reasoning=texts,
        provider_data=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
    )
)
def test_a_message_survives_storage(message):
    assert msgspec.json.decode(msgspec.json.encode(message), type=Message) == message
