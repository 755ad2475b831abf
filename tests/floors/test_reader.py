"""Floors of the page reader: they may rise, never fall."""

import pytest
from bench.reader.score import match, snippets, structure

from floors.written import ERROR, PAGES, SHELL
from hermes.tools.web.reader.features import KINDS
from hermes.tools.web.reader.html import examine, read_html

MEAN_FLOOR = 0.97


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_of_each_kind_and_trap_is_read(page):
    found = match(read_html(page.html, page.url).markdown, page.gold)
    assert found.f1 >= page.floor, (found, read_html(page.html, page.url).markdown)


def test_the_mean_over_all_pages():
    scores = [match(read_html(page.html, page.url).markdown, page.gold).f1 for page in PAGES]
    assert sum(scores) / len(scores) >= MEAN_FLOOR


def test_the_frame_never_comes_out_of_an_article():
    page = PAGES[0]
    markdown = read_html(page.html, page.url).markdown
    noise = ["Privacy policy", "We use cookies", "Sign up for our newsletter", "You may also like", "Careers"]
    assert snippets(markdown, [], noise)[2] == 0


def test_the_structure_of_a_manual_page_comes_out():
    page = next(page for page in PAGES if page.name == "documentation")
    kept = structure(
        read_html(page.html, page.url).markdown,
        {
            "headings": ["Reading files", "Usage", "Parameters", "Notes"],
            "code": ['from example import read\n\ntext = read("notes.txt")\nprint(len(text))'],
            "rows": [["Name", "Type", "Meaning"], ["path", "str", "Where the file is."]],
            "items": ["Line ends are given as they are stored.", "On a directory the call fails at once."],
        },
    )
    assert kept == {"headings": (4, 4), "code": (3, 3), "rows": (2, 2), "items": (2, 2)}


def test_comments_are_the_callers_choice():
    page = next(page for page in PAGES if page.name == "article-with-comments")
    comment = "The ferry is a nice idea"
    assert comment in read_html(page.html, page.url, comments=True).markdown
    assert comment not in read_html(page.html, page.url, comments=False).markdown
    assert comment not in read_html(page.html, page.url).markdown


def test_the_grounds_of_a_reading_are_given():
    page = PAGES[0]
    reading = examine(page.html, page.url)
    assert reading.kind in KINDS
    assert reading.route == "model"
    assert 0.5 < reading.confidence <= 1
    assert any("cookies" in text for _, text in reading.dropped)
    assert reading.page == read_html(page.html, page.url)


def test_an_error_page_is_said_to_be_one():
    page = read_html(ERROR.html, ERROR.url)
    assert any("error page" in note and "not found" in note for note in page.notes)
    assert page.markdown == ""


def test_a_wall_is_said_to_be_one():
    html = "<title>Just a moment...</title><h1>www.example.org</h1><p>Verifying you are human.</p>"
    assert any("wall" in note for note in read_html(html).notes)


def test_a_shell_is_said_to_be_one_and_its_menu_is_not_given_for_content():
    page = read_html(SHELL.html, SHELL.url)
    assert any("scripts fill this page" in note for note in page.notes)
    assert "Careers" not in page.markdown


def test_scores_are_what_they_say():
    assert match("", "").f1 == 1.0
    assert match("one two", "").f1 == 0.0
    assert match("## one [two](https://x.org/three) ![four](y)", "one two").f1 == 1.0
    assert match("one two three four", "one two").precision == 0.5
