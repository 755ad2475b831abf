"""Secrets never print, and their values leave any text in every encoding they travel in."""

import base64
import json
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config import Config, Environment, ModelSettings, Redactor, Secret

KEY = "sk/live+48 ü?=x"


@pytest.mark.parametrize(
    "shown",
    [
        repr(Secret(KEY)),
        str(Secret(KEY)),
        f"{Secret(KEY)}",
        f"{Secret(KEY)!r:>8}",
        "%s" % Secret(KEY),  # noqa: UP031
        json.loads(json.dumps(Secret(KEY), default=str)),
        msgspec.json.decode(msgspec.json.encode(Secret(KEY), enc_hook=str)),
    ],
)
def test_a_secret_shows_as_stars(shown):
    assert shown == "********"


def test_json_without_a_hook_refuses_rather_than_leaks():
    for encode in (json.dumps, msgspec.json.encode):
        with pytest.raises(TypeError) as caught:
            encode({"key": Secret(KEY)})
        assert KEY not in str(caught.value)


def test_secrets_compare_by_value_and_are_true_when_not_empty():
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a")
    assert not Secret("")
    assert Secret(KEY).reveal() == KEY


def test_a_config_prints_no_secret_and_no_variable():
    environment = Environment({"EXA_API_KEY": "hidden-one"}, {"XAI_API_KEY": "hidden-two"})
    config = Config(home="/x", model=ModelSettings(api_key=Secret("hidden-three")), environment=environment)
    assert "hidden" not in f"{config} {config!r} {environment} {config.redactor()!r}"


def test_the_config_redacts_every_secret_it_knows():
    environment = Environment(
        {"EXA_API_KEY": " value-one ", "GH_TOKEN": "value-two", "PLAIN": "harmless", "EMPTY_KEY": ""},
        {"EXA_API_KEY": "shadowed", "db_password": "value-three", "A_SECRET": "value-four"},
    )
    redact = Config(
        home="/x", model=ModelSettings(api_key=Secret("value-five")), environment=environment
    ).redactor()
    for value in ("value-one", "shadowed", "value-two", "value-three", "value-four", "value-five"):
        assert redact(f"<{value}>") == "<[redacted]>"
    assert redact("harmless") == "harmless"


ENCODINGS = {
    "plain": lambda value: value,
    "quote": quote,
    "quote all": lambda value: quote(value, safe=""),
    "quote_plus": quote_plus,
    "quote lower case": lambda value: quote("é" + value, safe="").lower().removeprefix("%c3%a9"),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 unpadded": lambda value: base64.b64encode(value.encode()).decode().rstrip("="),
    "urlsafe": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "urlsafe unpadded": lambda value: base64.urlsafe_b64encode(value.encode()).decode().rstrip("="),
    "json": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
}


@pytest.mark.parametrize("name", ENCODINGS)
@given(value=st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=8, max_size=30))
def test_every_encoding_of_a_value_is_redacted_whole(name, value):
    if name == "quote lower case":
        value = value.lower()
    redact = Redactor([Secret(value)])
    assert redact(f"<<{ENCODINGS[name](value)}>>").replace("[redacted]", "", 1) in ("<<>>", "<<[redacted]>>")


@given(
    value=st.binary(min_size=6, max_size=20).map(lambda data: data.hex()[:20]),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_a_value_inside_a_longer_base64_text_is_redacted(value, before, after):
    encoded = base64.b64encode(before + value.encode() + after).decode()
    left = Redactor([Secret(value)])(encoded)
    assert "[redacted]" in left
    kept = len(left) - len("[redacted]")
    assert kept <= len(encoded) - (len(value) * 8 // 6 - 2)


def test_overlapping_and_nested_values_leave_no_remainder():
    redact = Redactor([Secret("abcdefgh"), Secret("efghijkl"), Secret("abcdefghijklmn")])
    assert redact("-abcdefghijkl-") == "-[redacted]-"
    assert redact("-abcdefghijklmn-") == "-[redacted]-"
    assert redact("abcdefghabcdefgh") == "[redacted][redacted]"
    assert Redactor([Secret("a" * 8)])("a" * 20) == "[redacted]"


def test_short_values_are_ordinary_words_and_stay():
    redact = Redactor([Secret("ollama"), Secret("lm-stud"), Secret("")])
    assert redact("ollama and lm-stud need no key") == "ollama and lm-stud need no key"
    assert Redactor([Secret("12345678")])("<12345678>") == "<[redacted]>"
