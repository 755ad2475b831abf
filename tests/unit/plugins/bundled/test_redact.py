"""Private things are replaced, the same in a whole text and in any pieces of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.plugins.redact.bodies import cleaned
from hermes.plugins.redact.scrubber import PATTERNS, Scrubber, pattern_of, scrubbed

ALL = tuple(PATTERNS)
KEY = "sk-" + "a1B2" * 6
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIE owIB\nAAKC\n-----END RSA PRIVATE KEY-----"


def clean(text, sorts=ALL):
    return scrubbed(text, pattern_of(sorts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to jo.doe+x@mail.example.org, please", "write to [email], please"),
        ("jo@example.org.", "[email]."),
        ("漢字jo@example.org漢字", "漢字[email]漢字"),
        (f"key={KEY}; go", "key=[key]; go"),
        ("AKIAABCDEFGHIJKLMNOP", "[key]"),
        (f"a {BLOCK} b", "a [key] b"),
        ("call +49 151 2345 6789 now", "call [number] now"),
        ("4111-1111-1111-1111", "[number]"),
        ("on 2026-11-15 09:30 it was 3.14159265358", "on 2026-11-15 09:30 it was 3.14159265358"),
        ("the year 2026 and 12 months", "the year 2026 and 12 months"),
        (r'{"a": "x\njo@example.org"}', r'{"a": "x\n[email]"}'),
        (r'{"a": "\u00e9jo@example.org"}', r'{"a": "\u00e9[email]"}'),
        ("no one@home, sk-short", "no one@home, sk-short"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", "-----BEGIN CERTIFICATE-----\nAAAA\n"),
    ],
)
def test_what_is_private_is_replaced_and_nothing_else(text, expected):
    assert clean(text) == expected
    assert clean(clean(text)) == expected


def test_only_the_chosen_sorts_are_replaced():
    text = f"jo@example.org {KEY} 4111-1111-1111-1111"
    assert clean(text, ("emails",)) == f"[email] {KEY} 4111-1111-1111-1111"
    assert clean(text, ()) == text


SNIPPETS = st.sampled_from(
    ["jo@example.org", KEY, BLOCK, "4111 1111 1111 1111", " ", "\n", "-", "word", "漢", "\\n", ".", "12 ",
     "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "+49 ", "é", '"', "PRIVATE ",
     "@"]
)  # fmt: skip


@given(st.lists(SNIPPETS, max_size=12), st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_pieces_come_out_as_the_whole_does(snippets, lengths):
    text = "".join(snippets)
    scrubber, told, at, turn = Scrubber(ALL), "", 0, 0
    while at < len(text):
        size = lengths[turn % len(lengths)]
        told += scrubber.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    assert told + scrubber.end() == clean(text)


def test_plain_words_are_told_as_soon_as_they_end():
    scrubber = Scrubber(ALL)
    assert scrubber.feed("hello wor") == "hello "
    assert scrubber.feed("ld, you") == "world, "
    assert scrubber.feed("漢字漢字") == "you漢字漢字"
    assert scrubber.end() == ""


JO = "jo@example.org"


@pytest.mark.parametrize(
    "said",
    [
        {"messages": [{"role": "user", "content": JO}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": JO}]}]},
        {"input": [{"type": "function_call_output", "call_id": "c", "output": JO}]},
        {"instructions": JO, "input": []},
        {"system": [{"text": JO}], "messages": []},
        {"messages": [{"content": [{"toolResult": {"content": [{"json": {"a": [JO]}}]}}]}]},
    ],
)
def test_what_is_said_is_cleaned_on_every_wire_and_other_fields_stay(said):
    made = cleaned({"model": JO, **said}, clean)
    assert made["model"] == JO
    assert str(made).count("[email]") == 1
    assert str(made).count(JO) == 1


def test_signed_and_opaque_words_stay_as_they_are():
    block = {"type": "thinking", "thinking": "jo@example.org", "signature": "x"}
    picture = {"type": "image", "source": {"type": "base64", "data": "jo@example.org"}}
    body = {"messages": [{"role": "assistant", "content": [block, picture]}]}
    assert cleaned(body, clean) == body
