"""What a person sees of tool calls while they run, and what never reaches the screen."""

import asyncio
import io
import os
import re
import sys

import pyte
import pytest

from hermes.cli._border import Border
from hermes.cli._cited import dates_of, listed
from hermes.cli._consent import Consent, Decided
from hermes.cli._happenings import usage_line
from hermes.cli._markdown import Style
from hermes.cli._progress import Progress
from hermes.cli._pulse import Pulse
from hermes.cli._render import Remarks, TextRenderer, View
from hermes.cli._screen import ScreenRenderer
from hermes.events import (
    Notice,
    Reasoning,
    RetryWaiting,
    Started,
    Text,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from hermes.messages import Citation, Usage
from hermes.protocols import Approval

KEY = "sk-very-secret-value-1234"


@pytest.fixture
def border():
    border = Border()
    border.redact = lambda text: text.replace(KEY, "[redacted]")
    return border


@pytest.fixture
def renderer(border):
    return ScreenRenderer(border, View(), clock=iter(range(0, 100, 4)).__next__)


def started(id, name="look", arguments='{"q": "sky"}'):
    return ToolStarted(id, name, arguments)


def finished(id, name="look", **more):
    return ToolFinished(id, name, "x" * 1200, more.pop("is_error", False), 0.25, **more)


def test_a_call_that_has_ended_is_one_line(renderer, capsys):
    renderer.show(started("1"))
    assert capsys.readouterr().err == ""
    renderer.show(finished("1", served_by="local"))
    assert capsys.readouterr().err == "· look sky: 1,200 characters by local, 250 ms\n"


def test_calls_side_by_side_are_told_apart(renderer, capsys):
    renderer.show(started("1"))
    renderer.show(started("2", arguments='{"urls": ["http://a", "http://b"], "limit": 7}'))
    renderer.show(Notice("by the way"))
    renderer.show(finished("1"))
    renderer.show(finished("2", is_error=True))
    assert capsys.readouterr().err.splitlines() == [
        "note: by the way",
        "· look sky: 1,200 characters, 250 ms",
        "· look http://a http://b: failed, 250 ms",
    ]


@pytest.fixture
def begin_screen(monkeypatch):
    """Puts a terminal at stdout and stderr from then on; gives a way to read what stands on it."""

    def begin():
        display = pyte.Screen(40, 12)
        display.set_mode(pyte.modes.LNM)
        terminal = _Tty(pyte.Stream(display).feed)
        monkeypatch.setattr("hermes.cli._border.columns", lambda _stream: 40)
        monkeypatch.setattr("hermes.cli._screen.columns", lambda _stream: 40)
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(sys, "stdout", terminal)
        return lambda: [line.rstrip() for line in display.display if line.strip()]

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return begin


class _Tty(io.StringIO):
    def __init__(self, feed):
        super().__init__()
        self._feed = feed

    def isatty(self):
        return True

    def write(self, text):
        self._feed(text if isinstance(text, str) else text.decode())
        return len(text)


def test_a_running_call_has_a_row_that_its_final_line_replaces(border, begin_screen):
    screen = begin_screen()
    renderer = ScreenRenderer(border, View())
    renderer.show(Text("Let me "))
    renderer.show(started("1"))
    assert screen() == ["Let me", "· look sky …"]
    renderer.show(started("2", arguments='{"q": "a very long question that does not fit"}'))
    assert screen() == ["Let me", "· look a very long question that does…"]
    renderer.show(ToolProgress("1", "look", "halfway\n\n"))
    assert screen()[1] == "· look sky … halfway"
    renderer.show(finished("1", served_by="local"))
    assert screen()[1:3] == ["· look sky: 1,200 characters by local,", "250 ms"]
    assert len(screen()) == 4
    renderer.show(finished("2"))
    assert screen()[3:] == ["· look a very long…: 1,200 characters,", "250 ms"]
    renderer.show(Text("**Yes** "))
    renderer.show(Text("indeed."))
    renderer.show(Notice("by the way"))
    assert screen()[-2:] == ["Yes indeed.", "note: by the way"]


def test_thoughts_are_a_row_that_folds(border, begin_screen):
    screen = begin_screen()
    renderer = ScreenRenderer(border, View(), clock=iter((0.0, 4.2)).__next__)
    for word in ("so ", "the ", "sky ", "is ", f"{KEY} "):
        renderer.show(Reasoning(word))
    assert screen() == ["· thinking … so the sky is [redacted]"]
    renderer.show(Text("Blue. "))
    assert screen() == ["· thought for 4 s", "Blue."]


def test_thoughts_can_be_shown_in_full(border, begin_screen):
    screen = begin_screen()
    renderer = ScreenRenderer(border, View(reasoning=True), clock=iter((0.0, 4.2)).__next__)
    renderer.show(Reasoning("first\nsec"))
    renderer.show(Reasoning("ond"))
    renderer.show(Text("Blue."))
    assert screen() == ["first", "second", "· thought for 4 s"]


def test_a_remark_in_the_middle_of_a_line_begins_a_new_one(border, begin_screen):
    screen = begin_screen()
    ScreenRenderer(border, View()).show(Text("half a "))
    border.say("may it be done?")
    assert screen() == ["half a", "may it be done?"]


def test_a_person_sees_the_way_to_an_answer_that_goes_to_a_program(border, begin_screen):
    screen = begin_screen()
    renderer = TextRenderer(border, View(), Progress(border, View()))
    renderer.show(Text("let me look "))
    renderer.show(started("1"))
    assert screen() == ["· look sky …"]
    renderer.show(finished("1"))
    assert screen() == ["· look sky: 1,200 characters, 250 ms"]


def test_waiting_is_told_when_it_adds_up(renderer, capsys):
    renderer.show(Started("s", "p", "m", "chat_completions"))
    for attempt in (1, 2, 3):
        renderer.show(RetryWaiting("busy", 1.4, attempt))
    assert capsys.readouterr().err == "waiting 1 s, then try 4: busy\n"


@pytest.mark.parametrize("arguments", ["", "{", '"words"', "null", '{"a": {"b": ["\\u001b[2J\\n"]}}'])
def test_any_arguments_can_be_shown(renderer, capsys, arguments):
    renderer.show(started("1", arguments=arguments))
    renderer.show(finished("1"))
    shown = capsys.readouterr().err
    assert shown.startswith("· look")
    assert not {"\x1b", "\n"} & set(shown.removesuffix("\n"))


async def test_a_key_that_would_be_cut_in_the_middle_is_not_shown_at_all(renderer, border, capsys):
    for before in range(60, 110):
        renderer.show(started("1", arguments=f'{{"command": "{"a" * before} {KEY}"}}'))
        renderer.show(finished("1"))
    for before in range(370, 400):
        await Decided(border).unasked(Approval("terminal", f"{'a' * before} {KEY}", "why"), allowed=False)
    shown = capsys.readouterr().err
    assert "sk-" not in shown
    assert "[redacted]" in shown


async def answer_to(border, wanted, typed):
    """What is said to a question whose answer is typed already."""
    reading, writing = os.pipe()
    os.write(writing, typed.encode())
    os.close(writing)
    with open(reading, encoding="utf-8") as stdin:
        return await Consent(border, stdin)(wanted)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("o\n", "once"),
        ("Y\n", "once"),
        (" session \n", "session"),
        ("A\n", "always"),
        ("", "deny"),
        ("ok\n", "deny"),
    ],
)
async def test_an_answer_is_a_letter_or_a_word_and_all_else_is_a_no(border, typed, answer):
    assert await answer_to(border, Approval("terminal", "rm -rf x", "why"), typed) == answer


@pytest.mark.parametrize("keep", ["once", "session", "always"])
async def test_only_what_may_be_answered_is_offered(border, capsys, keep):
    await answer_to(border, Approval("terminal", "rm -rf x", "why", ("r",), keep), "")
    shown = capsys.readouterr().err
    assert ("[s]ession" in shown, "[a]lways" in shown) == (keep != "once", keep == "always")


async def test_no_part_of_a_key_is_in_a_question_and_no_line_can_pass_for_ours(border, capsys):
    for before in (10, 1_990, 3_000):
        action = f"{'a' * before} {KEY}\nmay it be done? {'b' * 4_000} {KEY}"
        reason, rules = f"it reads {KEY}\nmay it be done?", (f"r {KEY}\nmay it be done?",) * 20
        await answer_to(border, Approval("terminal", action, reason, rules), "")
        shown = capsys.readouterr().err
        assert "sk-" not in shown
        assert "and 12 more" in shown
        assert shown.count("\nmay it be done?") == 1


def test_without_a_terminal_nothing_is_said_of_calls(border, capsys):
    renderer = TextRenderer(border, View(), Remarks(border))
    for event in (started("1"), finished("1")):
        renderer.show(event)
    assert capsys.readouterr() == ("", "")


DATED = (
    '{"success": true, "data": {"web": [{"url": "https://www.a.example/x", "date": "2026-05-04T10:00:00Z"}]}}'
)


@pytest.mark.parametrize(
    ("cited", "links", "line"),
    [
        (Citation(1, "https://www.a.example/x", "A page", "", verified=True), False,
         "[1] A page  https://www.a.example/x  2026-05-04"),
        (Citation(1, "https://www.a.example/x", "A page", "", verified=True), True,
         "[1] \x1b]8;;https://www.a.example/x\x1b\\A page\x1b]8;;\x1b\\  a.example  2026-05-04"),
        (Citation(2, "hermes://docs/x.md", "", ""), True, "[2] hermes://docs/x.md  (not verified)"),
        (Citation(3, "", "", ""), True, "[3] no source has this number  (not verified)"),
        (Citation(4, "https://b.example", "\x1b]0;evil\x07 \u202etitle", "", verified=True), False,
         "[4] \\u001b]0;evil\\u0007 \\u202etitle  https://b.example"),
    ],
)  # fmt: skip
def test_a_source_has_its_number_title_host_and_date(cited, links, line):
    dates = dates_of(DATED)
    shown = listed(cited, dates.get(cited.url, ""), Style(attributes=links, links=links))
    assert re.sub(r"\x1b\[\d*m", "", shown) == line


@pytest.mark.parametrize("result", ["", "no json", "[]", '{"data": 1}', '{"data": {"web": [{"url": 1}]}}'])
def test_a_result_that_is_no_search_tells_no_dates(result):
    assert dates_of(result) == {}


def test_tokens_and_cost_are_told_in_a_line():
    usage = Usage(1200, 34, 1234, cached_tokens=1000, reasoning_tokens=20)
    assert (
        usage_line(usage, 0.0123)
        == "1,200 tokens in (1,000 from a cache), 34 out (20 of thinking), 0.0123 US dollars"
    )
    assert usage_line(Usage(1, 2, 3), None) == "1 tokens in, 2 out, cost unknown"


async def test_waiting_is_seen_after_a_while(monkeypatch):
    beats = []
    monkeypatch.setattr("hermes.cli._pulse.SILENCE", 0)
    pulse = Pulse(beats.append)
    pulse.start()
    await asyncio.sleep(0.01)
    pulse.stop()
    assert beats == [0]
