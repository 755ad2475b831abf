import asyncio
import threading
from contextlib import suppress

import pytest

from hermes.errors import Block
from hermes.hooks import Registration


async def rewrite(shop, payload, kind="tool_request", **context):
    return await shop.host.apply_request(kind, payload, context)


def returning(value):
    return lambda **_kwargs: value


async def test_with_nobody_registered_the_payload_is_the_very_same_object(shop):
    payload = {"a": 1}
    made = await rewrite(shop(), payload)
    assert made.payload is payload
    assert (made.changed, made.trace) == (False, ())


@pytest.mark.parametrize("is_async", [False, True])
async def test_each_sees_what_the_one_before_it_made(shop, is_async):
    seen = []

    def adding(name):
        def add(args, original_args):
            seen.append((args, original_args))
            return {"args": {**args, name: 1}, "source": name, "reason": "because"}

        async def later(args, original_args):
            return add(args, original_args)

        return later if is_async else add

    one = shop()
    one.add("tool_request", adding("a"))
    one.add("tool_request", adding("b"))
    made = await rewrite(one, {"o": 1})
    assert made.payload == {"o": 1, "a": 1, "b": 1}
    assert made.trace == ({"source": "a", "reason": "because"}, {"source": "b", "reason": "because"})
    assert seen == [({"o": 1}, {"o": 1}), ({"o": 1, "a": 1}, {"o": 1})]
    assert (made.original, made.changed) == ({"o": 1}, True)


async def test_what_is_not_returned_has_no_effect(shop):
    def spoiling(args, original_args):
        args["deep"]["x"] = original_args["deep"]["x"] = "spoiled"

    def spoiling_and_raising(args):
        args["deep"]["x"] = "spoiled"
        raise ValueError("spoiled")

    seen = []
    one, payload = shop(), {"deep": {"x": 1}}
    one.add("tool_request", spoiling)
    one.add("tool_request", spoiling_and_raising)
    one.add("tool_request", lambda args, original_args: seen.append((args, original_args)))
    made = await rewrite(one, payload)
    assert made.payload is payload
    assert payload == {"deep": {"x": 1}}
    assert seen == [({"deep": {"x": 1}}, {"deep": {"x": 1}})]


async def test_one_that_raises_is_passed_over_and_said_once(shop):
    def broken(**_kwargs):
        raise ValueError("no")

    one = shop()
    one.add("tool_request", broken)
    one.add("tool_request", returning({"args": {"b": 1}}))
    for _ in range(2):
        made = await rewrite(one, {})
        assert (made.payload, made.trace) == ({"b": 1}, ({"source": "plugin"},))
    assert len(one.warnings) == 1


@pytest.mark.parametrize("value", [[], "x", {"args": None}, {"args": []}, {"request": {}}, 3, {}])
async def test_a_return_of_another_shape_has_no_effect_and_is_counted(shop, value):
    one = shop()
    one.add("tool_request", returning(value))
    made = await rewrite(one, {"a": 1})
    assert (made.payload, made.trace, made.changed) == ({"a": 1}, (), False)
    assert one.host.stats()[0].ignored == 1


@pytest.mark.parametrize(
    ("value", "entry"),
    [
        ({"args": {}}, {"source": "plugin"}),
        ({"args": {"a": 1}, "source": "s"}, {"source": "s"}),
        ({"args": {}, "source": 3, "reason": ""}, {"source": "plugin"}),
        ({"args": {}, "name": "n", "extra": "e"}, {"name": "n"}),
    ],
)
async def test_a_valid_return_leaves_its_words_in_the_trace(shop, value, entry):
    one = shop()
    one.add("tool_request", returning(value))
    made = await rewrite(one, {"a": 1})
    assert (made.payload, made.trace, made.changed) == (value["args"], (entry,), True)


async def test_what_cannot_be_copied_is_shared(shop):
    lock, given = threading.Lock(), []
    one = shop()

    def adding(request):
        given.append(request)
        return {"request": {**request, "b": {1, 2}}}

    one.add("llm_request", adding)
    made = await rewrite(one, {"lock": lock, "a": [{"x": 1}]}, "llm_request")
    assert made.payload["lock"] is lock
    assert (made.payload["b"], made.payload["a"]) == ({1, 2}, [{"x": 1}])
    assert given[0]["a"][0] is not made.original["a"][0]


async def test_a_closed_one_that_fails_blocks_before_the_next(shop):
    called = []

    def broken(**_kwargs):
        raise ValueError("no")

    one = shop()
    one.add("tool_request", broken, on_error="closed")
    one.add("tool_request", lambda **_kwargs: called.append(1))
    with pytest.raises(Block, match="has to agree"):
        await rewrite(one, {})
    assert called == []


async def test_an_exit_in_a_plugin_is_its_failure_alone(shop):
    def leaving(**_kwargs):
        raise SystemExit(3)

    one = shop()
    one.add("tool_request", leaving)
    assert (await rewrite(one, {"a": 1})).payload == {"a": 1}
    assert "SystemExit" in one.warnings[0]


async def test_conditions_say_when_a_callback_is_called(shop):
    one = shop()
    one.add("tool_request", returning({"args": {"by": "mapping"}}), when={"tool_name": "terminal"})
    one.add("tool_request", returning({"args": {"by": "test"}}), when=lambda ctx: ctx["session_id"] == "s")
    terminal = await rewrite(one, {}, tool_name="terminal", session_id="")
    other = await rewrite(one, {}, tool_name="other", session_id="s")
    assert (terminal.payload, other.payload) == ({"by": "mapping"}, {"by": "test"})
    assert [place.skipped for place in one.host.explain({"tool_name": "terminal", "session_id": ""})] == [
        "",
        "its condition",
    ]


async def test_priorities_and_wishes_make_the_order(shop):
    log = []

    def logging(name):
        return lambda **_kwargs: log.append(name)

    one = shop()
    one.add("tool_request", logging("c"), "third", priority=5)
    one.add("tool_request", logging("a"), "first", before=("second",))
    one.add("tool_request", logging("b"), "second", name="middle")
    one.add("tool_request", logging("z"), "zeroth", priority=9, before=("first",))
    one.add("tool_request", logging("d"), "fourth", priority=-1, after=("third", "middle"))
    await rewrite(one, {})
    assert log == ["z", "a", "b", "c", "d"]


def test_wishes_that_contradict_each_other_add_nothing(shop):
    one = shop()
    one.add("tool_request", print, "a", before=("b",))
    with pytest.raises(Exception, match="before each other"):
        one.add("tool_request", print, "b", before=("a",))
    assert len(one.host.stats()) == 1


async def test_an_unknown_hook_is_said_and_kept(shop):
    one = shop()
    one.add("nope", print)
    assert one.warnings == ["the plugin `demo`: there is no hook `nope`"]
    assert one.host.listens("nope")


async def test_in_observing_mode_nothing_returned_has_an_effect(shop):
    one = shop(mode="observe")
    one.add("tool_request", returning({"args": {}}))
    one.add("pre_tool_call", returning({"action": "block", "message": "no"}))
    payload = {"a": 1}
    assert (await rewrite(one, payload)).payload is payload
    assert await one.host.emit("pre_tool_call", dict) == ()
    assert [tally.ignored for tally in one.host.stats()] == [1, 1]


async def test_switched_off_nobody_is_registered(shop):
    one = shop(mode="off")
    one.add("tool_request", returning({"args": {}}))
    assert one.host.is_idle


async def test_one_that_takes_too_long_is_left_behind_and_the_rest_go_on(shop):
    release = threading.Event()
    one = shop(timeout=5)
    one.add("tool_request", lambda **_kwargs: release.wait(5), "slow", timeout=0.05)
    one.add("tool_request", returning({"args": {"b": 1}}))
    made = await rewrite(one, {})
    assert made.payload == {"b": 1}
    slow = one.host.stats()[0]
    assert (slow.timeouts, slow.abandoned) == (1, 1)
    assert "longer than 0.05 seconds" in one.warnings[0]
    release.set()
    await asyncio.sleep(0.05)
    assert one.host.stats()[0].abandoned == 0


async def test_an_async_one_that_takes_too_long_is_stopped(shop):
    stopped = []

    async def slow(**_kwargs):
        try:
            await asyncio.sleep(5)
        finally:
            stopped.append(1)

    one = shop()
    one.add("tool_request", slow, timeout=0.05)
    one.add("tool_request", returning({"args": {"b": 1}}))
    assert (await rewrite(one, {})).payload == {"b": 1}
    assert stopped == [1]


async def test_after_three_threads_left_behind_it_is_not_called_any_more(shop):
    release, calls = threading.Event(), []

    def slow(**_kwargs):
        calls.append(1)
        release.wait(5)

    one = shop()
    one.add("tool_request", slow, timeout=0.02)
    for _ in range(5):
        await rewrite(one, {})
    assert len(calls) == 3
    assert one.host.stats()[0].breaker == "open"
    release.set()


async def test_one_that_keeps_failing_is_left_out_until_it_does_well(shop):
    now, broken, calls = [0.0], [True], []

    def failing(**_kwargs):
        calls.append(1)
        if broken[0]:
            raise ValueError("no")

    one = shop(clock=lambda: now[0])
    one.add("tool_request", failing)
    for _ in range(7):
        await rewrite(one, {})
    assert (len(calls), one.host.stats()[0].breaker, one.host.stats()[0].skips) == (5, "open", 2)
    assert len([text for text in one.warnings if "left out" in text]) == 1
    now[0] = 31.0
    await rewrite(one, {})
    assert (len(calls), one.host.stats()[0].breaker) == (6, "open")
    now[0], broken[0] = 62.0, False
    await rewrite(one, {})
    await rewrite(one, {})
    assert (len(calls), one.host.stats()[0].breaker) == (8, "closed")


async def test_a_closed_one_that_is_left_out_blocks(shop):
    def failing(**_kwargs):
        raise ValueError("no")

    one = shop()
    one.add("tool_request", failing, on_error="closed")
    for _ in range(6):
        with pytest.raises(Block):
            await rewrite(one, {})
    assert one.host.stats()[0].skips == 1


async def test_one_that_only_observes_may_not_rewrite(shop):
    one = shop()
    one.host.add(
        [Registration(plugin="p", kind="tool_request", callback=returning({"args": {}}), observes=True)]
    )
    assert (await rewrite(one, {"a": 1})).payload == {"a": 1}


async def test_its_own_time_is_what_counts(shop):
    async def slow_base(_payload):
        await asyncio.sleep(0.15)
        return "done"

    one = shop()
    one.add("tool_execution", lambda args, next_call: next_call(), timeout=0.05)

    async def waiting(args, next_call):
        return await next_call()

    one.add("tool_execution", waiting, timeout=0.05)
    assert await one.host.run("tool_execution", {}, slow_base, {}) == "done"
    assert [tally.timeouts for tally in one.host.stats()] == [0, 0]
    assert all(tally.longest < 50 for tally in one.host.stats())


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("phase", ["before", "after"])
async def test_a_wrapping_callback_that_hangs_does_not_hold_up_what_it_wraps(shop, is_async, phase):
    release = threading.Event()

    def hanging(args, next_call):
        if phase == "after":
            next_call()
        release.wait(5)
        return "late"

    async def sleeping(args, next_call):
        if phase == "after":
            await next_call()
        await asyncio.sleep(5)
        return "late"

    one = shop()
    one.add("tool_execution", sleeping if is_async else hanging, timeout=0.05)
    assert await one.run() == "done"
    assert len(one.done) == 1
    release.set()


async def test_one_that_ends_well_though_its_time_was_over_leaves_its_task_as_it_was(shop):
    async def stubborn(args, next_call):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        return "late"

    one = shop()
    one.add("tool_execution", stubborn, timeout=0.02)
    assert await one.run() == "late"
    assert asyncio.current_task().cancelling() == 0
    assert one.host.stats()[0].timeouts == 1


async def test_those_around_one_that_hangs_in_their_thread_keep_its_result(shop):
    release, log = threading.Event(), []
    one = shop(timeout=0.1)
    one.add("tool_execution", lambda args, next_call: log.append("outer") or next_call({"a": 2}))
    one.add("tool_execution", lambda args, next_call: release.wait(5))
    one.add("tool_execution", lambda args, next_call: log.append("inner") or next_call())
    assert await one.run() == "done"
    assert (one.done, log) == ([{"a": 2}], ["outer", "inner"])
    release.set()


async def test_a_closed_wrapper_that_hangs_blocks(shop):
    release = threading.Event()
    one = shop()
    one.add("tool_execution", lambda args, next_call: release.wait(5), timeout=0.05, on_error="closed")
    with pytest.raises(Block):
        await one.run()
    assert one.done == []
    release.set()


async def test_who_has_to_agree_is_not_left_behind_with_one_beneath_that_hangs(shop):
    release = threading.Event()

    def redacting(next_call):
        return next_call().replace("done", "****")

    def hanging(next_call):
        result = next_call()
        release.wait(5)
        return result

    one = shop(timeout=0.1)
    one.add("tool_execution", redacting, "policy", on_error="closed")
    one.add("tool_execution", hanging)
    assert await one.run() == "****"
    release.set()


async def test_a_wrapper_that_comes_back_late_does_not_call_the_others_again(shop):
    release, called = threading.Event(), []

    def hanging(next_call):
        release.wait(5)
        raise ValueError("late")

    one = shop(timeout=0.1)
    one.add("tool_execution", lambda next_call: next_call())
    one.add("tool_execution", hanging)
    one.add("tool_execution", lambda next_call: called.append(1) or next_call())
    assert await one.run() == "done"
    release.set()
    while any(tally.abandoned for tally in one.host.stats()):
        await asyncio.sleep(0.01)
    assert (called, len(one.done)) == ([1], 1)
