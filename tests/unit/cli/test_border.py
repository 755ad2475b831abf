"""What leaves the process as text."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.cli._border import Border, inert, visible
from hermes.cli._json import print_json
from hermes.cli._letters import PLAINLY
from hermes.cli._width import folded


@given(text=st.text())
def test_text_for_a_program_commands_no_terminal_and_keeps_all_else(text):
    shown = inert(text)
    assert not any((ord(mark) < 32 and mark not in "\n\t\r\f") or 127 <= ord(mark) < 160 for mark in shown)
    assert "\r" not in shown.replace("\r\n", "")
    assert inert(shown) == shown


@pytest.mark.parametrize(
    ("text", "piped", "seen"),
    [
        ("a\tb\n", "a\tb\n", "a\tb\n"),
        ("one\r\ntwo", "one\r\ntwo", "one\ntwo"),
        ("over\rwritten", r"over\u000dwritten", r"over\u000dwritten"),
        ("\x1b]52;c;eA==\x07", r"\u001b]52;c;eA==\u0007", r"\u001b]52;c;eA==\u0007"),
        ("\x9b2J", r"\u009b2J", r"\u009b2J"),
        ("page\fpage", "page\fpage", r"page\u000cpage"),
        ("\u202egnp", "\u202egnp", r"\u202egnp"),
        ("שלום\u200f", "שלום\u200f", r"שלום\u200f"),
    ],
)
def test_a_pipe_gets_what_a_file_may_hold_and_a_terminal_less(text, piped, seen):
    assert (inert(text), visible(text)) == (piped, seen)


@given(value=st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-1", "utf-8"])
def test_json_is_the_same_in_every_locale(encoding, value):
    raw = io.BytesIO()
    before, sys.stdout = sys.stdout, io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    try:
        print_json(Border(), json.dumps(value, ensure_ascii=False))
    finally:
        sys.stdout.flush()
        sys.stdout, stream = before, sys.stdout
    assert json.loads(raw.getvalue().decode(encoding)) == value
    stream.close()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short enough", ["short enough"]),
        ("a remark that is broken between words", ["a remark that is", "broken between words"]),
        ("run `hermes config set x` now", ["run", "`hermes config set x`", "now"]),
        ("see https://example.org/a/long/page there", ["see", "https://example.org/a/long/page", "there"]),
        ("error: it is wrong\nhint: mend it", ["error: it is wrong", "hint: mend it"]),
        ("  set in, and too  wide by far", ["  set in, and too", "wide by far"]),
        ("an odd ` is no harm to anybody", ["an odd ` is no harm", "to anybody"]),
    ],
)
def test_a_remark_is_broken_between_words_and_what_is_copied_stays_whole(text, lines):
    assert folded(text, 20).split("\n") == lines


def test_marks_stay_apart_where_the_locale_cannot_write_them():
    written = "✓ ✗ · é …".encode("ascii", errors=PLAINLY)
    assert written == b"+ x - ? ..."
