"""Plugins in the shapes that the contract describes, unedited, on the real agent and a strict server."""

import json
import shutil
from pathlib import Path

import pytest

from hermes.plugins.testing import Harness
from simulators.chat_completions import ChatSimulator, Extras, calls, says

PLUGINS = Path(__file__).parents[1] / "plugins"
TAKES_TAGS = Extras(fields=frozenset({"extra_body", "metadata"}))
LIST = calls(("terminal", {"command": "pwd"}))


@pytest.fixture
def enabled(hermes):
    async def enable(*names):
        hermes.home.mkdir(mode=0o700, exist_ok=True)
        for name in names:
            shutil.copytree(PLUGINS / name, hermes.home / "plugins" / name)
            assert (await hermes("plugins", "enable", name)).code == 0

    return enable


@pytest.fixture
def chat(hermes):
    async def ask(*script, extras=None, tools="terminal"):
        async with ChatSimulator(*script, extras=extras) as server:
            ran = await hermes(
                "chat", "-q", "go", "-m", "custom/m", "--tools", tools, CUSTOM_BASE_URL=server.base_url
            )
        return ran, server

    return ask


@pytest.mark.parametrize("name", sorted(path.name for path in PLUGINS.iterdir()))
def test_each_keeps_the_contract(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    Harness.load(PLUGINS / name).assert_contract()


async def test_a_tagged_request_reaches_the_provider(enabled, chat, hermes):
    await enabled("llm_tagger", "all_kinds")
    ran, server = await chat(says("done"), extras=TAKES_TAGS)
    assert (ran.code, ran.out) == (0, "done\n")
    (body,) = server.bodies
    tags = body.get("metadata") or body["extra_body"]["metadata"]
    assert tags["tagged_by_plugin"] is True
    (seen,) = [note for note in noted(hermes) if note["name"] == "pre_api_request"]
    assert seen["middleware_trace"] == [{"source": "llm-tagger", "reason": "tagged the request"}]


async def test_a_defaulted_folder_is_what_everybody_sees(enabled, chat, hermes):
    (hermes.home.parent / "inside").mkdir()
    await enabled("terminal_folder", "all_kinds")
    ran, server = await chat(LIST, says("done"))
    assert ran.out == "done\n"
    assert str(hermes.home.parent / "inside") in server.bodies[1]["messages"][-1]["content"]
    for note in noted(hermes):
        if note["name"] in ("pre_tool_call", "tool_execution", "post_tool_call"):
            assert note["args"]["workdir"] == "inside"
            assert note["middleware_trace"] == [
                {"source": "terminal-folder", "reason": "defaulted the folder"}
            ]


async def test_a_timed_call_and_a_noted_tool_change_nothing(enabled, chat):
    await enabled("llm_timer", "tool_notes")
    ran, server = await chat(LIST, says("done"))
    assert (ran.code, ran.out, len(server.bodies)) == (0, "done\n", 2)
    assert ran.err.count("the model took ") == 2
    assert ran.err.count("the tool terminal gave ") == 1


async def test_the_order_and_the_ids_of_every_call(enabled, chat, hermes):
    await enabled("all_kinds")
    await chat(LIST, says("done"))
    notes = noted(hermes)
    model = ["llm_request", "pre_api_request", "llm_execution", "post_api_request"]
    tool = ["tool_request", "pre_tool_call", "tool_execution", "post_tool_call", "transform_tool_result"]
    assert [note["name"] for note in notes] == [*model, *tool, *model]
    for note in notes:
        assert note["telemetry_schema_version"] == "hermes.observer.v1"
        if note["name"].endswith(("_request", "_execution")) and "api" not in note["name"]:
            assert note["middleware_schema_version"] == "hermes.middleware.v1"
        assert all(isinstance(note[name], str) for name in ("session_id", "task_id", "turn_id"))
    assert {note["tool_call_id"] for note in notes if note["name"] in tool} == {"call_2_0"}


async def test_an_exporter_sees_every_beginning_and_its_end(enabled, chat, hermes):
    await enabled("telemetry")
    ran, _ = await chat(LIST, says("done"))
    assert ran.out == "done\n"
    spans = (hermes.home / "spans.txt").read_text().splitlines()
    assert [spans.count(f"llm {end}") for end in ("begins", "ends")] == [2, 2]
    assert [spans.count(f"tool {end}") for end in ("begins", "ends")] == [1, 1]
    assert "on_session_end hermes.observer.v1" in spans


async def test_all_of_them_together_answer_as_none_of_them(enabled, chat, hermes):
    (hermes.home.parent / "inside").mkdir()
    await enabled(*(path.name for path in PLUGINS.iterdir()))
    ran, _ = await chat(LIST, says("done"), extras=TAKES_TAGS)
    assert (ran.code, ran.out) == (0, "done\n")


async def test_a_plugin_uses_the_run_it_is_part_of(hermes, chat):
    folder = hermes.home / "plugins" / "user"
    folder.mkdir(parents=True)
    hermes.home.chmod(0o700)
    (folder / "plugin.yaml").write_text("name: user\n")
    (folder / "__init__.py").write_text(
        """
def register(ctx):
    def ask(args, **kwargs):
        answer = ctx.llm.complete([{"role": "user", "content": "a question of its own"}])
        place = ctx.dispatch_tool("terminal", {"command": "echo from the tool"})
        return {"model": answer.text, "tool": place, "session": kwargs["session_id"]}

    ctx.register_tool("ask_around", "user", {"parameters": {"properties": {}}}, ask, description="Ask.")
"""
    )
    await hermes("plugins", "enable", "user")
    ran, server = await chat(
        calls(("ask_around", {})), says("an answer of its own"), says("done"), tools="user,terminal"
    )
    assert (ran.code, ran.out) == (0, "done\n")
    assert server.bodies[1]["messages"][-1]["content"] == "a question of its own"
    result = server.bodies[2]["messages"][-1]["content"]
    assert "an answer of its own" in result
    assert "from the tool" in result


def noted(hermes):
    return [json.loads(line) for line in (hermes.home / "noted.jsonl").read_text().splitlines()]
