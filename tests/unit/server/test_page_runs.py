"""Runs of the page over a simulated model: they go on without readers, and end when somebody says so."""

import asyncio
import json
from contextlib import aclosing

import pytest

from hermes.app import Runtime
from hermes.config import load
from hermes.errors import RequestFault, UnknownName
from hermes.hooks import Registration
from hermes.server import page_runs as module
from hermes.server.metrics import Metrics
from hermes.server.page_runs import PageRuns
from hermes.server.runs import Runs
from simulators.chat_completions import calls, fails, says
from simulators.staged import Held, StagedModel

SCRIPTS = {
    "short?": [says("Yes.")],
    "held?": [Held("One ", "two.")],
    "look?": [calls(("web_search", {"query": "scout"})), says("Found. [1]")],
    "broken?": [fails(401)],
}


@pytest.fixture
async def stage(tmp_path):
    async with StagedModel(SCRIPTS) as model:
        settings = {
            "CUSTOM_BASE_URL": model.base_url,
            "HERMES_MODEL_PROVIDER": "custom",
            "HERMES_MODEL_DEFAULT": "m",
        }
        config = load({"HERMES_HOME": str(tmp_path), "HERMES_MODEL_LOCAL_SERVERS": "false", **settings})
        async with Runtime(config) as runtime:
            runs = PageRuns(runtime, Runs(), Metrics(), ("web",))
            yield model, runtime, runs
            await runs.close()


async def told(run):
    return [json.loads(each.data) async for each in run.log.follow() if each.data]


async def until(run, kind):
    async with aclosing(run.log.follow()) as events:
        async for each in events:
            if each.data and json.loads(each.data)["type"] == kind:
                return


async def test_a_run_goes_on_when_nobody_reads_it(stage):
    _, runtime, runs = stage
    run = await runs.start("short?")
    await run.run.ended()
    events = await told(run)
    assert [event["type"] for event in events][-1] == "done"
    assert events[-1]["answer"]["text"] == "Yes."
    assert (await runtime.store().find(run.session_id)).status == "done"


async def test_model_calls_are_told_with_their_tokens_and_middleware(stage):
    _, runtime, runs = stage
    runtime.plugins  # noqa: B018 - loaded with the first conversation, and before ours here

    def hasty(request, **_):
        return {"request": {**request, "temperature": 0.5}}

    runtime.hooks.add([Registration(plugin="mine", kind="llm_request", callback=hasty)])
    run = await runs.start("look?")
    events = await told(run)
    started = [event for event in events if event["type"] == "model_started"]
    finished = [event for event in events if event["type"] == "model_finished"]
    assert [event["provider"] for event in started] == ["custom", "custom"]
    assert started[0]["middleware"] == [
        {"plugin": "mine", "callback": "hasty", "kind": "llm_request", "paths": ["/temperature"]}
    ]
    assert [event["usage"]["total_tokens"] for event in finished] == [15, 15]


async def test_the_hooks_are_used_only_while_somebody_runs(stage):
    model, runtime, runs = stage
    first, second = await runs.start("held?"), await runs.start("short?")
    await second.run.ended()
    assert runtime.hooks.listens("pre_api_request")
    model.go()
    await first.run.ended()
    assert not runtime.hooks.listens("pre_api_request")


async def test_stopping_keeps_what_was_said_and_leaves_the_model(stage):
    model, runtime, runs = stage
    run = await runs.start("held?")
    await until(run, "text")
    await runs.get(run.id).stop()
    events = await told(run)
    assert (events[-1]["type"], events[-1]["error"]["type"]) == ("failed", "Interrupted")
    assert events[-1]["partial"]["text"] == "One "
    await asyncio.wait_for(model.left.wait(), 5)
    assert (await runtime.store().find(run.session_id)).status == "interrupted"
    await run.stop()


async def test_a_session_has_one_run_at_a_time_and_then_the_next(stage):
    model, _, runs = stage
    run = await runs.start("held?")
    await until(run, "text")
    assert runs.of_session(run.session_id) is run
    with pytest.raises(RequestFault) as busy:
        await runs.start("short?", run.session_id)
    assert busy.value.status == 409
    model.go()
    await run.run.ended()
    again = await runs.start("short?", run.session_id)
    assert (again.session_id, again.before) == (run.session_id, 2)
    await again.run.ended()
    assert runs.of_session(run.session_id) is None


async def test_two_questions_at_once_to_a_session_are_not_both_taken(stage):
    _, _, runs = stage
    run = await runs.start("short?")
    await run.run.ended()
    begun = await asyncio.gather(
        *(runs.start("short?", run.session_id) for _ in range(2)), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in begun) == ["PageRun", "RequestFault"]


async def test_no_more_runs_are_begun_than_allowed(stage, monkeypatch):
    _, _, runs = stage
    monkeypatch.setattr(module, "MOST_AT_ONCE", 1)
    await runs.start("held?")
    with pytest.raises(RequestFault) as full:
        await runs.start("short?")
    assert full.value.status == 503


async def test_old_runs_are_forgotten_and_those_under_way_are_not(stage, monkeypatch):
    _, _, runs = stage
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    held = await runs.start("held?")
    ended = []
    for _ in range(3):
        ended.append(await runs.start("short?"))
        await ended[-1].run.ended()
    with pytest.raises(RequestFault) as gone:
        runs.get(ended[0].id)
    assert gone.value.status == 404
    assert runs.get(held.id) is held


async def test_runs_are_counted_by_how_they_ended(stage):
    _, _, runs = stage
    for question in ("short?", "broken?"):
        await (await runs.start(question)).run.ended()
    held = await runs.start("held?")
    await until(held, "text")
    await held.stop()
    figures = runs._metrics.text(0, 0)
    for outcome in ("done", "failed", "stopped"):
        assert f'hermes_runs_total{{outcome="{outcome}"}} 1' in figures


async def test_a_run_that_fails_says_why_and_ends(stage):
    _, _, runs = stage
    run = await runs.start("broken?")
    events = await told(run)
    assert (events[-1]["type"], events[-1]["error"]["type"]) == ("failed", "AuthFailed")
    assert run.is_over


async def test_what_cannot_begin_is_refused_at_once(stage):
    _, _, runs = stage
    with pytest.raises(UnknownName):
        await runs.start("short?", "no-such-session")


async def test_closing_stops_what_is_under_way(stage):
    _, _, runs = stage
    run = await runs.start("held?")
    await until(run, "text")
    await runs.close()
    assert run.is_over
    assert runs.of_session(run.session_id) is None
