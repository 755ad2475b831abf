"""The harness: a plugin without a model, and the rules that it may break."""

import os
import subprocess
import sys

import pytest

from hermes.errors import Block, HermesError, PluginError
from hermes.plugins import scaffold
from hermes.plugins.testing import ContractBroken, Harness


def tags(ctx):
    def tag(request, **_):
        return {"request": {**request, "metadata": {"tag": 1}}, "source": "demo", "reason": "tagged"}

    ctx.register_middleware("llm_request", tag)


def workdir(ctx):
    def default(tool_name, args, **_):
        return {"args": {**args, "workdir": "/w"}} if tool_name == "terminal" else None

    ctx.register_middleware("tool_request", default)


def test_a_tool_call_shows_what_reached_the_tool():
    ran = Harness(workdir).tool("terminal", {"command": "ls"}, result="listing")
    assert ran.args == {"command": "ls", "workdir": "/w"}
    assert (ran.result, ran.status, ran.base_calls) == ("listing", "ok", 1)
    assert ran.trace == ({"source": "plugin"},)
    assert [heard.hook for heard in ran.heard] == ["pre_tool_call", "post_tool_call", "transform_tool_result"]
    assert ran.heard[0].payload["args"] == ran.args


def test_a_model_call_shows_what_reached_the_provider():
    ran = Harness(tags).llm({"model": "m", "messages": []}, response="hello")
    assert ran.request["metadata"] == {"tag": 1}
    assert ran.response.content == "hello"
    assert ran.trace == ({"source": "demo", "reason": "tagged"},)
    assert [heard.hook for heard in ran.heard] == ["pre_api_request", "post_api_request"]


def test_every_attempt_goes_through_the_plugin():
    calls = []
    harness = Harness(lambda ctx: ctx.register_middleware("llm_request", lambda **_: calls.append(1)))
    ran = harness.llm(fail=[TimeoutError, None])
    assert (ran.attempts, ran.base_calls, len(calls), ran.error) == (2, 2, 2, None)
    assert [heard.hook for heard in ran.heard][1] == "api_request_error"
    ran = harness.llm(fail=[TimeoutError])
    assert isinstance(ran.error, TimeoutError)


def test_a_failing_tool_is_an_error_and_is_told_once():
    ran = Harness(workdir).tool("terminal", {}, fail=ValueError("broken"))
    assert (ran.status, ran.error_type, ran.base_calls) == ("error", "ValueError", 1)
    assert "broken" in ran.error_message
    assert [heard.hook for heard in ran.heard].count("post_tool_call") == 1


@pytest.mark.parametrize(
    ("answer", "approver", "status", "calls"),
    [
        ({"action": "block", "message": "no"}, "once", "blocked", 0),
        ({"action": "block"}, None, "ok", 1),
        ({"action": "approve", "message": "sure?"}, "once", "ok", 1),
        ({"action": "approve"}, "deny", "blocked", 0),
        ({"action": "approve"}, None, "blocked", 0),
        ("nonsense", None, "ok", 1),
    ],
)
def test_hooks_decide_as_they_would(answer, approver, status, calls):
    harness = Harness(lambda ctx: ctx.register_hook("pre_tool_call", lambda **_: answer))
    ran = harness.tool("terminal", {"command": "ls"}, approver=approver)
    assert (ran.status, ran.base_calls) == (status, calls)
    assert bool(ran.asked) == bool(approver and answer["action"] == "approve")


def test_a_block_ends_a_model_call_at_once():
    def register(ctx):
        def no(**_):
            raise Block("over budget", code="budget")

        ctx.register_middleware("llm_execution", no)

    ran = Harness(register).llm(fail=[None, None])
    assert (ran.base_calls, ran.attempts, ran.error.code, ran.error.plugin) == (0, 1, "budget", "plugin")


def test_the_plugins_own_tool_is_called():
    def register(ctx):
        ctx.register_tool("double", "mine", {}, lambda args: str(args["n"] * 2))
        ctx.register_hook("transform_tool_result", lambda result, **_: f"<{result}>")

    assert Harness(register).tool("double", {"n": 4}).result == "<8>"


def test_a_plugin_can_ask_a_model_and_call_tools_in_the_harness():
    seen = {}

    def register(ctx):
        def ask(**_):
            seen["text"] = ctx.llm.complete([{"role": "user", "content": "?"}]).text
            seen["parsed"] = ctx.llm.complete_structured(instructions="x", input="y").parsed
            seen["tool"] = ctx.dispatch_tool("terminal", {})
            seen["said"] = ctx.inject_message("hello")

        ctx.register_hook("post_tool_call", ask)

    Harness(register, answers=["first", '{"a": 1}']).tool("terminal", {})
    assert seen == {"text": "first", "parsed": {"a": 1}, "tool": "ok", "said": True}


def test_a_hook_can_be_called_alone_and_observing_changes_nothing():
    def register(ctx):
        ctx.register_hook("pre_llm_call", lambda user_message, **_: user_message.upper())
        ctx.register_middleware("tool_request", lambda **_: {"args": {}})

    assert Harness(register).emit("pre_llm_call", user_message="hi") == ["HI"]
    watching = Harness(register, mode="observe").tool("terminal", {"command": "ls"})
    assert watching.args == {"command": "ls"}
    assert len(watching.warnings) == 1


async def test_it_works_within_a_running_loop():
    assert Harness(workdir).tool("terminal", {}).status == "ok"


def good(ctx):
    ctx.register_middleware("tool_request", lambda **_: None)
    ctx.register_middleware("llm_execution", lambda request, next_call, **_: next_call(request))
    ctx.register_hook("post_tool_call", lambda **_: None)


async def awaits(args, next_call, **_):
    return await next_call(args)


def recovers(args, next_call, **_):
    try:
        return next_call(args)
    except Exception:
        return "a fallback"


def translates(args, next_call, **_):
    try:
        return next_call(args)
    except Exception as error:
        raise RuntimeError("translated") from error


def blocks(**_):
    raise Block("never")


@pytest.mark.parametrize("callback", [awaits, recovers, translates, blocks, lambda **_: "instead"])
def test_good_plugins_keep_the_contract(callback):
    Harness(good).assert_contract()
    Harness(lambda ctx: ctx.register_middleware("tool_execution", callback)).assert_contract()


def twice(args, next_call, **_):
    next_call(args)
    return next_call(args)


def forgets(args, next_call, **_):
    next_call(args)


def hides(args, next_call, **_):
    try:
        return next_call(args)
    except Exception:
        return None


def swallows(args, next_call, **_):
    try:
        return next_call(args)
    except BaseException:
        return "nothing happened"


def before(**_):
    raise KeyError("before")


def after(args, next_call, **_):
    next_call(args)
    raise KeyError("after")


def text(args, next_call, **_):
    return next_call("text")


def in_place(args, **_):
    args["x"] = 1


def hangs(**_):
    import time

    time.sleep(0.3)


def needs_ids(**given):
    return None if given["session_id"] else 1 / 0


BROKEN = {
    ("tool_execution", twice): "calls `next_call` 2 times",
    ("tool_execution", forgets): "is a `return` missing?",
    ("tool_execution", hides): "it returns None, and so loses what came of it",
    ("tool_execution", swallows): "it swallows an interrupt",
    ("tool_execution", before): "it raises KeyError: 'before' (before `next_call`",
    ("tool_execution", after): "it raises KeyError: 'after' (after `next_call`",
    ("tool_execution", text): "passes on something that is no dict",
    ("llm_execution", lambda **_: {1, 2}): "which is no response",
    ("tool_request", in_place): "in place and returns nothing",
    ("tool_request", lambda **_: {"command": "ls"}): "not `{'args': {…}}` or None",
    ("tool_request", lambda **_: {"args": {"only": "this"}}): "it returns a part",
    ("llm_request", lambda **_: {"request": {"temperature": 0}}): "model, messages is lost",
    ("tool_request", hangs): "it takes longer than 0.1 seconds",
    ("tool_request", before): "it raises KeyError: 'before'",
    ("tool_request", needs_ids): "and empty ids",
    ("post_tool_call", needs_ids): "it raises ZeroDivisionError: division by zero (with empty ids)",
    ("pre_tool_call", lambda **_: {"action": "block"}): "without a `message`",
    ("pre_tool_call", lambda **_: True): "which decides nothing",
    ("transform_tool_result", lambda **_: {"a": 1}): "not text or None",
    ("stream", lambda delta: 5): "not text or None",
    ("post_tool_cal", lambda **_: None): "there is no such hook",
}


@pytest.mark.parametrize(("kind", "callback"), BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_broken_rule_is_named_with_its_callback(kind, callback):
    def register(ctx):
        good(ctx)
        ctx.register_hook(kind, callback) if kind.startswith(("p", "tr")) else ctx.register_middleware(
            kind, callback
        )

    with pytest.raises(ContractBroken) as caught:
        Harness(register, key="mine", timeout=0.1 if callback is hangs else 10).assert_contract()
    named = f"- `mine:{callback.__name__}` ({kind}): "
    lines = str(caught.value).splitlines()[1:]
    assert any(line.startswith(named) and BROKEN[kind, callback] in line for line in lines), lines
    assert callback is hangs or all(line.startswith(named) for line in lines)


def test_retry_middleware_says_that_it_calls_again():
    harness = Harness(lambda ctx: ctx.register_middleware("tool_execution", twice, max_calls=2))
    harness.assert_contract()


def test_a_callback_is_only_tried_where_it_wants_to_be_called():
    harness = Harness(
        lambda ctx: ctx.register_middleware(
            "tool_request",
            lambda args, **_: {"args": {"command": args["command"]}},
            when={"tool_name": "terminal"},
        )
    )
    harness.assert_contract()


def test_a_plugin_that_cannot_be_loaded_says_why(tmp_path):
    with pytest.raises(PluginError, match="no `plugin"):
        Harness.load(tmp_path)
    (tmp_path / "plugin.yaml").write_text("name: x")
    (tmp_path / "__init__.py").write_text("1 / 0")
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        Harness.load(tmp_path)


@pytest.mark.parametrize("name", ["my-plugin", "Other.one", "x"])
def test_a_new_plugin_comes_with_a_test_that_passes(tmp_path, name):
    path = scaffold.write(str(tmp_path), name)
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-W",
            "error",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            path,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


def test_a_new_plugin_takes_nobodys_place(tmp_path):
    scaffold.write(str(tmp_path), "mine")
    for name, words in {"mine": "is there already", "../x": "cannot be a plugin's name"}.items():
        with pytest.raises(HermesError, match=words):
            scaffold.write(str(tmp_path), name)
