"""What a terminal would obey or hide is seen."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.cli._border import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\\u001b[2Jb"),
        ("\x1b]52;c;eA==\x07", "\\u001b]52;c;eA==\\u0007"),
        ("\x9b1m\x90q\x9c", "\\u009b1m\\u0090q\\u009c"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("ze\u200bro\u2060wi\ufeffdth\u00ad", "ze\\u200bro\\u2060wi\\ufeffdth\\u00ad"),
        ("x\u200dy\u200cz", "x\\u200dy\\u200cz"),
        ("a\ufe0f\ufe01", "a\\ufe0f\\ufe01"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("one\r\ntwo\rthree\tfour", "one\ntwo\\u000dthree\tfour"),
        ("lone \udcff surrogate", "lone � surrogate"),
    ],
)
def test_what_would_be_obeyed_or_hidden_is_spelt_out(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧",
        "☁\ufe0f 1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648",
        "क्\u200dष",
        "naïve café 中文",
    ],
)
def test_joiners_stay_where_they_belong(text):
    assert visible(text) == text


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(codec="utf-8")))
def test_nothing_that_a_terminal_obeys_is_left(text):
    shown = visible(text)
    assert visible(shown) == shown
    left = {letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs")}
    assert left <= {"\n", "\t", "\u200c", "\u200d", *filter(_is_harmless, left)}


def _is_harmless(letter):
    """Marks of scripts that are seen, or have no effect on others."""
    return (
        letter in "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
        or ord(letter) > 0x11000
    )
