"""A model that repeats itself: warned, and where that is set, stopped."""

import msgspec
import pytest

from hermes.agent.guardrail import Guardrail, Thresholds
from hermes.protocols import ToolResult

FAILED = ToolResult(text='{"error":"no"}', is_error=True)
SAME = ToolResult(text="the same")
HARD = Thresholds(hard_stop_enabled=True)


def call(guardrail, result=FAILED, effect="reads", tool="look", **arguments):
    """One call through the guardrail: what stood in its way, or the warning after it."""
    return guardrail.before(tool, arguments) or guardrail.after(tool, arguments, result, effect)


def test_the_second_failure_of_one_call_is_warned_of():
    guardrail = Guardrail()
    assert call(guardrail, q=1) is None
    assert call(guardrail, q=1).startswith("[loop warning: this call has failed 2 times")
    assert "3 times" in call(guardrail, q=1)


def test_arguments_are_the_same_however_they_are_written():
    guardrail = Guardrail()
    guardrail.after("look", {"a": 1, "b": 2}, FAILED, "reads")
    assert guardrail.after("look", {"b": 2, "a": 1}, FAILED, "reads")


def test_the_third_failure_of_one_tool_is_warned_of():
    guardrail = Guardrail()
    told = [call(guardrail, q=number) for number in range(4)]
    assert told[:2] == [None, None]
    assert "`look` has failed 3 times" in told[2]
    assert "`look` has failed 4 times" in told[3]
    assert call(guardrail, tool="other") is None


def test_what_reads_the_same_twice_is_warned_of_and_news_are_not():
    guardrail = Guardrail()
    assert call(guardrail, SAME) is None
    assert "the same result 2 times" in call(guardrail, SAME)
    assert call(guardrail, ToolResult(text="news")) is None
    assert call(guardrail, SAME) is None


def test_what_changes_something_may_give_the_same_and_what_is_read_after_it_is_news():
    guardrail = Guardrail()
    for _ in range(4):
        assert call(guardrail, SAME, "changes", tool="write") is None
        assert call(guardrail, SAME) is None


def test_a_success_forgives_the_failures_before_it():
    guardrail = Guardrail(HARD)
    for number in range(20):
        assert call(guardrail, q=1) is None
        assert call(guardrail, ToolResult(text=str(number)), q=1) is None


def test_hard_stops_are_off_unless_they_are_set():
    guardrail = Guardrail()
    assert all(isinstance(call(guardrail, q=1), str) for _ in range(20) if call(guardrail, q=1))
    assert guardrail.stopped is None


def test_the_sixth_time_a_call_would_fail_it_is_not_run():
    guardrail = Guardrail(HARD)
    for _ in range(5):
        assert not isinstance(call(guardrail, q=1), msgspec.Struct)
        assert guardrail.stopped is None
    blocked = call(guardrail, q=1)
    assert (blocked.action, blocked.code, blocked.count) == ("block", "repeated_exact_failure_block", 5)
    assert guardrail.stopped is blocked
    told = msgspec.json.decode(blocked.payload())
    assert told["error"] == told["guardrail"]["message"] == blocked.message
    assert set(told["guardrail"]) == {"action", "code", "message", "tool_name", "count", "signature"}
    assert told["guardrail"]["tool_name"] == "look"
    assert guardrail.before("look", {"q": 2}) is None


def test_the_sixth_time_a_call_would_read_the_same_it_is_not_run():
    guardrail = Guardrail(HARD)
    for _ in range(5):
        assert not isinstance(call(guardrail, SAME), msgspec.Struct)
    assert call(guardrail, SAME).code == "idempotent_no_progress_block"


def test_the_eighth_failure_of_a_tool_ends_the_turn_and_is_itself_told():
    guardrail = Guardrail(HARD)
    for number in range(7):
        call(guardrail, q=number)
        assert guardrail.stopped is None
    assert "8 times" in call(guardrail, q=7)
    stopped = guardrail.stopped
    assert (stopped.action, stopped.code, stopped.count) == ("halt", "same_tool_failure_halt", 8)


@pytest.mark.parametrize("result", [FAILED, SAME])
def test_warnings_can_be_turned_off(result):
    guardrail = Guardrail(Thresholds(warnings_enabled=False))
    assert [call(guardrail, result) for _ in range(5)] == [None] * 5


def test_the_numbers_can_be_set():
    guardrail = Guardrail(
        Thresholds(hard_stop_enabled=True, exact_failure_warn_after=1, exact_failure_block_after=1)
    )
    assert "1 times" in call(guardrail)
    assert call(guardrail).count == 1
