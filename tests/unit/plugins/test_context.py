"""What `ctx` lends: models, tools and an ear, within what the user allowed."""

import asyncio
import threading

import pytest

from hermes.config import PluginEntry
from hermes.config.settings import ModelOverrides
from hermes.errors import NotAllowed, PluginError, UsageError
from hermes.plugins.capabilities import CAPABILITIES, held, only_observes
from hermes.plugins.context import Collected, Context, Rights
from hermes.plugins.lending import Completion, Lender
from hermes.plugins.manifest import Manifest
from hermes.protocols import ToolResult

MESSAGES = [{"role": "user", "content": "?"}]


class Run:
    def __init__(self):
        self.asked = []

    async def complete(self, asked):
        self.asked.append(asked)
        await asyncio.sleep(0)
        return Completion(text="answer")

    async def dispatch_tool(self, name, arguments, *, pipeline):
        self.asked.append((name, arguments, pipeline))
        return ToolResult("done")

    def inject_message(self, content, role):
        self.asked.append((role, content))
        return True


@pytest.fixture
def lender():
    return Lender()


@pytest.fixture
def make(lender):
    def context(capabilities=frozenset(CAPABILITIES), **entry):
        rights = Rights(capabilities=frozenset(capabilities), entry=PluginEntry(**entry))
        return Context("mine", Manifest(name="mine"), rights, lender, others=Collected())

    return context


async def test_sync_code_in_a_thread_asks_the_run_it_belongs_to(lender, make):
    ctx, run = make(), Run()

    def callback():
        return ctx.llm.complete(MESSAGES, max_tokens=5, purpose="test").text, ctx.dispatch_tool("t", {"a": 1})

    with lender.lend(run):
        assert await asyncio.to_thread(callback) == ("answer", "done")
    asked = run.asked[0]
    assert (asked.plugin, asked.messages, asked.max_tokens, asked.model) == ("mine", (MESSAGES[0],), 5, "")
    assert run.asked[1] == ("t", {"a": 1}, True)


async def test_async_code_awaits_and_does_not_block(lender, make):
    ctx, run = make(), Run()
    with lender.lend(run):
        assert (await ctx.llm.acomplete(MESSAGES)).text == "answer"
        assert await ctx.adispatch_tool("t", {}, pipeline=False) == "done"
        with pytest.raises(UsageError, match="would wait for the loop"):
            ctx.llm.complete(MESSAGES)
    assert run.asked[1] == ("t", {}, False)


async def test_data_is_asked_for_by_a_schema(lender, make):
    ctx, run = make(), Run()
    with lender.lend(run):
        await ctx.llm.acomplete_structured(
            instructions="Score it.",
            input=[{"type": "text", "text": "a"}, "b"],
            json_schema={"type": "object"},
        )
    (asked,) = run.asked
    assert asked.schema == {"type": "object"}
    assert [message["content"] for message in asked.messages] == ["Score it.", "a\n\nb"]


def test_outside_of_a_run_it_says_so(make):
    ctx = make()
    with pytest.raises(PluginError, match="needs a running conversation"):
        ctx.llm.complete(MESSAGES)
    with pytest.raises(PluginError, match="needs a running conversation"):
        ctx.dispatch_tool("t", {})
    assert ctx.inject_message("hello") is False


async def test_a_thread_of_the_plugins_own_finds_the_run(lender, make):
    ctx, run, said = make(), Run(), []
    with lender.lend(run):
        thread = threading.Thread(target=lambda: said.append(ctx.inject_message("now")))
        thread.start()
        await asyncio.to_thread(thread.join)
    assert (said, run.asked) == ([True], [("user", "now")])


async def test_two_runs_at_once_are_not_mixed_up(lender, make):
    ctx, runs = make(), [Run(), Run()]

    async def turn(run, text):
        with lender.lend(run):
            await asyncio.sleep(0)
            await asyncio.to_thread(ctx.llm.complete, [{"role": "user", "content": text}])

    await asyncio.gather(turn(runs[0], "a"), turn(runs[1], "b"))
    assert [run.asked[0].messages[0]["content"] for run in runs] == ["a", "b"]
    assert lender.host() is None


@pytest.mark.parametrize(
    ("allowed", "options", "is_allowed"),
    [
        (ModelOverrides(), {"model": "m"}, False),
        (ModelOverrides(), {"provider": "p"}, False),
        (ModelOverrides(allow_model_override=True), {"model": "m"}, True),
        (ModelOverrides(allow_model_override=True), {"model": "m", "provider": "p"}, False),
        (ModelOverrides(allow_model_override=True, allowed_models=("n",)), {"model": "m"}, False),
        (ModelOverrides(allow_model_override=True, allowed_models=("m",)), {"model": "m"}, True),
        (ModelOverrides(allow_provider_override=True, allowed_providers=("p",)), {"provider": "p"}, True),
        (ModelOverrides(), {"model": None, "provider": ""}, True),
    ],
)
async def test_another_model_has_to_be_allowed(lender, make, allowed, options, is_allowed):
    ctx = make(llm=allowed)
    with lender.lend(Run()):
        if is_allowed:
            assert (await ctx.llm.acomplete(MESSAGES, **options)).text == "answer"
        else:
            with pytest.raises(PermissionError, match="may not ask the"):
                await ctx.llm.acomplete(MESSAGES, **options)


async def test_what_was_not_granted_is_refused(lender, make):
    ctx = make({"observe"})
    with lender.lend(Run()):
        with pytest.raises(NotAllowed, match="may not ask models"):
            await ctx.llm.acomplete(MESSAGES)
        with pytest.raises(NotAllowed, match="may not speak"):
            ctx.inject_message("x")
    with pytest.raises(NotAllowed, match="may not decide"):
        ctx.register_hook("pre_tool_call", print, policy=True)
    assert not ctx.has_capability("llm.call")


def test_an_unknown_option_is_an_error_of_the_author(make):
    with pytest.raises(TypeError, match="`temprature` is no option"):
        make().llm.complete(MESSAGES, temprature=1)


@pytest.mark.parametrize(
    ("declared", "granted", "trusted", "expected"),
    [
        (None, None, False, set(CAPABILITIES) - {"tool.override"}),
        (None, ("tool.override",), True, set(CAPABILITIES) - {"tool.override"}),
        ((), None, False, {"observe"}),
        (("llm.wrap", "llm.call"), None, False, {"observe"}),
        (("llm.wrap", "llm.call"), ("llm.wrap", "tool.wrap"), False, {"observe", "llm.wrap"}),
        (("llm.wrap",), None, True, {"observe", "llm.wrap"}),
    ],
)
def test_a_plugin_holds_what_it_asked_for_and_was_given(declared, granted, trusted, expected):
    assert held(declared, granted, trusted=trusted) == expected


@pytest.mark.parametrize(
    ("kind", "capabilities", "observes"),
    [
        ("llm_request", {"observe"}, True),
        ("llm_request", {"llm.rewrite"}, False),
        ("llm_execution", {"llm.block"}, False),
        ("tool_execution", {"tool.rewrite"}, True),
        ("pre_tool_call", {"observe"}, True),
        ("pre_tool_call", {"tool.block"}, False),
        ("post_tool_call", {"observe"}, False),
        ("transform_tool_result", {"observe"}, True),
        ("pre_llm_call", {"context.inject"}, False),
        ("stream", {"observe"}, True),
    ],
)
def test_without_the_capability_a_callback_only_observes(make, kind, capabilities, observes):
    assert only_observes(kind, capabilities) is observes
    ctx = make(capabilities)
    ctx.register_middleware(kind, print)
    assert ctx.collected.registrations[0].observes is observes


def test_a_callback_may_say_itself_that_it_only_looks(make):
    ctx = make()
    ctx.register_middleware("tool_request", print, permissions=("observe",))
    ctx.register_middleware("tool_request", print, permissions=("rewrite",))
    assert [one.observes for one in ctx.collected.registrations] == [True, False]


def test_every_option_reaches_the_engine(make):
    ctx = make()
    ctx.register_middleware(
        "tool_request",
        print,
        name="n",
        priority=3,
        before="a",
        after=["b"],
        when={"tool_name": "x"},
        on_error="closed",
        timeout=2,
        breaker=None,
        max_calls=2,
    )
    options = ctx.collected.registrations[0].options
    assert (options.name, options.priority, options.before, options.after) == ("n", 3, ("a",), ("b",))
    assert (options.on_error, options.timeout, options.breaker, options.max_calls) == ("closed", 2, None, 2)
    ctx.register_hook("pre_tool_call", print, policy=True)
    assert ctx.collected.registrations[1].options.policy
