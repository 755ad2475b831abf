"""The event stream of `hermes chat --json-lines`: every line keeps the schema that the manual has of it."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest
from manual.schemas import EVENTS

from hermes.events import Answer, Failed
from simulators import anthropic_messages as messages
from simulators import chat_completions as chat
from simulators.faults import HEAD, STOP, always, cuts, first, in_turn, resets, stream, text
from simulators.scripted import Handler

SCHEMA = Path(__file__).parents[2] / "docs" / "generated" / "events.schema.json"
LOOK = chat.calls(("web_search", {"query": "scout"}), text="Let me look.")
RUNS: dict[str, tuple[Callable[[], Handler], str, int, set[str]]] = {
    "tools": (
        in_turn(LOOK, chat.says("Found. [1]", reasoning="hm")),
        "custom/m", 0, {"started", "text", "reasoning", "tool_started", "tool_finished", "used", "done"},
    ),
    "a failure": (in_turn(chat.fails(401, "no")), "custom/m", 1, {"started", "failed"}),
    "a cut": (always(cuts(HEAD, text("half"))), "custom/m", 1, {"started", "text", "failed"}),
    "a retry": (first(resets(), chat.says("hello")), "custom/m", 0, {"retry_waiting", "done"}),
    "a fallback": (
        first(cuts(chat.fails(401, "no")({})), messages.says("hello")), "custom/m", 0, {"switched", "done"}
    ),
    "another protocol": (in_turn(messages.says("hello")), "anthropic/claude-sonnet-4-5", 0, {"text", "done"}),
    "escapes": (
        in_turn(stream(text("\x1b]52;c;eA==\x07 \u202e \x9b2J"), STOP)), "custom/m", 0, {"text", "done"}
    ),
    "scout": (in_turn(chat.says("nobody asks")), "scout", 0, {"started", "done"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def schema():
    return jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("begin", "model", "code", "kinds"), RUNS.values(), ids=RUNS)
def test_every_line_keeps_the_schema(stage, inside, monkeypatch, schema, begin, model, code, kinds):
    if "switched" in kinds:
        monkeypatch.setenv("HERMES_MODEL_FALLBACK", "anthropic/claude-sonnet-4-5")
    stage.play(begin())
    exit_code, out, _ = inside.ask(model, "--json-lines")
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        schema.validate(line)
    assert exit_code == code
    assert kinds <= {line["type"] for line in lines}
    assert [line["type"] for line in lines if line["type"] in ("started", "done", "failed")] == [
        "started",
        "failed" if code else "done",
    ]
    said = "".join(line["delta"] for line in lines if line["type"] == "text")
    assert said.endswith((lines[-1].get("answer") or lines[-1]["partial"])["text"])


@pytest.mark.parametrize("kind", EVENTS)
def test_the_schema_knows_every_event_and_refuses_one_without_its_fields(schema, kind):
    tag = kind.__struct_config__.tag
    known = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"][kind.__name__]
    assert known["properties"]["type"] == {"enum": [tag]}
    assert [name for name in known["properties"] if name != "type"] == list(kind.__struct_fields__)
    assert not schema.is_valid({"type": tag})
    assert not schema.is_valid({"type": f"{tag}?"})


def test_an_error_and_a_partial_answer_are_told_in_full(stage, inside):
    stage.play(in_turn(chat.fails(429, "slow down", retry_after=3600))())
    last = json.loads(inside.ask("custom/m", "--json-lines")[1].splitlines()[-1])
    assert set(last) == {"type", *Failed.__struct_fields__}
    assert set(last["partial"]) == set(Answer.__struct_fields__)
    assert last["error"]["type"] == "RateLimited"
    assert "come back in 1 h" in last["error"]["message"]
    assert last["error"]["hint"]
