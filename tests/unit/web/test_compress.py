"""`web.compress`: a model makes long pages shorter, its own or that of the conversation."""

import pytest

from hermes.app import Runtime
from hermes.app.api import Agent, web_extract
from hermes.config import load
from simulators.chat_completions import USAGE, ChatSimulator, calls, fails, says
from simulators.web import exa
from simulators.web.base import reads

URL = "https://a.example/long"
PAGE = "A long sentence about whales. " * 300


def settings(home, vendor, model, **more):
    return load(
        {
            "HERMES_HOME": str(home),
            "HERMES_WEB_BACKEND": "exa",
            "HERMES_WEB_COMPRESS": "true",
            "HERMES_MODEL_PROVIDER": "custom",
            "HERMES_MODEL_DEFAULT": "m",
            "CUSTOM_BASE_URL": model.base_url,
            **vendor.environ(),
            **more,
        }
    )


async def test_the_model_of_the_conversation_shortens_pages_and_the_text_is_kept(tmp_path):
    async with exa.VENDOR(reads({URL: PAGE})) as vendor, ChatSimulator(says("Whales, in short.")) as model:
        [page] = (await web_extract([URL], None, settings(tmp_path, vendor, model)))["results"]
    assert page["content"].startswith("Whales, in short.\n\n[Shortened by a model from")
    [stored] = (tmp_path / "cache" / "web").iterdir()
    assert stored.read_text() == PAGE.strip()
    asked = model.bodies[0]["messages"][-1]["content"]
    assert asked.startswith("Shorten this web page.")
    assert PAGE.strip() in asked


async def test_what_shortening_takes_counts_for_the_answer(tmp_path):
    script = (calls(("web_extract", {"urls": [URL]})), says("Whales, in short."), says("Whales. [1]"))
    async with (
        exa.VENDOR(reads({URL: PAGE})) as vendor,
        ChatSimulator(*script) as model,
        Agent(tools=["web"], config=settings(tmp_path, vendor, model)) as agent,
    ):
        answer = await agent.run("What of whales?")
    assert len(model.bodies) == 3
    assert answer.usage.total_tokens == 3 * USAGE["total_tokens"]


async def test_a_model_of_its_own_does_it_where_one_is_set(tmp_path):
    async with exa.VENDOR(reads({URL: PAGE})) as vendor, ChatSimulator(says("Short.")) as model:
        config = settings(tmp_path, vendor, model, HERMES_AUXILIARY_WEB="custom/other")
        await web_extract([URL], None, config)
    assert model.bodies[0]["model"] == "other"


async def test_a_model_that_fails_leaves_the_page_as_it_is(tmp_path):
    async with exa.VENDOR(reads({URL: PAGE})) as vendor, ChatSimulator(fails(400, "no")) as model:
        [page] = (await web_extract([URL], None, settings(tmp_path, vendor, model)))["results"]
    assert page["content"] == PAGE.strip()


@pytest.mark.parametrize("changed", [{"HERMES_WEB_COMPRESS": "false"}, {"HERMES_MODEL_PROVIDER": "scout"}])
async def test_without_the_setting_or_without_weights_nothing_is_shortened(tmp_path, changed):
    async with exa.VENDOR(reads({URL: PAGE})) as vendor, ChatSimulator(says("never asked")) as model:
        config = settings(tmp_path, vendor, model, HERMES_MODEL_DEFAULT="", **changed)
        async with Runtime(config) as runtime:
            runtime.shorten_pages()
            assert runtime.services.web_parts.compressor is None
    assert model.bodies == []
