"""A real runtime with a plugin from its home, which asks models and calls tools during a question."""

import json
from textwrap import dedent

import pytest

from hermes.app import Runtime, Terms
from hermes.config import load
from hermes.errors import HermesError
from simulators.chat_completions import ChatSimulator, calls, says

ASKING = """
    def register(ctx):
        ctx.register_hook("post_tool_call", ask)
        ctx.register_skill("bake", __file__, "How to bake.")

        global keep
        keep = ctx
        ctx.register_tool(
            "twice", "mine", {"type": "object", "properties": {}}, twice, effect="reads"
        )

    def ask(tool_name, **_more):
        if tool_name == "twice":
            keep.llm.complete([{"role": "user", "content": "aside"}])

    def twice(args):
        return keep.dispatch_tool("skill", {"name": "asking:bake"})[:8]
"""


class Home:
    """A runtime with one plugin; `events` is what its questions brought."""

    def __init__(self, folder, server, **variables):
        plugin = folder / "home" / "plugins" / "asking"
        plugin.mkdir(parents=True)
        (folder / "home").chmod(0o700)
        (plugin / "plugin.yaml").write_text("")
        (plugin / "__init__.py").write_text(dedent(ASKING).lstrip())
        settings = folder / "home" / "config.yaml"
        settings.write_text("plugins:\n  enabled: [asking]\n")
        settings.chmod(0o600)
        environ = {"HERMES_HOME": str(folder / "home"), "CUSTOM_BASE_URL": server.base_url, **variables}
        self.runtime = Runtime(load({**environ, "HERMES_MODEL_LOCAL_SERVERS": "false"}))
        self.events = []

    async def ask(self, question="why?"):
        dialogue = self.runtime.converse(Terms(model="custom/m"))
        return await dialogue.ask(question, self.events.append)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_what_a_plugin_asks_of_models_counts_for_the_question(folder):
    async with ChatSimulator(calls(("twice", {})), says("Aside."), says("Blue.")) as server:
        home = Home(folder, server)
        async with home.runtime:
            answer = await home.ask()
        tools = {tool["function"]["name"] for tool in server.bodies[0]["tools"]}
        assert {"skill", "twice"} <= tools
        (result,) = [message for message in server.bodies[2]["messages"] if message["role"] == "tool"]
    assert result["content"] == "def regi"
    assert answer.text == "Blue."
    assert answer.usage.prompt_tokens == 30
    assert server.refusals == []


async def test_a_question_ends_where_plugins_have_spent_its_tokens(folder):
    async with ChatSimulator(calls(("twice", {})), says("Aside."), says("Enough.")) as server:
        home = Home(folder, server, HERMES_AGENT_MAX_TOKENS="25")
        async with home.runtime:
            answer = await home.ask()
        assert "limit of 25 tokens" in json.dumps(server.bodies[2]["messages"][-1])
    assert (answer.text, answer.complete) == ("Enough.", False)


async def test_a_plugin_outside_of_a_conversation_is_told_so(folder):
    async with ChatSimulator(says("Blue.")) as server:
        home = Home(folder, server)
        async with home.runtime:
            await home.ask()
            (tool,) = [tool for tool in home.runtime.plugins.tools if tool.spec.name == "twice"]
            with pytest.raises(HermesError, match="needs a running conversation"):
                await tool.run(None)
