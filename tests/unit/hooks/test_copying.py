import enum
import threading

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hermes.hooks.copying import changed_paths, copied

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


def containers(value):
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from containers(item)


@given(VALUES)
def test_a_copy_is_equal_and_shares_no_container(value):
    made = copied([value])
    assert repr(made) == repr([value])
    assert not {id(one) for one in containers([value])} & {id(one) for one in containers(made)}


class Colour(enum.Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int


def test_what_is_no_plain_container_is_shared():
    values = [threading.Lock(), {1, 2}, Colour.RED, Point(1), bytearray(b"x"), object()]
    made = copied({"values": values})["values"]
    assert made is not values
    assert all(one is other for one, other in zip(made, values, strict=True))


def test_a_payload_that_holds_itself_is_copied_once():
    payload = {"a": 1}
    payload["self"] = payload
    made = copied(payload)
    assert made is not payload
    assert made["self"] is made


def test_a_payload_deeper_than_the_stack_is_shared():
    payload = deepest = {}
    for _ in range(100_000):
        deepest["x"] = {}
        deepest = deepest["x"]
    assert copied(payload) is payload
    while payload:  # taken apart by hand, because freeing it at once would go as deep
        payload = payload.pop("x")


def test_paths_say_where_and_not_what():
    before = {"a": 1, "b": [{"c": 1}, 2], "gone": 1, "x/y": 1}
    after = {"a": 1, "b": [{"c": 2}, 2], "new": 1, "x/y": 2}
    assert sorted(changed_paths(before, after)) == ["/b/0/c", "/gone", "/new", "/x~1y"]
    assert changed_paths({"a": [1]}, {"a": [1, 2]}) == ["/a"]
    assert changed_paths(before, before) == []
