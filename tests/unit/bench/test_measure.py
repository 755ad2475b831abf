import asyncio
import sys

import pytest
from bench.measure import (
    Figure,
    Goal,
    Plan,
    child_environment,
    cpu_per_unit,
    interleave,
    medians,
    peak_megabytes,
    run_child,
    units_per_second,
)


def figure(value, floor=None, goal=None):
    return Figure(name="x", what="a thing", value=value, floor=floor, unit="ms", goal=goal)


@pytest.mark.parametrize(
    ("value", "floor", "goal", "ratio", "ok"),
    [
        (30.0, 10.0, Goal(2.5), 3.0, False),
        (25.0, 10.0, Goal(2.5), 2.5, True),
        (60.0, 100.0, Goal(0.55, "ratio at least"), 0.6, True),
        (50.0, 100.0, Goal(0.55, "ratio at least"), 0.5, False),
        (41.0, None, Goal(40, "value at most"), None, False),
        (40.0, None, Goal(40, "value at most"), None, True),
        (7.0, 2.0, None, 3.5, None),
    ],
)
def test_a_figure_is_judged_by_its_goal(value, floor, goal, ratio, ok):
    found = figure(value, floor, goal)

    assert found.ratio == ratio
    assert found.ok is ok


def test_a_goal_on_a_ratio_is_not_met_without_a_floor():
    assert figure(1.0, None, Goal(2.0)).ok is False
    assert figure(1.0, 0.0, Goal(2.0)).ok is False


def test_a_figure_as_json_has_every_part():
    assert figure(30.0, 10.0, Goal(2.5)).as_json() == {
        "name": "x",
        "what": "a thing",
        "unit": "ms",
        "value": 30.0,
        "floor": 10.0,
        "ratio": 3.0,
        "goal": 2.5,
        "goal_is": "ratio at most",
        "ok": False,
    }


def test_goals_are_written_as_people_read_them():
    assert str(Goal(1.6)) == "≤ 1.6x"
    assert str(Goal(0.55, "ratio at least")) == "≥ 0.55x"
    assert str(Goal(60, "value at most")) == "≤ 60"


def test_subjects_take_turns_and_the_first_round_does_not_count():
    order = []

    def subject(name, value):
        return lambda: order.append(name) or value

    samples = interleave([subject("a", 1.0), subject("b", 2.0)], rounds=3)

    assert samples == [[1.0] * 3, [2.0] * 3]
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"


def test_one_odd_sample_does_not_move_the_median():
    values = iter([9.0, 1.0, 1.1, 50.0, 1.2, 0.9])

    assert medians([lambda: next(values)], rounds=5) == [1.1]


def test_a_busy_child_costs_more_than_an_idle_one(tmp_path):
    environ = child_environment(str(tmp_path))

    idle = run_child([sys.executable, "-c", "pass"], environ)
    busy = run_child([sys.executable, "-c", "sum(range(5_000_000))"], environ)

    assert 0 < idle.cpu < busy.cpu
    assert idle.wall > 0


def test_a_child_that_fails_is_an_error_with_its_words(tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]

    with pytest.raises(RuntimeError, match="ended with 1: no such thing"):
        run_child(command, child_environment(str(tmp_path)))


def test_peak_memory_is_the_childs_own(tmp_path):
    environ = child_environment(str(tmp_path))
    ballast = bytearray(150 * 1024 * 1024)
    ballast[::4096] = b"x" * len(ballast[::4096])

    small = peak_megabytes([sys.executable, "-c", "pass"], environ)
    large = peak_megabytes([sys.executable, "-c", "b'x' * (50 * 1024 * 1024)"], environ)

    assert small < 100
    assert 45 < large - small < 60


def test_the_environment_of_a_child_holds_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    environ = child_environment(str(tmp_path), CUSTOM_BASE_URL="http://127.0.0.1:1/v1")

    assert "OPENAI_API_KEY" not in environ
    assert environ["CUSTOM_BASE_URL"] == "http://127.0.0.1:1/v1"


async def test_work_is_counted_by_its_units():
    async def spin():
        sum(range(2_000_000))

    async def wait():
        await asyncio.sleep(0.05)

    assert await cpu_per_unit(spin, 1) > await cpu_per_unit(wait, 1)
    assert 0 < await units_per_second(wait, 10) <= 200


def test_a_quick_plan_does_less():
    assert Plan("", "", is_quick=True).rounds(60, 5) == 5
    assert Plan("", "", is_quick=False).rounds(60, 5) == 60
