import asyncio
import contextvars
import itertools
import threading

import pytest

from hermes.errors import Block, NextCallMisused
from hermes.hooks import Registration
from unit.hooks.conftest import in_async, in_sync

COLOURS = {"sync": in_sync, "async": in_async}


def passing(log, name):
    def body(_kwargs):
        log.append(f"{name}>")
        result = yield ()
        log.append(f"<{name}")
        return result

    return body


def raising_first(_kwargs):
    raise ValueError("early")
    yield ()


def raising_last(_kwargs):
    yield ()
    raise ValueError("late")


def letting_go(_kwargs):
    return (yield ())


@pytest.mark.parametrize("colours", list(itertools.product(COLOURS, repeat=3)), ids="-".join)
async def test_callbacks_nest_in_their_order_whatever_their_colour(shop, colours):
    one, log = shop(), []
    for name, colour in zip("ABC", colours, strict=True):
        one.add("tool_execution", COLOURS[colour](passing(log, name)))
    assert await one.run() == "done"
    assert log == ["A>", "B>", "C>", "<C", "<B", "<A"]
    assert one.done == [{"a": 1}]


async def test_with_nobody_registered_the_base_gets_the_very_same_object(shop):
    one, payload = shop(), {"a": 1}
    await one.run(payload)
    assert one.done[0] is payload


async def test_one_that_raises_before_it_calls_on_is_passed_over(shop, coloured):
    one, log = shop(), []
    one.add("tool_execution", coloured(raising_first))
    one.add("tool_execution", coloured(passing(log, "B")))
    assert await one.run() == "done"
    assert (len(one.done), log) == (1, ["B>", "<B"])
    assert one.warnings == ["the plugin `demo` (tool_execution `callback`): ValueError: early"]


async def test_a_change_in_place_is_undone_when_the_callback_then_fails(shop, coloured):
    def spoiling(kwargs):
        kwargs["args"]["a"] = "spoiled"
        kwargs["args"]["deep"]["b"] = "spoiled"
        raise ValueError("early")
        yield ()

    one = shop()
    one.add("tool_execution", coloured(spoiling))
    await one.run({"a": 1, "deep": {"b": 2}})
    assert one.done == [{"a": 1, "deep": {"b": 2}}]


async def test_a_change_in_place_holds_when_the_callback_calls_on(shop, coloured):
    def changing(kwargs):
        kwargs["args"]["x"] = 1
        return (yield ())

    one = shop()
    one.add("tool_execution", coloured(changing))
    await one.run()
    assert one.done == [{"a": 1, "x": 1}]


async def test_a_result_outlives_a_callback_that_fails_after_it(shop, coloured):
    one = shop()
    one.add("tool_execution", coloured(raising_last))
    assert await one.run() == "done"
    assert len(one.done) == 1
    assert "late" in one.warnings[0]


async def test_an_error_goes_through_as_the_very_same_object(shop, coloured):
    one = shop()
    one.failure = TimeoutError("slow")
    one.add("tool_execution", coloured(letting_go))
    one.add("tool_execution", coloured(letting_go))
    with pytest.raises(TimeoutError) as caught:
        await one.run()
    assert caught.value is one.failure
    assert (len(one.done), one.warnings) == (1, [])


async def test_an_error_can_be_caught_by_its_type(shop, coloured):
    def catching(_kwargs):
        try:
            yield ()
        except TimeoutError:
            return "instead"

    one = shop()
    one.failure = TimeoutError("slow")
    one.add("tool_execution", coloured(catching))
    assert await one.run() == "instead"


async def test_a_translated_error_is_raised_with_its_cause(shop, coloured):
    def translating(_kwargs):
        try:
            yield ()
        except TimeoutError:
            raise KeyError("translated")  # noqa: B904 - without a cause of its own

    one = shop()
    one.failure = TimeoutError("slow")
    one.add("tool_execution", coloured(translating))
    with pytest.raises(KeyError) as caught:
        await one.run()
    assert caught.value.__cause__ is one.failure
    assert len(one.done) == 1


async def test_what_was_done_is_not_done_again(shop, coloured):
    def twice(_kwargs):
        yield ()
        return (yield ())

    one = shop()
    one.add("tool_execution", coloured(twice))
    assert await one.run() == "done"
    assert len(one.done) == 1


async def test_a_second_call_does_not_hide_why_the_first_one_failed(shop, coloured):
    def again(_kwargs):
        try:
            yield ()
        except TimeoutError:
            return (yield ())

    one = shop()
    one.failure = TimeoutError("slow")
    one.add("tool_execution", coloured(again))
    with pytest.raises(TimeoutError):
        await one.run()
    assert len(one.done) == 1


async def test_one_that_may_call_on_twice_can_try_again(shop, coloured):
    one = shop()

    def again(_kwargs):
        try:
            yield ()
        except TimeoutError:
            one.failure = None
            return (yield ())

    one.failure = TimeoutError("slow")
    one.add("tool_execution", coloured(again), max_calls=2)
    assert await one.run() == "done"
    assert len(one.done) == 2


@pytest.mark.parametrize(
    ("given", "used"),
    [((), {"a": 1}), ((None,), {"a": 1}), (({},), {}), (({"x": 1},), {"x": 1}), (("text",), {"a": 1})],
)
async def test_what_is_passed_on_is_what_is_done(shop, coloured, given, used):
    def giving(_kwargs):
        return (yield given)

    one = shop()
    one.add("tool_execution", coloured(giving))
    await one.run()
    assert one.done == [used]


async def test_a_value_can_stand_in_for_the_doing(shop, coloured):
    def instead(_kwargs):
        return "short"
        yield ()

    one = shop()
    one.add("tool_execution", coloured(instead))
    assert (await one.run(), one.done) == ("short", [])


async def test_a_forgotten_return_is_said_once(shop, coloured):
    def nothing(_kwargs):
        return None
        yield ()

    one = shop()
    one.add("tool_execution", coloured(nothing))
    assert [await one.run(), await one.run()] == [None, None]
    assert len(one.warnings) == 1
    assert "`return`" in one.warnings[0]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()], ids=repr)
async def test_an_interrupt_from_below_cannot_be_eaten(shop, coloured, error):
    def eating(_kwargs):
        try:
            yield ()
        except BaseException:
            return "eaten"

    one = shop()
    one.failure = error
    one.add("tool_execution", coloured(eating))
    with pytest.raises(type(error)) as caught:
        await one.run()
    assert caught.value is error


async def test_an_exit_before_calling_on_is_no_failure_to_pass_over(shop, coloured):
    def leaving(_kwargs):
        raise SystemExit(3)
        yield ()

    one = shop()
    one.add("tool_execution", coloured(leaving))
    with pytest.raises(SystemExit):
        await one.run()
    assert one.done == []


async def test_a_block_goes_through_whoever_catches_it(shop, coloured):
    def catching(_kwargs):
        try:
            yield ()
        except Exception:
            return "fallback"

    def blocking(_kwargs):
        raise Block("not today", code="budget")
        yield ()

    one = shop()
    one.add("tool_execution", coloured(catching), "outer")
    one.add("tool_execution", coloured(blocking), "inner")
    with pytest.raises(Block, match="not today") as caught:
        await one.run()
    assert (caught.value.code, caught.value.plugin, one.done) == ("budget", "inner", [])


async def test_a_closed_one_that_fails_blocks(shop, coloured):
    one = shop()
    one.add("tool_execution", coloured(raising_first), on_error="closed")
    with pytest.raises(Block, match="has to agree"):
        await one.run()
    assert one.done == []


async def test_calling_on_after_the_end_does_nothing(shop):
    kept = []
    one = shop()
    one.add("tool_execution", lambda args, next_call: kept.append(next_call) or "short")
    assert await one.run() == "short"
    with pytest.raises(NextCallMisused):
        kept[0]()
    assert one.done == []


async def test_of_two_calls_at_once_one_wins(shop):
    errors = []

    def racing(args, next_call):
        def go():
            try:
                next_call()
            except RuntimeError as error:
                errors.append(error)

        threads = [threading.Thread(target=go) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "raced"

    one = shop()
    one.add("tool_execution", racing)
    assert await one.run() == "raced"
    assert (len(one.done), len(errors)) == (1, 7)


async def test_a_callback_gets_what_it_names_and_both_versions(shop):
    seen = {}
    one = shop()
    one.add("tool_execution", lambda args, next_call: next_call({**args, "b": 2}))
    one.add("tool_execution", lambda **kwargs: seen.update(kwargs) or kwargs["next_call"]())
    await one.host.run("tool_execution", {"a": 1}, one.base, {"tool_name": "t"}, original={"a": 0})
    del seen["next_call"]
    assert seen == {
        "telemetry_schema_version": "hermes.observer.v1",
        "middleware_schema_version": "hermes.middleware.v1",
        "tool_name": "t",
        "args": {"a": 1, "b": 2},
        "original_args": {"a": 0},
    }


async def test_one_that_names_no_way_on_is_told_so_and_stands_in(shop):
    one = shop()
    one.add("tool_execution", lambda args: "short")
    assert "next_call" in one.warnings[0]
    assert await one.run() == "short"


async def test_context_variables_are_seen_in_both_directions(shop, coloured):
    above, below = contextvars.ContextVar("above"), contextvars.ContextVar("below")
    seen = []

    def reading(_kwargs):
        seen.append(above.get())
        below.set("set by the callback")
        return (yield ())

    async def base(_payload):
        seen.append((above.get(), below.get()))

    one = shop()
    one.add("tool_execution", coloured(reading))
    above.set("set by the caller")
    await one.host.run("tool_execution", {}, base, {})
    assert seen == ["set by the caller", ("set by the caller", "set by the callback")]


async def test_callbacks_that_are_not_async_share_a_thread_and_leave_the_loop_free(shop):
    threads = []

    def where(**kwargs):
        threads.append(threading.get_ident())
        return kwargs["next_call"]()

    one = shop()
    for _ in range(3):
        one.add("tool_execution", where)
    await one.run()
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


async def test_a_callback_that_returns_something_to_await_is_awaited(shop):
    async def later():
        return "later"

    one = shop()
    one.add("tool_execution", lambda **kwargs: later())
    assert await one.run() == "later"


async def test_an_interrupt_stops_what_a_threaded_callback_waits_for(shop):
    stopped, unwound, entered = [], [], asyncio.Event()

    async def base(_payload):
        entered.set()
        try:
            await asyncio.sleep(10)
        finally:
            stopped.append(True)

    def waiting(args, next_call):
        try:
            return next_call()
        finally:
            unwound.append(True)

    one = shop()
    one.add("tool_execution", waiting)
    run = asyncio.create_task(one.host.run("tool_execution", {}, base, {}))
    await entered.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (stopped, unwound) == ([True], [True])


async def test_an_interrupt_does_not_wait_for_a_callback_that_hangs(shop):
    release, entered = threading.Event(), threading.Event()

    def hanging(args, next_call):
        entered.set()
        release.wait(5)
        return next_call()

    one = shop()
    one.add("tool_execution", hanging)
    run = asyncio.create_task(one.run())
    await asyncio.to_thread(entered.wait)
    started = asyncio.get_running_loop().time()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert asyncio.get_running_loop().time() - started < 0.4
    release.set()
    await asyncio.sleep(0.05)
    assert one.done == []


async def test_registering_during_a_call_is_for_the_next_one(shop):
    one, log = shop(), []

    def registering(args, next_call):
        one.add("tool_execution", lambda args, next_call: log.append("new") or next_call())
        return next_call()

    one.add("tool_execution", registering)
    await one.run()
    assert log == []
    one.host.remove("demo")
    await one.run()
    assert (log, one.host.is_idle) == ([], True)


async def test_one_that_may_only_observe_changes_nothing(shop, coloured):
    def meddling(_kwargs):
        yield ({"a": "changed"},)
        return "changed"

    one = shop()
    one.host.add(
        [Registration(plugin="demo", kind="tool_execution", callback=coloured(meddling), observes=True)]
    )
    assert await one.run() == "done"
    assert one.done == [{"a": 1}]
    assert one.host.stats()[0].ignored == 2
