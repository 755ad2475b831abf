"""The typed layer: models instead of keyword arguments, and the same contract behind them."""

import asyncio

import pytest

from hermes.hooks import HookHost
from hermes.plugins import Block, CallContext, Decision, LLMRequest, Next, ToolCall, plugin
from hermes.plugins.testing import Harness


@pytest.fixture
def app():
    return plugin("demo", version="1.0", capabilities={"llm.block"})


def test_a_request_is_changed_by_a_copy(app):
    @app.llm_request
    def cold(req: LLMRequest) -> LLMRequest:
        return req.with_(temperature=0).without("stream").because("reproducible")

    ran = Harness(app.register).llm({"model": "m", "messages": [], "stream": True})
    assert ran.request == {"model": "m", "messages": [], "temperature": 0}
    assert ran.trace == ({"source": "demo", "reason": "reproducible"},)


@pytest.mark.parametrize("result", [None, "same"])
def test_none_and_the_same_request_change_nothing(app, result):
    @app.tool_request
    def look(call: ToolCall) -> ToolCall | None:
        return call if result else None

    ran = Harness(app.register).tool("terminal", {"command": "ls"})
    assert (ran.args, ran.trace, ran.warnings) == ({"command": "ls"}, (), ())


def test_a_callback_for_some_tools_sees_no_other(app):
    @app.tool_request(tools=["terminal"])
    def cwd(call: ToolCall) -> ToolCall:
        return call.with_args(workdir="/srv").without_args("shell")

    harness = Harness(app.register)
    assert harness.tool("terminal", {"command": "ls", "shell": 1}).args == {
        "command": "ls",
        "workdir": "/srv",
    }
    assert harness.tool("read_file", {"path": "x"}).args == {"path": "x"}


@pytest.mark.parametrize(
    "when", [{"session_id": "session"}, lambda context: context["session_id"] == "session"]
)
def test_tools_and_a_condition_must_both_hold(app, when):
    @app.tool_request(tools="terminal", when=when)
    def mark(call: ToolCall) -> ToolCall:
        return call.with_args(seen=True)

    harness = Harness(app.register)
    assert "seen" in harness.tool("terminal", {}).args
    assert "seen" not in harness.tool("terminal", {}, session_id="other").args


def test_an_async_callback_wraps_a_model_call(app):
    seen = []

    @app.llm_execution(priority=-10)
    async def guard(req: LLMRequest, next: Next):
        response = await next(req.with_(temperature=0))
        seen.append((req.ctx.session_id, req.ctx.model, response.content, req.original["model"]))
        return response

    ran = Harness(app.register).llm({"model": "m", "messages": []}, response="yes")
    assert ran.request["temperature"] == 0
    assert seen == [("session", "model", "yes", "m")]
    assert app.version == "1.0"
    assert app.capabilities == {"llm.block"}


def test_a_plain_callback_wraps_a_tool_call(app):
    @app.tool_execution
    def wrap(call: ToolCall, next: Next, ctx: CallContext):
        return f"{call.name} {ctx.tool_call_id}: {next(call.with_args(n=1))} {next.__class__.__name__}"

    ran = Harness(app.register).tool("terminal", {"n": 0}, result=lambda args: args["n"])
    assert ran.result == "terminal call: 1 Next"


def test_next_without_an_argument_goes_on_with_what_came(app):
    @app.tool_execution
    def wrap(call: ToolCall, next: Next):
        return next()

    assert Harness(app.register).tool("terminal", {"n": 0}).args == {"n": 0}


def test_a_block_is_never_swallowed(app):
    @app.llm_execution(priority=-1)
    def outer(req: LLMRequest, next: Next):
        try:
            return next(req)
        except Exception:
            return "a fallback"

    @app.llm_execution
    def no(req: LLMRequest, next: Next):
        raise Block("budget exceeded", code="budget")

    ran = Harness(app.register).llm()
    assert (ran.base_calls, ran.error.code, ran.error.plugin, ran.error.callback) == (
        0,
        "budget",
        "plugin",
        "no",
    )


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (Decision.allow(), None),
        (Decision.block("no"), {"action": "block", "message": "no"}),
        (Decision.approve(), {"action": "approve"}),
        (
            Decision.approve("sure?", rule_key="k"),
            {"action": "approve", "message": "sure?", "rule_key": "k"},
        ),
    ],
)
def test_a_decision_is_what_the_contract_has_for_it(app, decision, told):
    @app.hook("pre_tool_call", policy=True)
    def decide(call: ToolCall) -> Decision:
        return decision

    assert Harness(app.register).emit("pre_tool_call") == ([] if told is None else [told])


def test_a_hook_gets_the_call_and_what_else_it_names(app):
    seen = []

    @app.hook("post_tool_call")
    def tell(call: ToolCall, result, status, **rest):
        seen.append((call.name, dict(call.args), result, status, rest["duration_ms"] >= 0))

    Harness(app.register).tool("terminal", {"command": "ls"}, result="x")
    assert seen == [("terminal", {"command": "ls"}, "x", "ok", True)]


def test_callbacks_of_the_contract_can_be_decorated_too(app):
    @app.tool_request
    def seed(**kwargs):
        return {"args": {**kwargs["args"], "a": 1}}

    @app.tool_request
    def named(args, tool_name):
        return {"args": {**args, "tool": tool_name}}

    @app.hook("pre_llm_call")
    def plain(user_message):
        return user_message

    @app.hook("on_session_end")
    def nothing():
        return None

    harness = Harness(app.register)
    assert harness.tool("terminal", {}).args == {"a": 1, "tool": "terminal"}
    assert harness.emit("pre_llm_call") == ["question"]
    harness.assert_contract()


def test_names_and_annotations_in_quotes_are_understood(app):
    @app.tool_request
    def quoted(call: "ToolCall"):
        return call.with_args(a=1)

    @app.tool_request
    def bare(call):
        return call.with_args(b=call.args["a"] + 1)

    assert Harness(app.register).tool("terminal", {}).args == {"a": 1, "b": 2}
    assert [registration.callback.__name__ for registration in Harness(app.register).registrations] == [
        "quoted",
        "bare",
    ]


def test_an_answer_is_seen_piece_by_piece(app):
    @app.stream
    def shout(delta, ctx):
        return f"{delta.upper()}{ctx.session_id}" if delta else None

    host = HookHost()
    host.add(Harness(app.register).registrations)
    pieces = host.pieces({"session_id": "!"})
    assert pieces.pass_on("text", "hi") == "HI!"
    with pytest.raises(TypeError, match="must not wait"):

        @app.stream
        async def slow(delta, ctx):
            return delta


def test_a_function_stays_what_it_was(app):
    @app.tool_request
    def look(call: ToolCall):
        return call.name

    call = ToolCall(name="x", args={}, original={}, ctx=CallContext())
    assert look(call) == "x"


def test_typed_plugins_keep_the_contract(app):
    @app.llm_execution
    async def wrap(req: LLMRequest, next: Next):
        return await next(req)

    @app.tool_request
    async def later(call: ToolCall):
        await asyncio.sleep(0)

    Harness(app.register).assert_contract()
