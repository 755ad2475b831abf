"""Hostile HTML costs bounded time, crashes nothing, and is not silently lost."""

import gc
import time

import pytest
from bench.reader import hostile
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import DocumentError
from hermes.tools.web.reader import html as html_module
from hermes.tools.web.reader import tame as tame_module
from hermes.tools.web.reader.html import read_html
from hermes.tools.web.reader.tame import MAX_DEPTH, tame

BOMBS = {
    "nested div": "<div>" * 100_000 + "END",
    "closed div": "<div>" * 30_000 + "END" + "</div>" * 30_000,
    "mismatched": "<div></span>" * 50_000 + "END",
    "hidden in comments": "<div><!--</div>-->" * 30_000 + "END",
    "hidden by tables": "<div><table></div></table>" * 20_000 + "END",
    "hidden in attributes": ('<p =">' + "<div>" * 1_000 + '">') * 60 + "END",
    "lists": "<ul><li>" * 20_000 + "END",
    "lists with text": "<ul><li>x" * 9_900 + "END",
    "quotes": "<blockquote>" * 20_000 + "END",
    "quotes with text": "<blockquote>x" * 19_000 + "END",
    "tables": "<table><tr><td>" * 10_000 + "END",
    "formulas": "<math>" * 15_000 + "END",
    "menus": "<nav><footer>" * 9_000 + "<h1>END",
    "links": "<a href=x><div>" * 20_000 + "END",
    "formatting": "".join(f"<b id={n}><i id={n}><p>x" for n in range(20_000)),
    "formatting in blocks": "".join(f"<div><b id={n}>x</div>" for n in range(20_000)),
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">END",
    "options": "<select>" + "<option>" * 50_000 + "</select>END",
    "open tags": "<a x='" * 50_000,
    "open comments": "<!--" * 50_000,
    "open scripts": "END<script>" * 50_000,
    "brackets": "<" * 500_000,
    "ampersands": "&" * 500_000,
    "backticks": "<pre>" + "`" * 500_000,
    "one word": "x" * 3_000_000,
    "spaces": "x" + " " * 3_000_000 + "x",
    "breaks": "x" + "<br>" * 100_000 + "x",
    "stars": "<b>" + "* " * 200_000 + "</b>",
    "cells": "<table>" + "<tr>" + "<td colspan=1000>x" * 3_000,
    "columns": "<table><tr>" + "<td>x" * 20_000 + "</tr>" + "<tr><td>y" * 20_000 + "</table>",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_bounded_in_time(name):
    start = time.process_time()
    page = read_html(BOMBS[name], "https://example.org/")
    assert time.process_time() - start < 5
    if BOMBS[name].endswith("END"):
        assert "END" in page.markdown


def test_depth_is_capped_with_a_note_and_ordinary_depth_is_not():
    assert "nests too deeply" in read_html(BOMBS["nested div"]).notes[0]
    deep = MAX_DEPTH - 10
    page = read_html("<div>" * deep + "x" + "</div>" * deep)
    assert (page.markdown, page.notes) == ("x", ())


@pytest.mark.parametrize(
    "ordinary",
    [
        "<p>unclosed" * 3_000,
        "<ul>" + "<li>unclosed" * 3_000,
        "<table>" + "<tr><td>unclosed" * 3_000,
        "<p><a href=x>unclosed" * 3_000,
        "<div>x<br><img src=y><hr></div>" * 3_000,
        "<svg>" + "<path d='M0'/>" * 3_000 + "</svg>",
        "<script>'<div>'</script>" * 3_000,
        "<!-- <div> -->" * 3_000,
        "<td><b>x</b></td>" * 3_000,
        "<span><div>x</span></div>" * 3_000,
        '<div data-x="' + "a > b < c " * 500 + '">x</div>',
    ],
)
def test_ordinary_untidiness_is_left_alone(ordinary):
    assert tame(ordinary) == (ordinary, ())


def test_a_page_over_the_cap_is_cut_with_a_note(monkeypatch):
    monkeypatch.setattr(html_module, "MAX_BYTES", 1_000_000)
    page = read_html(b"<p>start</p>" + b"<p>" + b"x" * 1_000_000 + b"END")
    assert page.markdown.startswith("start")
    assert "END" not in page.markdown
    assert page.notes == ("the page is larger than 1 MB; the rest was left out",)


@pytest.mark.parametrize("as_given", [str, str.encode])
def test_comments_do_not_push_a_page_over_the_cap(monkeypatch, as_given):
    monkeypatch.setattr(html_module, "MAX_BYTES", 1_000_000)
    page = read_html(as_given(f"<!--{'x' * 2_000_000}--><p>kept</p><!-- and --><p>too</p><!-- never closed"))
    assert page.markdown == "kept\n\ntoo"
    assert page.notes == ()


def test_tags_that_nest_too_deeply_are_not_counted_one_by_one(monkeypatch):
    monkeypatch.setattr(tame_module, "MAX_TOKENS", 3_000)
    page = read_html("<div>" * 50_000 + "<p>kept</p>" + "</div>" * 10 + "<p>too</p>")
    assert page.markdown == "kept\n\ntoo"
    assert page.notes == ("the page nests too deeply; its structure was flattened",)


def test_an_ordinary_page_is_quick():
    page = (
        "<h2>Head</h2><p>Some <b>bold</b> text with a <a href='/x'>link</a> in it.</p><ul><li>a<li>b</ul>"
        * 1_000
    )
    start = time.process_time()
    read_html(page, "https://example.org/")
    assert time.process_time() - start < 1


@pytest.mark.parametrize("data", [b"%PDF-1.4\n%x", b"\x1f\x8b\x08\x00" + b"x" * 99, b"\x00\x01\x02" * 500])
def test_what_is_no_html_is_refused(data):
    with pytest.raises(DocumentError):
        read_html(data)


@given(st.binary(max_size=400), st.text(max_size=20))
def test_any_bytes_are_read_or_refused(data, url):
    try:
        page = read_html(data, url)
    except DocumentError:
        return
    page.markdown.encode("utf-8")


NAMES = """
a b i p br div ul ol li dl dt dd table tr td th caption pre code blockquote h1 h6 img q s script style main
article nav noscript svg math select option template body html head title form button hr
"""
TAGS = st.sampled_from(NAMES.split())
PIECES = st.one_of(
    TAGS.map(lambda tag: f"<{tag}>"),
    TAGS.map(lambda tag: f"</{tag}>"),
    st.sampled_from(
        ["<a href=x>", "<img src=y alt='z'>", "<td colspan=3>", "<ol start=7>", "<!--", "-->", "<p hidden>"]
    ),
    st.text(alphabet="ab `|*\n\t[]()#&;<>\"'=", max_size=12),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_soup_of_tags_is_read(soup):
    page = read_html(soup, "https://example.org/")
    assert page.markdown == page.markdown.strip()
    assert "\n\n\n" not in page.markdown or "```" in page.markdown


LIGHT = (
    "10,000 nested div",
    "100,000 nested div",
    "20,000 nested lists",
    "15,000 open formatting tags",
    "100,000 attributes on one tag",
    "20 MB comment",
    "NULs",
    "wrong charset",
    "missing charset",
    "UTF-16",
    "UTF-16 without a mark",
)


@pytest.mark.parametrize("name", LIGHT)
def test_what_others_lose_is_kept(name):
    outcome = hostile.read(name)
    assert outcome.kept
    assert outcome.seconds < hostile.SECONDS


@pytest.mark.parametrize("name", ["1 MB of binary", "gzip given as HTML"])
def test_what_is_no_page_is_refused_and_said(name):
    outcome = hostile.read(name)
    assert not outcome.kept
    assert "binary" in outcome.notes[0]


def test_a_huge_page_grows_the_process_within_bounds():
    outcome = hostile.apart("20 MB attribute")
    assert outcome.is_fine, outcome


def test_formatting_that_is_never_closed_costs_the_formatting_and_not_the_text():
    sentence = "is the number of a paragraph that says nothing new but says it in one whole sentence."
    page = read_html("".join(f"<p><b id={n}>And {n} {sentence}" for n in range(9_000)))
    assert "8000 is the number" in page.markdown
    assert "formatting that is never closed was left out" in page.notes


def test_a_page_too_long_for_the_model_is_kept_but_for_its_frame(monkeypatch):
    monkeypatch.setattr(html_module, "MAX_RUNS", 50)
    items = "".join(f"<p>Paragraph number {n} of a long page.</p>" for n in range(60))
    reading = html_module.examine(f"<nav>Menu</nav>{items}<footer>Imprint</footer>")
    assert reading.route == "long"
    assert "number 59" in reading.page.markdown
    assert "Menu" not in reading.page.markdown
    assert "read without judging its parts" in reading.page.notes[0]


def test_reading_does_not_leave_the_collector_off():
    assert gc.isenabled()
    read_html("<p>x")
    assert gc.isenabled()
