"""`hermes tools`, and the tools that the settings, `--tools` and `Agent` offer."""

import pytest

from simulators.chat_completions import ChatSimulator, says


async def test_the_list_of_tools_says_what_is_offered_and_how_to_change_it(hermes):
    outcome = await hermes("tools")
    lines = outcome.out.splitlines()
    assert outcome.code == 0
    assert [line.split()[:3] for line in lines[:3]] == [
        ["✓", "web", "web_extract"],
        ["✓", "web", "web_search"],
        ["✗", "x_search", "x_search"],
    ]
    assert {line[0] for line in lines[3:]} == {"·"}
    assert any(line.endswith("Run a shell command") for line in lines)
    assert "`agent.tools` is `web, x_search`" in outcome.err
    assert "hermes config set agent.tools" in outcome.err
    assert "hermes chat --tools" in outcome.err


async def test_what_is_set_is_what_is_offered(hermes):
    assert (await hermes("config", "set", "agent.tools", "read_file, terminal")).code == 0
    listed = (await hermes("tools", "--json")).json()
    assert listed["chosen"] == ["read_file", "terminal"]
    offered = {tool["name"]: tool for tool in listed["tools"] if tool["offered"]}
    assert set(offered) == {"read_file", "terminal"}
    assert offered["terminal"]["toolset"] == "terminal"
    assert offered["terminal"]["effect"] == "changes"
    assert offered["terminal"]["lacks"] is None
    async with ChatSimulator(says("ok")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url}
        await hermes("chat", "-q", "hi", "-m", "custom/m", **variables)
        await hermes("chat", "-q", "hi", "-m", "custom/m", "--tools", "memory,web_search", **variables)
        await hermes("chat", "-q", "hi", "-m", "custom/m", "--tools", "none", **variables)
    names = [[tool["function"]["name"] for tool in body.get("tools", ())] for body in server.bodies]
    assert names == [["read_file", "terminal"], ["memory", "web_search"], []]


async def test_a_name_in_the_settings_that_means_nothing_is_said_and_the_list_goes_on(hermes):
    outcome = await hermes("tools", HERMES_AGENT_TOOLS="fiel,memory")
    assert outcome.code == 0
    assert "warning: `agent.tools` names an unknown tool `fiel`\nhint: did you mean `file`" in outcome.err
    assert outcome.out.startswith("✓\tmemory")
    asked = await hermes("chat", "-q", "hi", HERMES_AGENT_TOOLS="fiel")
    assert (asked.code, asked.out) == (2, "")
    assert "unknown tool `fiel`\nhint: did you mean `file`" in asked.err


@pytest.mark.parametrize("setting", ["none", "all"])
async def test_none_and_all_are_names_too(hermes, setting):
    tools = (await hermes("tools", "--json", HERMES_AGENT_TOOLS=setting)).json()["tools"]
    assert {tool["offered"] for tool in tools} == {setting == "all"}


async def test_a_tool_that_lacks_something_says_what(hermes, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f'cd "{gone}" && rmdir "{gone}" && exec "$PYTHON" -P -m hermes tools'
    outcome = await hermes.shell(code)
    assert outcome.code == 0
    assert "✗\tterminal\tterminal\tcannot be used: the working folder is gone" in outcome.out
