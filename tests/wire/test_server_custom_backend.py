"""One Hermes as the web backend of another: seed 000's endpoint, with ourselves on both ends."""

import hermes
from hermes.config import load
from simulators.chat_completions import ChatSimulator, calls, says
from simulators.serving import serving, settings
from simulators.web.base import answers
from simulators.web.tavily import Tavily

PAGE = "https://a.example/owls"
ROWS = answers([("Owls", PAGE, "They hunt at night."), ("Bats", "https://b.example/", "They hang.")])
SEARCH = calls(("web_search", {"query": "owls", "limit": 2}))


def first(home, model, vendor):
    own = {"CUSTOM_BASE_URL": model.base_url, "HERMES_MODEL_DEFAULT": "custom/m"}
    return settings(home / "first", **own, **vendor.environ(), HERMES_WEB_BACKEND="tavily")


def second(home, server, **variables):
    return load(
        {
            "HERMES_HOME": str(home / "second"),
            "HERMES_MODEL_LOCAL_SERVERS": "false",
            "HERMES_WEB_BACKEND": "custom",
            "CUSTOM_SEARCH_BASE_URL": f"{server.url}/v1",
            "CUSTOM_SEARCH_MODEL": "hermes",
            "CUSTOM_SEARCH_API_KEY": server.token,
            **variables,
        }
    )


async def test_a_second_hermes_searches_and_reads_through_the_first(tmp_path):
    script = SEARCH, says("Owls hunt at night. [1]"), says("# Owls\n\nThey hunt.")
    async with ChatSimulator(*script) as model, Tavily(ROWS) as vendor:
        async with serving(first(tmp_path, model, vendor)) as server:
            config = second(tmp_path, server)
            found = await hermes.web_search("when do owls hunt?", 3, config=config)
            read = await hermes.web_extract([PAGE], config=config)
        asked = [body["messages"][-1]["content"] for body in model.bodies]
    assert [(row["title"], row["url"]) for row in found["data"]["web"]] == [
        ("Owls", PAGE),
        ("Bats", "https://b.example/"),
    ]
    assert found["data"]["web"][0]["description"] == "They hunt at night."
    assert found["data"]["web"][0]["date"] == "2026-01-02"
    assert read["results"][0]["content"] == "# Owls\n\nThey hunt."
    assert asked[0] == "when do owls hunt?"
    assert PAGE in asked[-1]


async def test_the_agent_of_the_second_cites_what_the_first_found(tmp_path):
    outer = calls(("web_search", {"query": "when do owls hunt?"})), says("At night. [1]")
    async with (
        ChatSimulator(SEARCH, says("At night. [1]")) as near,
        ChatSimulator(*outer) as far,
        Tavily(ROWS) as vendor,
        serving(first(tmp_path, near, vendor)) as server,
    ):
        config = second(tmp_path, server, CUSTOM_BASE_URL=far.base_url)
        async with hermes.Agent("custom/m", tools=["web_search"], config=config) as agent:
            answer = await agent.run("when do owls hunt?")
    assert [cited.url for cited in answer.citations] == [PAGE]
