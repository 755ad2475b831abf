"""Responses that are no answers: which remedy comes next, and when there is none left."""

import pytest

from hermes.agent.endings import Accept, AskAgain, Endings, GiveUp, RunCalls
from hermes.agent.prompt import CONTINUE, NUDGE
from hermes.errors import ContentBlocked
from hermes.messages import NormalizedResponse, ToolCall, Usage

CALL = ToolCall("c", "look", "{}")
CUT = ToolCall("c", "look", '{"q', truncated=True)


def said(text=None, reason="stop", calls=None, reasoning=None, usage=None):
    return NormalizedResponse(text, calls, reason, reasoning, usage)


def steps(endings, response, times, *, after_tools=False):
    return [endings.judge(response, after_tools=after_tools) for _ in range(times)]


def test_text_is_an_answer_and_calls_are_run():
    assert Endings().judge(said("hi"), after_tools=False) == Accept()
    assert Endings().judge(said("hi", "content_filter"), after_tools=True) == Accept()
    assert Endings().judge(said(None, "tool_calls", [CALL]), after_tools=False) == RunCalls()


def test_an_answer_that_is_blocked_whole_is_an_error():
    [step] = steps(Endings(), said(None, "content_filter"), 1)
    assert isinstance(step, GiveUp)
    assert isinstance(step.error, ContentBlocked)


def test_a_cut_answer_is_continued_three_times():
    again = AskAgain(keep=True, say=CONTINUE)
    assert steps(Endings(), said("half", "length"), 4) == [again, again, again, Accept()]


def test_thinking_that_used_up_the_limit_is_an_error():
    [step] = steps(Endings(), said(None, "length", reasoning="hm"), 1)
    assert isinstance(step, GiveUp)
    assert "output limit" in str(step.error)


@pytest.mark.parametrize(
    ("limit", "usage", "limits"),
    [
        (1_000, None, [2_000, 4_000, 8_000, 16_000]),
        (None, None, [8_192, 16_384, 32_768, 32_768]),
        (None, Usage(completion_tokens=10_000), [20_000, 32_768, 32_768, 32_768]),
        (50_000, None, [50_000] * 4),
    ],
)
def test_a_cut_call_is_asked_for_with_more_room_and_never_kept(limit, usage, limits):
    cut = said(None, "length", [CALL, CUT], usage=usage)
    *again, last = steps(Endings(limit), cut, 5)
    assert again == [AskAgain(keep=False, max_output_tokens=wanted) for wanted in limits]
    assert isinstance(last, GiveUp)


def test_silence_after_tools_is_nudged_once_then_asked_again():
    nudge, *repeats, last = steps(Endings(), said(), 5, after_tools=True)
    assert nudge == AskAgain(keep=False, say=NUDGE)
    assert repeats == [AskAgain(keep=False)] * 3
    assert isinstance(last, GiveUp)


def test_a_thought_alone_is_kept_and_followed_up():
    found = steps(Endings(), said(reasoning="hm"), 6)
    assert found[:5] == [AskAgain(keep=True)] * 2 + [AskAgain(keep=False)] * 3
    assert isinstance(found[5], GiveUp)


def test_an_unfinished_turn_is_sent_again():
    found = steps(Endings(), said("so far", "incomplete"), 4)
    assert found == [AskAgain(keep=True)] * 3 + [Accept()]


def test_tools_that_ran_give_every_remedy_back():
    endings = Endings()
    steps(endings, said(), 4)
    endings.judge(said(None, "tool_calls", [CALL]), after_tools=False)
    assert endings.judge(said(), after_tools=True) == AskAgain(keep=False, say=NUDGE)
