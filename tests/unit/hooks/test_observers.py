import asyncio
import threading

import pytest

from hermes.errors import Block
from hermes.hooks import Heard


async def test_the_payload_is_made_only_for_listeners(shop):
    one, made = shop(), []

    def payload():
        made.append(1)
        return {"x": 1}

    assert await one.host.emit("post_tool_call", payload) == ()
    assert made == []
    one.add("post_tool_call", lambda **_kwargs: None)
    await one.host.emit("post_tool_call", payload)
    assert made == [1]


async def test_everybody_is_told_and_every_answer_is_kept(shop):
    one = shop()

    def broken(**_kwargs):
        raise ValueError("no")

    async def later(x):
        return x + 1

    one.add("pre_tool_call", lambda x: x, name="first")
    one.add("pre_tool_call", broken)
    one.add("pre_tool_call", lambda **_kwargs: None)
    one.add("pre_tool_call", later)
    heard = await one.host.emit("pre_tool_call", lambda: {"x": 1})
    assert heard == (Heard("demo", "first", 1), Heard("demo", "later", 2))
    assert len(one.warnings) == 1


async def test_what_is_told_cannot_be_spoiled(shop):
    seen, args = [], {"deep": {"a": 1}}

    def spoiling(args):
        args["deep"]["a"] = "spoiled"

    one = shop()
    one.add("pre_tool_call", spoiling)
    one.add(
        "pre_tool_call", lambda args, telemetry_schema_version: seen.append((args, telemetry_schema_version))
    )
    await one.host.emit("pre_tool_call", lambda: {"args": args})
    assert args == {"deep": {"a": 1}}
    assert seen == [({"deep": {"a": 1}}, "hermes.observer.v1")]


async def test_a_policy_that_fails_is_a_no_after_all_were_told(shop):
    told = []

    def broken(**_kwargs):
        raise ValueError("no")

    one = shop()
    one.add("pre_tool_call", broken, policy=True)
    one.add("pre_tool_call", lambda **_kwargs: told.append(1))
    with pytest.raises(Block, match="has to agree"):
        await one.host.emit("pre_tool_call", dict)
    assert told == [1]


async def test_a_policy_that_hangs_is_a_no_in_time_and_an_observer_is_passed_over(shop):
    release = threading.Event()
    one = shop()
    one.add("pre_tool_call", lambda **_kwargs: release.wait(5), "watcher", timeout=0.05)
    assert await one.host.emit("pre_tool_call", dict) == ()
    one.add("pre_tool_call", lambda **_kwargs: release.wait(5), "policy", timeout=0.05, policy=True)
    with pytest.raises(Block, match="in time") as caught:
        await one.host.emit("pre_tool_call", dict)
    assert caught.value.plugin == "policy"
    assert [tally.abandoned for tally in one.host.stats()] == [2, 1]
    release.set()


async def test_one_that_comes_back_late_does_not_call_the_others_again(shop):
    release, told = threading.Event(), []
    one = shop()
    one.add("post_tool_call", lambda **_kwargs: release.wait(5), "slow", timeout=0.05)
    one.add("post_tool_call", lambda **_kwargs: told.append(1))
    await one.host.emit("post_tool_call", dict)
    release.set()
    while any(tally.abandoned for tally in one.host.stats()):
        await asyncio.sleep(0.01)
    assert told == [1]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_cancellation_that_nobody_asked_for_is_a_failure_of_the_callback(shop, is_async):
    async def cancelled_inside(**_kwargs):
        raise asyncio.CancelledError

    def cancelled_in_a_thread(**_kwargs):
        raise asyncio.CancelledError

    one, told = shop(), []
    one.add("post_tool_call", cancelled_inside if is_async else cancelled_in_a_thread)
    one.add("post_tool_call", lambda **_kwargs: told.append(1))
    await one.host.emit("post_tool_call", dict)
    assert told == [1]
    assert "CancelledError" in one.warnings[0]


async def test_a_callback_whose_loop_has_ended_ends_too(shop):
    """The thread of a callback that waits for the loop does not stay for ever."""
    waiting, ended = threading.Event(), threading.Event()

    async def never():
        waiting.set()
        await asyncio.Event().wait()

    def callback(next_call):
        try:
            return next_call()
        finally:
            ended.set()

    one = shop()
    one.add("tool_execution", callback)
    loop = asyncio.new_event_loop()
    running = threading.Thread(target=_run_until, args=(loop, one, never, waiting))
    running.start()
    await asyncio.to_thread(running.join)
    assert await asyncio.to_thread(ended.wait, 5)


def _run_until(loop, one, never, waiting):
    """Run a chain, and close its loop in the middle of it."""

    async def base(_payload):
        await never()

    async def begin():
        begun.append(asyncio.ensure_future(one.host.run("tool_execution", {}, base, {})))
        await asyncio.to_thread(waiting.wait)

    begun = []
    try:
        loop.run_until_complete(begin())
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False
    finally:
        loop.close()


async def test_pieces_of_an_answer_can_be_changed_and_held_back(shop):
    held = []

    def whole_words(delta, final):
        """Gives a word only when it has ended."""
        held.append(delta)
        text = "".join(held)
        cut = len(text) if final else text.rfind(" ") + 1
        held[:] = [text[cut:]]
        return text[:cut].replace("secret", "******")

    one = shop()
    assert one.host.pieces({}) is None
    one.add("stream", whole_words)
    one.add("stream", lambda delta, ctx: delta.upper() if ctx["model"] == "m" else None)
    pieces = one.host.pieces({"model": "m"})
    out = [pieces.pass_on("text", piece) for piece in ("a sec", "ret w", "ord")]
    assert "".join([*out, pieces.end("text")]) == "A ****** WORD"


async def test_a_piece_outlives_a_callback_that_fails(shop):
    def broken(delta):
        raise ValueError("no")

    one = shop()
    one.add("stream", broken)
    one.add("stream", lambda delta: 3)
    pieces = one.host.pieces({})
    assert (pieces.pass_on("text", "a"), pieces.end("text")) == ("a", "")
    one.add("stream", broken, on_error="closed")
    with pytest.raises(Block):
        one.host.pieces({}).pass_on("text", "a")
