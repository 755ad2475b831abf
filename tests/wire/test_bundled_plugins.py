"""The plugins that come with Hermes, enabled by their names, on the real agent against a strict server."""

import asyncio
import json
import os
import stat
import subprocess
import sys

import pytest

from hermes import Agent
from hermes.config import load
from hermes.errors import Block, Interrupted
from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.model import stalls

TO_A_FILE = {"exporter": "jsonl"}
READ = calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"}))
KEY = "sk-" + "a1B2" * 6


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """Begins a talk with these plugins enabled, each with its settings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("first jo@example.org")
    (tmp_path / "b.txt").write_text("second")
    home = tmp_path / "home"

    def begin(server, **plugins):
        home.mkdir(mode=0o700, exist_ok=True)
        entries = {name.replace("_", "-"): {"settings": given} for name, given in plugins.items()}
        (home / "config.yaml").write_text(
            json.dumps({"plugins": {"enabled": [*entries], "entries": entries}})
        )
        variables = {"CUSTOM_BASE_URL": server.base_url, "CUSTOM_API_KEY": "sk-own-key-1234"}
        return Agent("custom/m", tools=["file"], config=load({"HERMES_HOME": str(home), **variables}))

    begin.home = home
    yield begin
    for name in [name for name in sys.modules if name.startswith("hermes_plugins")]:
        del sys.modules[name]


def rows(talk, *path):
    file = talk.home.joinpath("plugin-data", *path)
    return [json.loads(line) for line in file.read_text().splitlines()]


def by_name(found):
    return {row["name"]: row for row in found}


async def test_spans_of_a_turn_have_their_parents_also_side_by_side(talk):
    async with (
        ChatSimulator(READ, says("Blue.")) as server,
        talk(server, otel=TO_A_FILE) as agent,
    ):
        await agent.run("why?")
    found = rows(talk, "otel", "spans.jsonl")
    spans = [row for row in found if row["type"] == "span"]
    turn = by_name(spans)["invoke_agent hermes"]
    chats = [span for span in spans if span["name"] == "chat m"]
    tools = [span for span in spans if span["name"] == "execute_tool read_file"]
    assert (len(spans), len(chats), len(tools)) == (5, 2, 2)
    assert {span["trace_id"] for span in spans} == {turn["trace_id"]}
    assert {span["parent_span_id"] for span in (*chats, *tools)} == {turn["span_id"]}
    assert [link["span_id"] for span in tools for link in span["links"]] == [chats[0]["span_id"]] * 2
    assert len({span["attributes"]["gen_ai.tool.call.id"] for span in tools}) == 2
    assert all(turn["start"] <= span["start"] <= span["end"] <= turn["end"] for span in spans)
    told = chats[0]["attributes"]
    assert told["gen_ai.operation.name"] == "chat"
    assert (told["gen_ai.provider.name"], told["gen_ai.request.model"]) == ("custom", "m")
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (10, 5)
    assert told["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert told["gen_ai.conversation.id"] == turn["attributes"]["gen_ai.conversation.id"] != ""
    assert chats[1]["attributes"]["gen_ai.response.time_to_first_chunk"] >= 0
    assert "jo@example.org" not in json.dumps(found)
    metrics = [row for row in found if row["type"] == "metric"]
    names = [row["name"].removeprefix("gen_ai.client.") for row in metrics]
    assert {name: names.count(name) for name in names} == {
        "operation.duration": 2,
        "operation.time_to_first_chunk": 1,
        "token.usage": 4,
    }


async def test_a_plugin_that_wraps_a_call_is_a_span_within_it_with_its_own_time(talk):
    async with (
        ChatSimulator(READ, says("Blue.")) as server,
        talk(server, otel=TO_A_FILE, replay_log={}) as agent,
    ):
        await agent.run("why?")
    spans = [row for row in rows(talk, "otel", "spans.jsonl") if row["type"] == "span"]
    chats = {span["span_id"]: span for span in spans if span["name"] == "chat m"}
    frames = [span for span in spans if span["name"] == "llm_execution replay-log"]
    assert [frame["parent_span_id"] for frame in frames] == list(chats)
    for frame in frames:
        around, told = chats[frame["parent_span_id"]], frame["attributes"]
        assert around["start"] <= frame["start"] <= frame["end"] <= around["end"]
        assert 0 < told["hermes.middleware.own_time"] * 1e9 <= frame["end"] - frame["start"] + 1
        assert (told["hermes.plugin.name"], told["hermes.plugin.callback"]) == ("replay-log", "model_call")


async def test_content_is_told_on_request_and_never_a_key(talk):
    settings = {"exporter": "jsonl", "content": True}
    async with ChatSimulator(READ, says("Blue.")) as server, talk(server, otel=settings) as agent:
        await agent.run("is it sk-own-key-1234?")
    text = talk.home.joinpath("plugin-data", "otel", "spans.jsonl").read_text()
    spans = by_name(rows(talk, "otel", "spans.jsonl"))
    assert "sk-own-key-1234" not in text
    assert "[redacted]" in text
    assert "jo@example.org" in text
    assert json.loads(spans["execute_tool read_file"]["attributes"]["gen_ai.tool.call.arguments"])["path"]
    assert "Blue." in spans["chat m"]["attributes"]["gen_ai.output.messages"]


async def test_a_failed_attempt_and_a_failed_tool_are_spans_with_their_error(talk):
    script = (fails(503), calls(("read_file", {"path": "gone.txt"})), says("Blue."))
    async with ChatSimulator(*script) as server, talk(server, otel=TO_A_FILE) as agent:
        await agent.run("why?")
    spans = [row for row in rows(talk, "otel", "spans.jsonl") if row["type"] == "span"]
    failed = [span for span in spans if span["status"] == "error"]
    assert [(span["name"], span["attributes"]["error.type"]) for span in failed] == [
        ("chat m", "503"),
        ("execute_tool read_file", "tool_error"),
    ]
    assert [span["attributes"]["hermes.attempt"] for span in spans if span["name"] == "chat m"] == [1, 2, 1]


async def test_an_interrupt_closes_every_span(talk):
    script = stalls(says("so far so good " * 50), 0.5)
    async with ChatSimulator(script) as server, talk(server, otel=TO_A_FILE) as agent:
        asked = asyncio.create_task(agent.run("why?"))
        await asyncio.wait_for(server.stalled.wait(), 20)
        agent.cancel()
        with pytest.raises(Interrupted):
            await asked
    spans = by_name(rows(talk, "otel", "spans.jsonl"))
    assert spans["chat m"]["attributes"]["error.type"] == "interrupted"
    assert spans["invoke_agent hermes"]["attributes"]["error.type"] == "interrupted"
    assert spans["chat m"]["parent_span_id"] == spans["invoke_agent hermes"]["span_id"]


EMBEDDED = """
import asyncio, json, os
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from hermes import Agent

spans, reader, tracers = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(tracers)
metrics.set_meter_provider(MeterProvider([reader]))
Agent("custom/m", tools=["file"]).run_sync("why?")
measured = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
print(json.dumps({
    "spans": [json.loads(span.to_json()) for span in spans.get_finished_spans()],
    "metrics": {metric.name: metric.unit for metric in measured},
}))
"""


async def test_an_application_with_opentelemetry_gets_the_same_spans_from_its_sdk(talk, tmp_path):
    async with ChatSimulator(READ, says("Blue.")) as server:
        talk(server, otel={})
        environ = {
            "HERMES_HOME": str(talk.home),
            "CUSTOM_BASE_URL": server.base_url,
            "PATH": os.environ["PATH"],
        }
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", EMBEDDED, env=environ, cwd=tmp_path, stdout=subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(program.communicate(), 30)
    told = json.loads(out)
    spans = told["spans"]
    turn = by_name(spans)["invoke_agent hermes"]
    inner = [span for span in spans if span is not turn]
    assert sorted(span["name"] for span in inner) == [*["chat m"] * 2, *["execute_tool read_file"] * 2]
    assert {span["parent_id"] for span in inner} == {turn["context"]["span_id"]}
    assert sum(len(span["links"]) for span in inner) == 2
    assert told["metrics"] == {
        "gen_ai.client.operation.duration": "s",
        "gen_ai.client.operation.time_to_first_chunk": "s",
        "gen_ai.client.token.usage": "{token}",
    }
    assert not (talk.home / "plugin-data" / "otel").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"session_tokens": 20}, "the budget of this session is spent: 30 of 20 tokens"),
        ({"day_tokens": 1}, "the budget of this day is spent: 15 of 1 tokens"),
        ({"day_dollars": 0.01, "input_price": 1000}, "the budget of this day is spent: $0.01 of $0.01"),
        ({"session_dollars": 0}, "the budget of this session is spent: $0.00 of $0.00"),
    ],
)
async def test_a_spent_budget_stops_the_next_call(talk, settings, words):
    async with ChatSimulator(READ) as server, talk(server, budget=settings) as agent:
        with pytest.raises(Block, match=words.replace("$", r"\$")) as stopped:
            await agent.run("why?")
    assert (stopped.value.code, stopped.value.plugin) == ("budget", "budget")
    assert "plugins.entries.budget.settings" in stopped.value.hint
    assert len(server.bodies) < 3


async def test_a_day_is_shared_and_a_session_is_not(talk):
    async with ChatSimulator(says("Blue.")) as server:
        for _ in range(2):
            async with talk(server, budget={"session_tokens": 15}) as agent:
                await agent.run("why?")
        async with talk(server, budget={"day_tokens": 30}) as agent:
            with pytest.raises(Block, match="this day"):
                await agent.run("why?")
    assert stat.S_IMODE((talk.home / "plugin-data" / "budget" / "spent.db").stat().st_mode) == 0o600


async def test_a_ledger_that_cannot_be_read_counts_as_spent(talk):
    async with ChatSimulator(says("Blue.")) as server, talk(server, budget={}) as agent:
        (talk.home / "plugin-data" / "budget").mkdir(parents=True)
        (talk.home / "plugin-data" / "budget" / "spent.db").write_text("no database at all, for sure")
        with pytest.raises(Block, match="has to agree, and cannot"):
            await agent.run("why?")
    assert server.bodies == []


COUNTING = """
import sys
from hermes.plugins.budget.ledger import Ledger
ledger = Ledger(sys.argv[1])
for _ in range(50):
    ledger.add("today", "s", 0.5, 3)
"""


def test_processes_that_spend_at_once_lose_nothing(tmp_path):
    from hermes.plugins.budget.ledger import Ledger, Spent

    path = str(tmp_path / "spent.db")
    running = [subprocess.Popen([sys.executable, "-c", COUNTING, path]) for _ in range(3)]
    assert [process.wait(30) for process in running] == [0, 0, 0]
    assert Ledger(path).of_day("today") == Spent(75.0, 450)


@pytest.mark.parametrize("chunks", [1, 7, 40])
async def test_private_words_are_replaced_on_every_way(talk, chunks):
    answer = f"Ask jo@example.org, with {KEY} or call 0151 2345 6789."
    settings = {"sorts": ["keys", "emails", "numbers"]}
    script = (READ, says(answer, chunks=chunks))
    async with ChatSimulator(*script) as server, talk(server, redact=settings) as agent:
        events = [event async for event in agent.stream(f"who is me@example.org with {KEY}?")]
    shown = "".join(event.delta for event in events if type(event).__name__ == "Text")
    assert shown == "Ask [email], with [key] or call [number]."
    sent = json.dumps(server.bodies)
    assert "who is [email] with [key]?" in sent
    assert "first [email]" in sent
    assert "@example.org" not in sent
    assert events[-1].answer.text == shown


async def test_an_answer_that_breaks_off_leaves_nothing_behind_in_the_next(talk):
    async with ChatSimulator(fails(503), says("all good, bye")) as server, talk(server, redact={}) as agent:
        assert (await agent.run("why?")).text == "all good, bye"


async def test_every_call_is_written_for_replay_without_a_key(talk):
    script = (fails(503), READ, says("Blue."))
    async with ChatSimulator(*script) as server, talk(server, replay_log={}) as agent:
        answer = await agent.run("is it sk-own-key-1234?")
    (name,) = os.listdir(talk.home / "plugin-data" / "replay-log")
    file = talk.home / "plugin-data" / "replay-log" / name
    assert name == f"{answer.session_id}.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "sk-own-key-1234" not in file.read_text()
    found = rows(talk, "replay-log", name)
    assert [row["type"] for row in found] == ["model", "model", "tool", "tool", "model"]
    assert found[0]["error"]["type"]
    assert found[1]["request"]["messages"] == json.loads(
        json.dumps(server.bodies[1]["messages"]).replace("sk-own-key-1234", "[redacted]")
    )
    assert found[1]["response"]["tool_calls"][0]["name"] == "read_file"
    first, second = sorted(found[2:4], key=lambda row: row["args"]["path"])
    assert (first["args"], first["status"]) == ({"path": "a.txt"}, "ok")
    assert "first jo@example.org" in first["result"]
    assert second["args"] == {"path": "b.txt"}
    assert found[4]["response"]["content"] == "Blue."
    assert found[4]["at"]["session_id"] == answer.session_id


def test_a_full_file_is_moved_aside_and_only_the_newest_stay(tmp_path):
    from hermes.plugins.replay_log.journal import Journal

    journal = Journal(str(tmp_path), most_bytes=30, keep=3)
    for number in range(5):
        journal.write("../s", {"number": number, "words": "x" * 10})
    kept = sorted(os.listdir(tmp_path))
    assert len(kept) == 3
    assert all(name.startswith(".._s.") for name in kept)
    assert "4" in (tmp_path / ".._s.jsonl").read_text()


@pytest.mark.parametrize("name", ["otel", "budget", "redact", "replay-log"])
async def test_a_setting_that_is_unknown_is_named(talk, name):
    from hermes.plugins.loading import load_plugins

    async with ChatSimulator(says("ok")) as server:
        talk(server, **{name: {"colour": "red"}})
        (record,) = [
            one for one in load_plugins(load({"HERMES_HOME": str(talk.home)}), "").plugins if one.key == name
        ]
    assert record.state == "failed"
    assert "unknown field `colour`" in record.reason
