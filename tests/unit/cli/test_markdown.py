"""Markdown on a terminal: added to and never changed, whole however it was cut, and fitted to the width."""

import re
from pathlib import Path

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.cli._markdown import Page, Style
from hermes.cli._markdown.pieces import LONGEST_SPAN, LONGEST_WORD
from hermes.cli._markdown.style import style_for

DRAWN = Style(attributes=True)
BARE = Style()
SNAPSHOTS = Path(__file__).parent / "screens"
SAMPLE = (SNAPSHOTS / "sample.md").read_text(encoding="utf-8")


def shown(text, width=80, style=BARE, cuts=()):
    page = Page(style, lambda: width)
    parts = [text[start:end] for start, end in zip((0, *cuts), (*cuts, len(text)), strict=True)]
    return "".join([*map(page.feed, parts), page.end()])


def drawn(text, width=80):
    """What a terminal shows, without trailing blanks."""
    screen = pyte.Screen(width, 400)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(shown(text, width, DRAWN))
    return "\n".join(line.rstrip() for line in screen.display).rstrip("\n") + "\n"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_sample_of_everything_looks_as_it_was_approved(width):
    assert drawn(SAMPLE, width) == (SNAPSHOTS / f"{width}.txt").read_text(encoding="utf-8")


words = st.text("ab*_`~[]()<>!|#->1.: \n\\&é中", max_size=12)
lines = st.sampled_from(
    [
        "- ",
        "1. ",
        "> ",
        "# ",
        "```\n",
        "| a | b |\n",
        "|---|---|\n",
        "***\n",
        "    ",
        "**b c** ",
        "\n\n",
        "`x y` ",
    ]
)
markdown = st.lists(st.one_of(words, lines), max_size=14).map("".join)


@settings(max_examples=120, deadline=None)
@given(markdown, st.data())
def test_where_a_text_is_cut_makes_no_difference(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    whole = shown(text, 30, DRAWN)
    assert shown(text, 30, DRAWN, cuts) == whole
    assert shown(text, 30, DRAWN, range(len(text))) == whole


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_what_stands_on_the_screen_never_changes(text):
    screen = pyte.Screen(30, 120)
    screen.set_mode(pyte.modes.LNM)
    stream, page = pyte.Stream(screen), Page(DRAWN, lambda: 30)
    before = ""
    for letter in (*text, None):
        added = page.end() if letter is None else page.feed(letter)
        if not added:
            continue
        stream.feed(added)
        now = "".join(line.rstrip() + "\n" for line in screen.display).rstrip("\n")
        assert now.startswith(before)
        before = now


word = st.text("abcdé中", min_size=1, max_size=7)
span = st.tuples(
    st.lists(word, min_size=1, max_size=4), st.sampled_from(["", "**", "*", "~~", "`", "***"])
).map(lambda made: f"{made[1]}{' '.join(made[0])}{made[1]}")
sentence = st.lists(span, min_size=1, max_size=5).map(" ".join)
block = st.tuples(
    sentence,
    st.sampled_from(["{}", "# {}", "- {}", "> {}", "3. {}", "- > {}", "```\n{}\n```", "| {} |\n|--|"]),
)
blocks = st.lists(block.map(lambda made: made[1].format(made[0])), max_size=4).map("\n\n".join)


@settings(max_examples=60, deadline=None)
@given(blocks, st.integers(20, 60))
def test_what_is_shown_is_the_text_of_the_markdown(text, width):
    shown_words = "".join(re.findall("[abcdé中]+", re.sub(r"\x1b\[[\d;]*m", "", shown(text, width, DRAWN))))
    assert shown_words == "".join(re.findall("[abcdé中]+", text))
    if "`" not in text:
        assert not re.search(r"[*~]", shown(text, width, DRAWN))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1), st.integers(16, 60))
def test_lines_are_no_wider_than_the_terminal(words, width):
    text = " ".join(words)
    for before in ("", "- ", "> ", "> 1. "):
        wrapped = shown(f"{before}{text}", width).splitlines()
        assert all(len(line) <= width for line in wrapped)
        assert " ".join(line.strip(" •│1.") for line in wrapped) == text


SPANS = [
    ("**two words** end", "\x1b[1mtwo\x1b[0m \x1b[1mwords\x1b[0m end"),
    ("a **b *c* d** e", "a \x1b[1mb\x1b[0m \x1b[1;3mc\x1b[0m \x1b[1md\x1b[0m e"),
    ("`a * b` * c", "\x1b[36ma\x1b[0m \x1b[36m*\x1b[0m \x1b[36mb\x1b[0m * c"),
    ("~~gone~~ ~one~", "\x1b[9mgone\x1b[0m ~one~"),
    ("snake_case_word 2 * 3 * 4", "snake_case_word 2 * 3 * 4"),
    ("an *open mark", "an *open mark"),
    ("\\*not\\* [1][2] [x]", "*not* [1][2] [x]"),
    ("[t](https://a.example/b)", "\x1b[4mt\x1b[0m (\x1b[2mhttps://a.example/b\x1b[0m)"),
    ("<https://a.example>", "\x1b[4mhttps://a.example\x1b[0m"),
    ("![pic](https://evil.example/?k=1)", "(picture: pic, evil.example)"),
    ("[r]: https://a.example", "[r]: https://a.example"),
    ("a&amp;b &#x1b;[2J &#8238;x", "a&b �[2J \\u202ex"),
    ("one\\\ntwo", "one\ntwo"),
    ("<b>raw</b>", "<b>raw</b>"),
]


@pytest.mark.parametrize(("text", "painted"), SPANS)
def test_spans_are_shown_when_they_are_whole(text, painted):
    assert shown(text, 80, DRAWN) == f"{painted}\n"


def test_a_word_is_written_as_soon_as_nothing_can_change_it():
    page = Page(DRAWN, lambda: 80)
    assert page.feed("one two") == "one"
    assert page.feed(" **three") == " two"
    assert page.feed(" four") == ""
    assert page.feed("** five ") == " \x1b[1mthree\x1b[0m \x1b[1mfour\x1b[0m five"
    assert page.feed("six\n- sev") == " six\n"
    assert page.feed("en ") == "• seven"


def test_a_mark_that_nothing_closes_holds_back_only_so_much():
    page = Page(DRAWN, lambda: 80)
    assert page.feed("*" + "word " * (LONGEST_SPAN // 5 - 1)) == ""
    assert page.feed("and a few more words ").startswith("*word word")
    assert len(Page(DRAWN, lambda: 80).feed("x" * (LONGEST_WORD + 1))) == LONGEST_WORD


def test_a_link_behind_words_shows_its_host():
    style = Style(attributes=True, links=True)
    painted = shown("[t](https://www.a.example/b) [a.example](https://a.example)", 80, style)
    assert painted == (
        "\x1b]8;;https://www.a.example/b\x1b\\\x1b[4mt\x1b[0m\x1b]8;;\x1b\\ (\x1b[2ma.example\x1b[0m) "
        "\x1b]8;;https://a.example\x1b\\\x1b[4ma.example\x1b[0m\x1b]8;;\x1b\\\n"
    )


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "https://a.example/\x1b\\\x07", "file:///etc/passwd"]
)
def test_only_addresses_of_the_web_are_put_behind_words(address):
    painted = shown(f"[t](<{address}>)", 80, Style(attributes=True, links=True))
    assert "\x07" not in painted
    assert "\x1b]8;;" not in painted or "\x1b]8;;https://a.example/" in painted


@pytest.mark.parametrize(
    ("variables", "attributes", "links"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, False, False),
        ({}, False, False),
        ({"TERM": "xterm", "NO_COLOR": "1", "VTE_VERSION": "7000"}, False, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, False),
        ({"TERM": "xterm", "VTE_VERSION": "7000"}, True, True),
        ({"TERM": "xterm", "VTE_VERSION": "4900"}, True, False),
        ({"TERM": "xterm", "TERM_PROGRAM": "iTerm.app"}, True, True),
        ({"TERM": "xterm-kitty"}, True, True),
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"}, True, False),
    ],
)
def test_what_a_terminal_takes_is_known_from_its_variables(variables, attributes, links):
    style = style_for(variables)
    assert (style.attributes, style.links) == (attributes, links)


def test_without_attributes_the_marks_stay_and_without_unicode_the_drawing_is_ascii():
    text = "# Head\n\n- **two words** `c`\n\n> q\n\n```sh\nls\n```\n"
    assert shown(text, 40, style_for({"TERM": "dumb"}, "ascii")) == (
        "# Head\n\n- **two words** `c`\n\n| q\n\n```sh\nls\n```\n"
    )


def test_the_width_is_asked_for_with_every_word():
    width = 20
    page = Page(BARE, lambda: width)
    assert page.feed("one two three four five ") == "one two three four\nfive"
    width = 9
    assert page.feed("six seven ") == " six\nseven"


def test_a_table_that_cannot_fit_becomes_a_list():
    header = "|" + "|".join(f" column{number} " for number in range(9)) + "|\n"
    row = "|" + "|".join(f" value{number} " for number in range(9)) + "|\n"
    seen = shown(header + "|---" * 9 + "|\n" + row, 40)
    assert seen.startswith("column0: value0\ncolumn1: value1\n")
