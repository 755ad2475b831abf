"""What was folded and encoded before is used again, and never when it is not the same."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.messages import Message
from hermes.transports.base.growing import Growing, GrowingJson, folded


class Words:
    """A fold that keeps what was said, and counts."""

    def __init__(self):
        self.said = []

    def add(self, message):
        if message.content == "unsayable":
            raise ValueError(message.content)
        self.said.append(message.content)


def user(text):
    return Message(role="user", content=text)


def answer(text):
    return Message(role="assistant", content=text)


HISTORY = (user("a"), answer("b"), user("c"), answer("d"))


def test_a_history_that_goes_on_is_folded_on():
    growing = Growing()
    first = growing(HISTORY[:2], "key", Words)
    assert growing(HISTORY, "key", Words) is first
    assert first.said == ["a", "b", "c", "d"]
    assert list(growing.messages) == list(HISTORY)


@pytest.mark.parametrize(
    ("messages", "key"),
    [
        (HISTORY, "another"),
        (HISTORY[:1], "key"),
        ((user("x"), *HISTORY[1:]), "key"),
        ((*HISTORY[:3], answer("e")), "key"),
        ((*HISTORY, answer("joined to the last")), "key"),
        ((), "key"),
    ],
)
def test_any_other_history_or_key_starts_anew(messages, key):
    growing = Growing()
    first = growing(HISTORY, "key", Words)
    other = growing(messages, key, Words)
    assert other is not first
    assert other.said == folded(Words(), growing.messages).said
    assert first.said == ["a", "b", "c", "d"]


def test_a_fold_that_failed_half_way_is_not_used_again():
    growing = Growing()
    growing(HISTORY, "key", Words)
    broken = (*HISTORY, user("e"), answer("unsayable"))
    for _ in range(2):
        with pytest.raises(ValueError, match="unsayable"):
            growing(broken, "key", Words)
    assert growing((*HISTORY, user("e")), "key", Words).said == ["a", "b", "c", "d", "e"]


def read(body):
    return msgspec.json.decode(body)


def test_an_object_ends_in_its_list_with_other_fields_or_without():
    encode = GrowingJson()
    assert encode({"a": 1}, "items", [1, 2]) == b'{"a":1,"items":[1,2]}'
    assert encode({}, "items", []) == b'{"items":[]}'
    assert encode({}, "items", (1, 2)) == encode({}, "items", (1, 2)) == b'{"items":[1,2]}'


def test_an_item_that_was_encoded_is_not_looked_at_again():
    encode, items = GrowingJson(), [{"at": at} for at in range(100)]
    before = encode({}, "items", items)
    items[3]["at"] = "seen again"
    later = encode({}, "items", [*items, {"at": 100}])
    assert later.startswith(before.removesuffix(b"]}"))


def test_a_mark_that_moves_on_costs_only_the_items_after_it():
    encode, items = GrowingJson(), [{"at": at} for at in range(100)]
    encode({}, "items", [*items[:90], {"at": 90, "mark": 1}, *items[91:]])
    items[3]["at"] = "seen again"
    later = read(encode({}, "items", [*items, {"at": 100}]))["items"]
    assert (later[3], later[90]) == ({"at": 3}, {"at": 90})


def test_what_is_equal_and_not_the_same_is_encoded_again():
    encode = GrowingJson()
    encode({}, "items", [{"a": 1}, {"b": 1}])
    assert encode({}, "items", [{"a": True}, {"b": 1.0}]) == b'{"items":[{"a":true},{"b":1.0}]}'


def test_an_item_that_cannot_be_encoded_spoils_nothing():
    encode, items = GrowingJson(), [{"a": 1}, {"b": 2}]
    encode({}, "items", items)
    with pytest.raises(TypeError):
        encode({}, "items", [items[0], {"c": 3}, object()])
    assert read(encode({}, "items", items))["items"] == items


pools = st.lists(st.fixed_dictionaries({"n": st.integers(0, 2)}), min_size=1, max_size=6)


@given(pool=pools, data=st.data())
def test_any_lists_one_after_another_are_encoded_as_they_are(pool, data):
    encode = GrowingJson()
    for places in data.draw(st.lists(st.lists(st.integers(0, len(pool) - 1), max_size=60), max_size=5)):
        items = [pool[place] for place in places]
        assert read(encode({"x": 1}, "items", items)) == {"x": 1, "items": items}


@given(data=st.data(), size=st.integers(45, 120))
def test_a_long_list_that_changes_anywhere_is_encoded_as_it_is(data, size):
    encode, items = GrowingJson(), [{"n": at} for at in range(size)]
    for _ in range(4):
        at = data.draw(st.integers(0, len(items) - 1))
        items = [*items[:at], {"n": -at}, *items[at + 1 :], {"n": len(items)}]
        assert read(encode({}, "items", items))["items"] == items
