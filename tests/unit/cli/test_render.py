"""What a person sees of tool calls while they run, and what never reaches the screen."""

import os

import pytest

from hermes.cli._border import Border
from hermes.cli._consent import Consent, Decided
from hermes.cli._render import TextRenderer
from hermes.events import Notice, ToolFinished, ToolStarted
from hermes.protocols import Approval

KEY = "sk-very-secret-value-1234"


@pytest.fixture
def border():
    border = Border()
    border.redact = lambda text: text.replace(KEY, "[redacted]")
    return border


@pytest.fixture
def renderer(border):
    return TextRenderer(border, live=True)


def started(id, name="look", arguments='{"q": "sky"}'):
    return ToolStarted(id, name, arguments)


def finished(id, name="look", **more):
    return ToolFinished(id, name, "x" * 1200, more.pop("is_error", False), 0.25, **more)


def test_a_call_is_one_line_that_grows(renderer, capsys):
    renderer.show(started("1"))
    assert capsys.readouterr().err == "· look sky"
    renderer.show(finished("1", served_by="local"))
    assert capsys.readouterr().err == ": 1,200 characters by local, 250 ms\n"


def test_calls_side_by_side_are_told_apart(renderer, capsys):
    renderer.show(started("1"))
    renderer.show(started("2", arguments='{"urls": ["http://a", "http://b"], "limit": 7}'))
    renderer.show(finished("1"))
    renderer.show(finished("2", is_error=True))
    assert capsys.readouterr().err.splitlines() == [
        "· look sky",
        "· look http://a http://b",
        "· look sky: 1,200 characters, 250 ms",
        "· look http://a http://b: failed, 250 ms",
    ]


def test_a_remark_in_between_has_a_line_of_its_own(renderer, capsys):
    renderer.show(started("1"))
    renderer.show(Notice("by the way"))
    renderer.show(finished("1"))
    assert capsys.readouterr().err == "· look sky\nnote: by the way\n· look sky: 1,200 characters, 250 ms\n"


@pytest.mark.parametrize("arguments", ["", "{", '"words"', "null", '{"a": {"b": ["\\u001b[2J\\n"]}}'])
def test_any_arguments_can_be_shown(renderer, capsys, arguments):
    renderer.show(started("1", arguments=arguments))
    shown = capsys.readouterr().err
    assert shown.startswith("· look")
    assert not {"\x1b", "\n"} & set(shown)


async def test_a_key_that_would_be_cut_in_the_middle_is_not_shown_at_all(renderer, border, capsys):
    for before in range(60, 110):
        renderer.show(started("1", arguments=f'{{"command": "{"a" * before} {KEY}"}}'))
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
    renderer = TextRenderer(border, live=False)
    for event in (started("1"), finished("1")):
        renderer.show(event)
    assert capsys.readouterr() == ("", "")
