"""The pipelines with plugins in them, on the real loop against a strict server."""

import asyncio
import json
import threading
import time

import msgspec
import pytest

from hermes.agent.approval_hooks import ApprovalHooks
from hermes.agent.approvals import Approvals
from hermes.agent.budget import Limits
from hermes.agent.guardrail import Thresholds
from hermes.errors import Block, InvalidResponse, ModelError
from hermes.events import Text, ToolStarted
from hermes.hooks import HookHost, Options, Registration
from hermes.protocols import Concern
from simulators.chat_completions import calls, fails, says
from simulators.model import stalls
from simulators.talk import Bench

LOOK = calls(("look", {"q": "sky"}))
TOOL_HOOKS = ("pre_tool_call", "post_tool_call", "transform_tool_result")
TURN_HOOKS = (
    "on_session_start",
    "pre_llm_call",
    "transform_llm_output",
    "post_llm_call",
    "on_session_end",
    "on_session_finalize",
)
API_HOOKS = ("pre_api_request", "post_api_request", "api_request_error")


class Plugged(Bench):
    """A conversation with plugins; `log` is what they saw in their order."""

    def __init__(self, *script, **provider):
        super().__init__(*script, **provider)
        self.seen = []
        self.warnings = []
        self.hooks = HookHost(
            warn=self.warnings.append, redact=lambda text: text.replace("sk-real", "[redacted]")
        )

    async def __aenter__(self):
        await super().__aenter__()
        self.model._hooks = self.hooks
        return self

    async def __aexit__(self, *error):
        self.hooks.close()
        await super().__aexit__(*error)

    def add(self, kind, callback, plugin="demo", **options):
        self.hooks.add(
            [Registration(plugin=plugin, kind=kind, callback=callback, options=Options(**options))]
        )

    def watch(self, *hooks):
        for hook in hooks:
            self.add(hook, self._noting(hook), "watcher")

    def _noting(self, hook):
        def note(**kwargs):
            self.seen.append((hook, kwargs))

        return note

    def order(self):
        return [name for name, _ in self.seen]

    def told(self, hook):
        return [kwargs for name, kwargs in self.seen if name == hook]

    async def ask(self, question="why?", **more):
        return await super().ask(question, hooks=self.hooks, **more)

    def results(self):
        return [message.content for message in self.log.kept if message.role == "tool"]


async def test_a_model_call_goes_through_the_plugins_in_their_order():
    async with Plugged(says("Blue.")) as bench:
        seen = bench.seen
        bench.add("llm_request", lambda request, **_more: seen.append(("llm_request", request)))

        def around(request, next_call, **_more):
            seen.append(("llm_execution", request))
            response = next_call(request)
            seen.append(("back", response))
            return response

        bench.add("llm_execution", around)
        bench.watch(*API_HOOKS)
        assert (await bench.ask()).text == "Blue."
    assert bench.order() == ["llm_request", "pre_api_request", "llm_execution", "back", "post_api_request"]
    told = bench.told("post_api_request")[0]
    assert told["assistant_message"] == {"role": "assistant", "content": "Blue."}
    assert (told["finish_reason"], told["usage"]["prompt_tokens"], told["model"]) == ("stop", 10, "m")


async def test_a_rewritten_request_is_what_is_sent_and_told():
    def warmer(request, **_more):
        return {"request": {**request, "temperature": 0.5}, "source": "demo", "reason": "warmer"}

    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_request", warmer)
        bench.add(
            "llm_execution", lambda **kwargs: bench.seen.append(("run", kwargs)) or kwargs["next_call"]()
        )
        bench.watch("pre_api_request", "post_api_request")
        await bench.ask()
        assert bench.server.bodies[0]["temperature"] == 0.5
    trace = [{"source": "demo", "reason": "warmer"}]
    for _, told in bench.seen:
        assert told["middleware_trace"] == trace
        assert told["middleware_events"][0]["paths"] == ["/temperature"]
    assert bench.told("run")[0]["request"]["temperature"] == 0.5
    assert "temperature" not in bench.told("run")[0]["original_request"]
    assert bench.told("post_api_request")[0]["request"]["body"]["temperature"] == 0.5


async def test_every_attempt_is_told_and_retries_are_made_outside_of_the_chain():
    async with Plugged(fails(503), fails(503), says("Blue.")) as bench:
        wrapped = []
        bench.add("llm_execution", lambda attempt, next_call: wrapped.append(attempt) or next_call())
        bench.watch(*API_HOOKS)
        assert (await bench.ask()).text == "Blue."
        assert len(bench.server.bodies) == 3
    assert wrapped == [1, 2, 3]
    assert bench.order() == [
        *("pre_api_request", "api_request_error") * 2,
        "pre_api_request",
        "post_api_request",
    ]
    errors = bench.told("api_request_error")
    assert [(one["status_code"], one["retry_count"], one["retryable"]) for one in errors] == [
        (503, 0, True),
        (503, 1, True),
    ]
    assert errors[0]["reason"] == "overloaded"
    assert len({kwargs["api_request_id"] for _, kwargs in bench.seen}) == 1


async def test_a_block_ends_the_turn_whoever_catches_it_and_is_told_once():
    def fallback(next_call, **_more):
        try:
            return next_call()
        except Exception:
            return {"choices": [{"message": {"content": "fallback"}, "finish_reason": "stop"}]}

    def blocking(**_more):
        raise Block("the budget is spent", code="budget")

    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_execution", fallback, "outer")
        bench.add("llm_execution", blocking, "inner")
        bench.watch(*API_HOOKS)
        with pytest.raises(Block, match="the budget is spent") as caught:
            await bench.ask()
        assert bench.server.bodies == []
    assert caught.value.plugin == "inner"
    assert bench.order() == ["pre_api_request", "api_request_error"]


async def test_a_plugin_can_answer_in_the_words_of_the_wire():
    reply = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Cached."}, "finish_reason": "stop"}
        ],
    }
    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_execution", lambda **_more: reply)
        assert (await bench.ask()).text == "Cached."
        assert bench.server.bodies == []


async def test_a_forgotten_return_is_an_invalid_response_that_is_tried_again():
    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_execution", lambda next_call, **_more: next_call() and None)
        bench.watch("api_request_error")
        with pytest.raises(InvalidResponse, match="no response"):
            await bench.ask()
    assert {told["reason"] for told in bench.told("api_request_error")} == {"invalid_response"}


async def test_what_a_plugin_makes_of_a_failure_is_no_traceback():
    def translating(next_call, **_more):
        raise KeyError("gone") from None

    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_execution", translating, on_error="open")
        assert (await bench.ask()).text == "Blue."

    def after_a_failure(next_call, **_more):
        try:
            return next_call()
        except Exception:
            raise KeyError("gone") from None

    async with Plugged(fails(400, "no")) as bench:
        bench.add("llm_execution", after_a_failure)
        with pytest.raises(ModelError, match="KeyError"):
            await bench.ask()


async def test_an_interrupt_passes_through_a_plugin_that_catches_everything():
    def eating(next_call, **_more):
        try:
            return next_call()
        except BaseException:
            return None

    async with Plugged(calls(("hang", {}))) as bench:
        bench.add("llm_execution", eating)
        bench.add("tool_execution", eating)
        bench.watch("pre_tool_call", "post_tool_call", "on_session_end")
        run = asyncio.ensure_future(bench.ask())
        while not bench.tools.called:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert bench.order() == ["pre_tool_call", "post_tool_call", "on_session_end"]
    assert bench.told("post_tool_call")[0]["status"] == "cancelled"
    assert bench.told("on_session_end")[0]["interrupted"] is True
    assert bench.roles() == ["user", "assistant", "tool"]


async def test_a_tool_whose_time_is_over_is_told_as_that_and_not_as_an_interrupt():
    async with Plugged(calls(("hang", {})), says("In short.")) as bench:
        bench.watch("post_tool_call")
        answer = await bench.ask(limits=Limits(seconds=0.6))
    assert answer.text == "In short."
    told = bench.told("post_tool_call")
    assert [(one["status"], one["error_type"]) for one in told] == [("timeout", "tool_timeout")]


async def test_a_model_whose_time_is_over_is_told_as_that_and_not_as_an_interrupt():
    async with Plugged(stalls(says("so far " * 50), 0.5), says("In short.")) as bench:
        bench.watch("api_request_error")
        await bench.ask(limits=Limits(seconds=0.6))
    assert [told["reason"] for told in bench.told("api_request_error")] == ["timeout"]


async def test_an_interrupt_while_a_person_is_asked_is_told_of_the_calls_that_were_told_of():
    asked = asyncio.Event()

    async def person(_wanted):
        asked.set()
        await asyncio.Event().wait()

    async with Plugged(calls(("look", {"q": "a"}), ("look", {"q": "b"}), ("look", {"q": "c"}))) as bench:
        bench.watch("pre_tool_call", "post_tool_call")
        bench.add("pre_tool_call", lambda args, **_more: {"action": "approve"} if args["q"] == "b" else None)
        run = asyncio.ensure_future(bench.ask(approve=person))
        await asked.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    before = [told["tool_call_id"] for told in bench.told("pre_tool_call")]
    after = [told["tool_call_id"] for told in bench.told("post_tool_call")]
    assert len(before) == 2
    assert sorted(after) == before
    assert {told["status"] for told in bench.told("post_tool_call")} == {"cancelled"}


async def test_an_interrupt_during_the_news_of_an_end_tells_it_to_all():
    telling = threading.Event()

    def slow(**_more):
        telling.set()
        time.sleep(0.05)

    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("post_tool_call", slow)
        bench.watch("pre_tool_call", "post_tool_call")
        run = asyncio.ensure_future(bench.ask())
        await asyncio.to_thread(telling.wait)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert bench.order() == ["pre_tool_call", "post_tool_call"]


async def test_an_interrupt_does_not_wait_for_observers_that_hang():
    release = threading.Event()
    async with Plugged(calls(*[("hang", {"q": str(n)}) for n in range(5)])) as bench:
        for hook in ("post_tool_call", "on_session_end"):
            bench.add(hook, lambda **_more: release.wait(5))
        run = asyncio.ensure_future(bench.ask())
        while len(bench.tools.called) < 5:
            await asyncio.sleep(0.01)
        began = time.monotonic()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        took = time.monotonic() - began
        release.set()
    assert took < 0.5


@pytest.mark.parametrize("kind", ["llm_request", "pre_api_request"])
async def test_a_block_before_the_sending_is_told_as_a_failed_request(kind):
    def blocking(**_more):
        raise Block("the budget is spent", code="budget")

    async with Plugged(says("Blue.")) as bench:
        bench.add(kind, blocking)
        bench.watch("api_request_error", "post_api_request")
        with pytest.raises(Block, match="the budget is spent"):
            await bench.ask()
        assert bench.server.bodies == []
    assert bench.order() == ["api_request_error"]
    told = bench.told("api_request_error")[0]
    assert (told["reason"], told["retryable"], told["api_request_id"][-6:]) == ("block", False, ":api:1")


@pytest.mark.parametrize("hook", TOOL_HOOKS)
async def test_a_block_of_an_observer_refuses_one_call_and_keeps_its_siblings(hook):
    def blocking(args, **_more):
        if args["q"] == "a":
            raise Block("this stays here", code="leak")

    async with Plugged(calls(("look", {"q": "a"}), ("look", {"q": "b"})), says("Blue.")) as bench:
        bench.add(hook, blocking)
        bench.watch("pre_tool_call", "post_tool_call")
        assert (await bench.ask()).text == "Blue."
    assert [json.loads(bench.results()[0]), bench.results()[1]] == [{"error": "this stays here"}, "saw b"]
    ids = [told["tool_call_id"] for told in bench.told("pre_tool_call")]
    assert len(set(ids)) == 2
    assert sorted(told["tool_call_id"] for told in bench.told("post_tool_call")) == sorted(ids)


async def test_a_policy_that_fails_before_a_person_is_asked_refuses_the_call():
    def broken(**_more):
        raise ValueError("no")

    async def person(_wanted):
        return "once"

    async with Plugged(LOOK, says("Sorry.")) as bench:
        bench.add("pre_tool_call", lambda **_more: {"action": "approve"})
        bench.add("pre_approval_request", broken, policy=True)
        bench.watch("post_tool_call")
        approvals = Approvals(approve=person, listeners=[ApprovalHooks(bench.hooks, "test")])
        assert (await bench.ask(approvals=approvals)).text == "Sorry."
    assert bench.tools.called == []
    assert [told["error_type"] for told in bench.told("post_tool_call")] == ["plugin_failed"]


@pytest.mark.parametrize("hook", ["on_session_end", "on_session_finalize"])
async def test_a_no_when_all_is_over_is_said_and_loses_no_answer(hook):
    def blocking(**_more):
        raise Block("too late")

    async with Plugged(says("Blue.")) as bench:
        bench.add(hook, blocking)
        turn = bench.turn(hooks=bench.hooks)
        assert (await turn.answer("why?")).text == "Blue."
        await turn.finalize()
    assert "too late" in bench.warnings[0]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_cancellation_that_a_plugin_made_up_stops_nobody(is_async):
    async def cancelled(**_more):
        raise asyncio.CancelledError

    def cancelled_in_a_thread(**_more):
        raise asyncio.CancelledError

    made_up = cancelled if is_async else cancelled_in_a_thread
    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("tool_execution", made_up)
        assert (await bench.ask()).text == "Blue."
        assert "nobody did" in bench.results()[0]
    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_execution", made_up)
        with pytest.raises(Block, match="a plugin ended the call"):
            await bench.ask()


def unstreamed(body, _request):
    return {name: value for name, value in body.items() if not name.startswith("stream")}


async def test_pieces_of_an_answer_are_the_same_streamed_or_whole():
    shown = []
    for stream in (True, False):
        held = []

        def shout(delta, final, held=held):
            """Gives whole words only."""
            text = "".join(held) + delta
            cut = len(text) if final else text.rfind(" ") + 1
            held[:] = [text[cut:]]
            return text[:cut].replace("blue", "B L U E")

        quirks = None if stream else unstreamed
        async with Plugged(says("The sky is blue today.", chunks=7), quirks=quirks) as bench:
            bench.add("stream", shout)
            answer = await bench.ask()
            shown.append("".join(event.delta for event in bench.events if isinstance(event, Text)))
            assert bench.log.kept[-1].content == answer.text
    assert shown == ["The sky is B L U E today."] * 2


async def test_a_tool_call_goes_through_the_plugins_in_their_order():
    async with Plugged(LOOK, says("Blue.")) as bench:
        seen = bench.seen
        bench.add("tool_request", lambda **kwargs: seen.append(("tool_request", kwargs)))

        def around(next_call, **kwargs):
            seen.append(("tool_execution", kwargs))
            return next_call()

        bench.add("tool_execution", around)
        bench.watch(*TOOL_HOOKS)
        await bench.ask()
    assert bench.order() == [
        "tool_request",
        "pre_tool_call",
        "tool_execution",
        "post_tool_call",
        "transform_tool_result",
    ]
    assert bench.tools.called == [("look", {"q": "sky"})]
    for _, told in bench.seen:
        assert (told["tool_name"], told["session_id"], told["tool_call_id"]) == ("look", "s1", "call_2_0")
        assert told["turn_id"].startswith("s1:")
        assert told["api_request_id"] == f"{told['turn_id']}:api:1"
    ended = bench.told("post_tool_call")[0]
    assert (ended["status"], ended["result"], ended["args"]) == ("ok", "saw sky", {"q": "sky"})
    assert isinstance(ended["duration_ms"], int)


async def test_rewritten_arguments_are_what_all_that_follows_sees():
    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("tool_request", lambda args, **_more: {"args": {**args, "q": "sea"}, "source": "demo"})
        bench.watch(*TOOL_HOOKS)
        bench.add(
            "tool_execution", lambda **kwargs: bench.seen.append(("run", kwargs)) or kwargs["next_call"]()
        )
        await bench.ask()
        started = next(event for event in bench.events if isinstance(event, ToolStarted))
    assert bench.tools.called == [("look", {"q": "sea"})]
    assert json.loads(started.arguments) == {"q": "sea"}
    for name, told in bench.seen:
        assert told["args"] == {"q": "sea"}
        assert told["middleware_trace"] == [{"source": "demo"}], name
    assert bench.told("run")[0]["original_args"] == {"q": "sky"}


@pytest.mark.parametrize("many", [1, 3])
async def test_each_middleware_runs_once_per_call_also_side_by_side(many):
    async with Plugged(calls(*[("look", {"q": str(n)}) for n in range(many)]), says("Blue.")) as bench:
        bench.watch("pre_tool_call", "post_tool_call")
        for kind in ("tool_request", "tool_execution"):
            bench.add(kind, lambda kind=kind, **kwargs: bench.seen.append((kind, kwargs)) or _onward(kwargs))
        await bench.ask()
    assert {name: bench.order().count(name) for name in bench.order()} == dict.fromkeys(
        ("tool_request", "pre_tool_call", "tool_execution", "post_tool_call"), many
    )
    assert bench.results() == [f"saw {n}" for n in range(many)]


def _onward(kwargs):
    return kwargs["next_call"]() if "next_call" in kwargs else None


async def test_a_plugin_can_refuse_a_call_and_the_model_is_told():
    async with Plugged(LOOK, says("Sorry.")) as bench:
        bench.add("pre_tool_call", lambda **_more: {"action": "block", "message": "not now"})
        bench.watch("post_tool_call", "transform_tool_result")
        await bench.ask()
    assert (bench.tools.called, json.loads(bench.results()[0])) == ([], {"error": "not now"})
    told = bench.told("post_tool_call")[0]
    assert (told["status"], told["error_type"]) == ("blocked", "plugin_block")
    assert bench.order() == ["post_tool_call"]


async def test_a_refusal_without_words_is_none():
    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("pre_tool_call", lambda **_more: {"action": "block", "message": " "})
        await bench.ask()
    assert bench.tools.called


async def test_a_no_counts_whoever_else_would_only_ask():
    asked = []

    async def person(wanted):
        asked.append(wanted)
        return "once"

    async with Plugged(LOOK, says("Sorry.")) as bench:
        bench.add("pre_tool_call", lambda **_more: {"action": "approve"}, "first")
        bench.add("pre_tool_call", lambda **_more: {"action": "block", "message": "no"}, "second")
        await bench.ask(approve=person)
    assert (asked, bench.tools.called) == ([], [])


async def test_a_plugin_can_ask_for_a_person_and_the_answer_is_remembered_by_its_rule():
    asked = []

    async def person(wanted):
        asked.append(wanted.rules)
        return "session"

    script = [calls(("look", {"q": q})) for q in ("a", "b", "c")]
    async with Plugged(*script, says("Blue.")) as bench:
        rules = iter(["k", "k", "other"])
        bench.add("pre_tool_call", lambda **_more: {"action": "approve", "rule_key": next(rules)})
        bench.watch("pre_approval_request", "post_approval_response")
        approvals = Approvals(approve=person, listeners=[ApprovalHooks(bench.hooks, "test")])
        await bench.ask(approvals=approvals)
    assert asked == [("plugin_rule:k",), ("plugin_rule:other",)]
    assert len(bench.tools.called) == 3
    assert bench.order() == ["pre_approval_request", "post_approval_response"] * 2
    told = bench.told("post_approval_response")[0]
    assert (told["choice"], told["pattern_key"], told["session_key"]) == ("session", "plugin_rule:k", "s1")


async def test_where_nobody_can_be_asked_an_escalation_is_a_no():
    async with Plugged(LOOK, says("Sorry.")) as bench:
        bench.add("pre_tool_call", lambda **_more: {"action": "approve", "message": "look at this"})
        bench.watch("post_tool_call")
        await bench.ask()
    assert bench.tools.called == []
    assert bench.told("post_tool_call")[0]["error_type"] == "approval_denied"


@pytest.mark.parametrize("kind", ["tool_request", "tool_execution"])
async def test_what_a_plugin_changes_is_what_is_asked_about(kind):
    asked = []

    async def person(wanted):
        asked.append(wanted.action)
        return "deny"

    def judged(name, arguments):
        is_bad = arguments.get("q") == "bad"
        return Concern(kind="ask", action=arguments["q"], reason="bad", rules=("bad",)) if is_bad else None

    async with Plugged(LOOK, says("Sorry.")) as bench:
        bench.tools.concern = judged
        bench.add(kind, lambda **kwargs: _with(kwargs, {"q": "bad"}))
        bench.watch("pre_tool_call", "post_tool_call")
        await bench.ask(approve=person)
    assert (asked, bench.tools.called) == (["bad"], [])
    told = bench.told("post_tool_call")
    assert [(one["status"], one["error_type"]) for one in told] == [("blocked", "approval_denied")]


async def test_what_a_plugin_makes_harmless_is_not_asked_about():
    def judged(name, arguments):
        return Concern(kind="ask", action="x", reason="x", rules=("x",)) if arguments["q"] == "sky" else None

    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.tools.concern = judged
        bench.add("tool_request", lambda **kwargs: _with(kwargs, {"q": "fine"}))
        await bench.ask()
    assert bench.tools.called == [("look", {"q": "fine"})]


def _with(kwargs, args):
    return kwargs["next_call"](args) if "next_call" in kwargs else {"args": args}


async def test_a_value_in_the_place_of_a_tool_is_told_as_its_result_and_fenced():
    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("tool_execution", lambda **_more: {"found": "cached"})
        bench.watch("post_tool_call")
        await bench.ask()
    assert bench.tools.called == []
    assert bench.told("post_tool_call")[0]["result"] == '{"found":"cached"}'
    assert bench.results()[0].startswith("<untrusted ")


async def test_the_first_text_stands_in_for_a_result_and_nothing_else_does():
    async with Plugged(LOOK, says("Blue.")) as bench:
        bench.add("transform_tool_result", lambda **_more: {"no": "text"})

        def broken(**_more):
            raise ValueError("broken")

        bench.add("transform_tool_result", broken)
        bench.add("transform_tool_result", lambda result, **_more: result.upper())
        bench.add("transform_tool_result", lambda **_more: "second")
        await bench.ask()
    assert bench.results() == ["SAW SKY"]


@pytest.mark.parametrize(
    ("call", "status", "kind"),
    [
        (("fail", {}), "error", "tool_error"),
        (("look", {"q": "sky"}), "ok", ""),
    ],
)
async def test_every_call_that_was_told_of_is_told_of_at_its_end(call, status, kind):
    async with Plugged(calls(call), says("Blue.")) as bench:
        bench.watch("pre_tool_call", "post_tool_call")
        await bench.ask()
    told = bench.told("post_tool_call")
    assert [(one["status"], one["error_type"]) for one in told] == [(status, kind)]
    assert bench.order() == ["pre_tool_call", "post_tool_call"]


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3), Block("no")], ids=repr)
async def test_a_wrapper_that_breaks_after_the_tool_failed_is_told_to_the_model(error):
    def breaking(next_call, **_more):
        try:
            next_call()
        except Exception:
            raise error from None

    async with Plugged(calls(("fail", {})), says("Sorry.")) as bench:
        bench.add("tool_execution", breaking)
        bench.watch("pre_tool_call", "post_tool_call")
        assert (await bench.ask()).text == "Sorry."
    assert bench.order() == ["pre_tool_call", "post_tool_call"]
    assert bench.told("post_tool_call")[0]["status"] in ("error", "blocked")


async def test_arguments_that_cannot_be_read_reach_no_plugin():
    script = calls(("look", '{"q": "sky"')), says("Sorry.")
    async with Plugged(*script) as bench:
        bench.watch(*TOOL_HOOKS, "tool_request", "tool_execution")
        await bench.ask()
    assert (bench.seen, bench.tools.called) == ([], [])


async def test_a_policy_that_hangs_refuses_and_an_observer_is_passed_over():
    release = threading.Event()
    script = LOOK, calls(("look", {"q": "sea"})), says("Sorry.")
    async with Plugged(*script) as bench:
        bench.add("pre_tool_call", lambda **_more: release.wait(5), "watcher", timeout=0.05)
        when = {"args": {"q": "sea"}}
        bench.add(
            "pre_tool_call", lambda **_more: release.wait(5), "policy", policy=True, timeout=0.05, when=when
        )
        bench.watch("post_tool_call")
        assert (await bench.ask()).text == "Sorry."
        release.set()
    assert [told["status"] for told in bench.told("post_tool_call")] == ["ok", "blocked"]
    assert bench.tools.called == [("look", {"q": "sky"})]


async def test_plugins_add_to_a_question_for_the_model_alone():
    spilled = []

    def spill(text):
        spilled.append(text)
        return "/kept/here"

    long = "a" * 20_000
    async with Plugged(says("Blue.")) as bench:
        for value in ("a", {"context": "b"}, "", None, 3, long):
            bench.add("pre_llm_call", lambda value=value, **_more: value)
        await bench.ask("why?", spill=spill)
        sent = bench.server.bodies[0]["messages"]
    assert sent[-1]["content"].startswith("why?\n\na\n\nb\n\naaaa")
    assert "/kept/here" in sent[-1]["content"]
    assert len(sent[-1]["content"]) < 2_000
    assert (spilled, bench.log.kept[0].content) == ([long], "why?")


async def test_a_turn_is_told_from_its_beginning_to_its_end():
    async with Plugged(says("Blue."), says("Green.")) as bench:
        bench.watch(
            "on_session_start", "pre_llm_call", "post_llm_call", "on_session_end", "on_session_finalize"
        )
        await bench.ask()
        await bench.ask("and now?")
        await bench.turn(hooks=bench.hooks).finalize()
    turn = ["pre_llm_call", "post_llm_call", "on_session_end"]
    assert bench.order() == ["on_session_start", *turn, *turn, "on_session_finalize"]
    assert [told["is_first_turn"] for told in bench.told("pre_llm_call")] == [True, False]
    assert bench.told("post_llm_call")[1]["assistant_response"] == "Green."
    assert [told["completed"] for told in bench.told("on_session_end")] == [True, True]
    assert len({told["turn_id"] for told in bench.told("on_session_end")}) == 2


async def test_an_answer_that_a_plugin_changes_is_shown_only_as_changed():
    async with Plugged(calls(("look", {"q": "sky"}), text="Let me look."), says("Blue.")) as bench:
        bench.add("transform_llm_output", lambda response_text, **_more: response_text.upper())
        answer = await bench.ask()
        shown = [event.delta for event in bench.events if isinstance(event, Text)]
    assert (answer.text, shown) == ("BLUE.", ["Let me look.", "BLUE."])
    assert bench.log.kept[-1].content == "Blue."


async def test_a_plugin_can_ask_for_more_before_a_turn_that_changed_files_ends():
    script = calls(("look", {"path": "a.py"})), says("Done."), says("Checked."), says("Again.")
    async with Plugged(*script) as bench:
        bench.tools.effect = lambda _name: "changes"
        bench.watch("pre_verify")
        bench.add("pre_verify", lambda **_more: {"action": "continue", "message": "run the tests"})
        answer = await bench.ask(verify_nudges=2)
    assert answer.text == "Again."
    assert [(told["changed_paths"], told["attempt"]) for told in bench.told("pre_verify")] == [
        (["a.py"], 0),
        (["a.py"], 1),
    ]
    assert [m.content for m in bench.log.kept if m.role == "user"] == [
        "why?",
        "run the tests",
        "run the tests",
    ]


async def test_a_model_that_repeats_a_failing_call_is_warned_and_then_stopped():
    hard = Thresholds(hard_stop_enabled=True)
    async with Plugged(*[calls(("fail", {}))] * 6, says("I give up.")) as bench:
        bench.watch("post_tool_call")
        answer = await bench.ask(thresholds=hard)
    results = bench.results()
    assert "loop warning" not in results[0]
    assert "failed 2 times" in results[1]
    blocked = json.loads(results[5])["guardrail"]
    assert (blocked["code"], blocked["count"]) == ("repeated_exact_failure_block", 5)
    assert len(bench.tools.called) == 5
    assert bench.told("post_tool_call")[-1]["error_type"] == "guardrail_block"
    assert (answer.text, answer.complete) == ("I give up.", False)


async def test_secrets_are_not_told_and_still_sent():
    def keyed(request, **_more):
        return {"request": {**request, "extra_headers": {"x-api-key": "sk-real", "api_key": "sk-other"}}}

    async with Plugged(says("Blue.")) as bench:
        bench.add("llm_request", keyed)
        bench.watch("pre_api_request")
        await bench.ask("is it sk-real?")
        assert bench.server.headers[0]["x-api-key"] == "sk-real"
    told = bench.told("pre_api_request")[0]["request"]
    assert told["method"] == "POST"
    assert told["body"]["extra_headers"]["api_key"] == "<redacted>"
    assert "sk-real" not in json.dumps(told)


async def test_no_payload_of_a_hook_holds_a_secret_wherever_it_was_said():
    async with Plugged(
        calls(("look", {"q": "sk-real"}), ("fail", {"q": "sk-real"})), says("sk-real")
    ) as bench:
        bench.watch(*TOOL_HOOKS, *API_HOOKS, *TURN_HOOKS)
        answer = await bench.ask("is it sk-real?")
        assert bench.tools.called[0] == ("look", {"q": "sk-real"})
        assert "sk-real" in json.dumps(bench.server.bodies)
    assert answer.text == "sk-real"
    assert len({hook for hook, _ in bench.seen}) >= 9
    for hook, told in bench.seen:
        assert "sk-real" not in json.dumps(told, default=repr), hook
    assert bench.told("pre_llm_call")[0]["user_message"] == "is it [redacted]?"
    assert bench.told("pre_tool_call")[0]["args"] == {"q": "[redacted]"}


async def test_every_payload_has_its_versions_and_opaque_ids():
    def check(**kwargs):
        bench.seen.append((kwargs.get("tool_name", ""), kwargs))
        return kwargs["next_call"]() if "next_call" in kwargs else None

    async with Plugged(LOOK, says("Blue.")) as bench:
        for kind in ("llm_request", "llm_execution", "tool_request", "tool_execution"):
            bench.add(kind, check)
        for hook in (*TOOL_HOOKS, *API_HOOKS, *TURN_HOOKS):
            bench.add(hook, check)
        turn = bench.turn(hooks=bench.hooks)
        await turn.answer("why?")
        await turn.finalize()
    for _, kwargs in bench.seen:
        assert kwargs["telemetry_schema_version"] == "hermes.observer.v1"
        assert ("original_args" in kwargs or "original_request" in kwargs) == (
            "middleware_schema_version" in kwargs
        )
        for id in ("session_id", "task_id", "turn_id"):
            assert isinstance(kwargs[id], str)


async def test_calls_beside_the_conversation_go_through_the_plugins_too():
    async with Plugged(says("Blue."), says("A title")) as bench:
        bench.watch("pre_api_request")
        turn = bench.turn(hooks=bench.hooks, own=lambda _task: bench.model)
        await turn.answer("why?")
        assert await turn.title() == "A title"
    numbers = [told["api_call_count"] for told in bench.told("pre_api_request")]
    assert numbers == [1, 2]


def test_a_request_is_told_within_bounds():
    from hermes.hooks.sanitised import sanitised

    deep = value = {}
    for _ in range(20):
        value["x"] = {}
        value = value["x"]
    told = sanitised(
        {
            "deep": deep,
            "text": "a" * 9_000,
            "items": list(range(500)),
            "bytes": b"abc",
            "Proxy-Authorization": "x",
            "openai_api_key": "x",
            "odd": object(),
            "struct": Options(),
        },
        str,
    )
    assert len(told["items"]) == 200
    assert len(told["text"]) < 8_100
    assert (told["bytes"], told["Proxy-Authorization"], told["openai_api_key"]) == (
        "<3 bytes>",
        "<redacted>",
        "<redacted>",
    )
    assert "dict" in json.dumps(told["deep"])
    huge = sanitised({"items": ["a" * 7_000] * 100}, str)
    assert len(msgspec.json.encode(huge)) <= 50_100
    assert sanitised({str(n): ["a" * 900] * 60 for n in range(60)}, str)["_truncated"] is True
