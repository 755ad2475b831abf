"""One Hermes as the model of another: its tools are the caller's, and go through."""

import hermes
from hermes.config import load
from simulators.chat_completions import ChatSimulator, calls, says
from simulators.serving import serving, settings

SCOUT = "hermes://docs/concepts/scout.md"


def outer(home, server):
    return load(
        {
            "HERMES_HOME": str(home / "outer"),
            "HERMES_MODEL_LOCAL_SERVERS": "false",
            "CUSTOM_BASE_URL": f"{server.url}/v1",
            "CUSTOM_API_KEY": server.token,
        }
    )


async def answered(home, inner):
    async with serving(inner) as server, hermes.Agent("custom/hermes", config=outer(home, server)) as agent:
        return await agent.run("What is scout?")


async def test_the_outer_runs_its_own_tools_and_cites_its_own_sources(tmp_path):
    search = calls(("web_search", {"query": "scout", "limit": 2}), text="Let me see.")
    read = calls(("web_extract", {"urls": [SCOUT]}))
    async with ChatSimulator(search, read, says("It is a model. [1]")) as model:
        inner = settings(tmp_path / "inner", CUSTOM_BASE_URL=model.base_url, HERMES_MODEL_DEFAULT="custom/m")
        answer = await answered(tmp_path, inner)
        assert model.refusals == []
        roles = [message["role"] for message in model.bodies[-1]["messages"]]
    assert answer.text == "It is a model. [1]"
    assert [cited.url for cited in answer.citations] == [SCOUT]
    assert [message.role for message in answer.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert roles == ["system", "system", "user", "assistant", "tool", "assistant", "tool"]


async def test_scout_behind_the_server_answers_with_the_tools_of_the_outer(tmp_path):
    answer = await answered(tmp_path, settings(tmp_path / "inner"))
    assert SCOUT in [cited.url for cited in answer.citations]
