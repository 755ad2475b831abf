"""Tasks beside the conversation: done by the model that is set for them, and counted for the answer."""

import asyncio

import pytest

from hermes.agent.prompt import DESCRIBE, TITLE
from hermes.agent.send import ModelClient
from hermes.events import Notice, Text
from hermes.messages import Image
from hermes.protocols import Endpoint
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import ChatSimulator, fails, says
from simulators.naps import Naps
from simulators.talk import PROVIDER, Bench

PICTURE = Image("image/png", "AAAA")


class Beside(Bench):
    """A conversation with a model, and another model for every task beside it."""

    def __init__(self, *script, task, **provider):
        super().__init__(*script, **provider)
        self.other = ChatSimulator(task)

    async def __aenter__(self):
        await self.other.__aenter__()
        endpoint = Endpoint(provider=PROVIDER, model="other", base_url=self.other.base_url)
        self.helper = ModelClient(endpoint, Transport(), self.client, sleep=Naps())
        return await super().__aenter__()

    async def __aexit__(self, *error):
        await super().__aexit__(*error)
        await self.other.__aexit__(*error)

    def asked(self):
        return self.turn(own=lambda _task: self.helper)


async def test_pictures_are_described_for_a_model_that_sees_none():
    async with Beside(says("A cat."), task=says("A cat on a mat."), sees=False) as bench:
        answer = await bench.asked().answer("What is this?", (PICTURE,))
        [shown] = bench.other.bodies
        assert shown["messages"][0]["content"][0]["text"] == DESCRIBE
        asked = bench.server.bodies[0]["messages"][-1]["content"]
        assert asked.startswith("What is this?")
        assert "A cat on a mat." in asked
        assert "".join(event.delta for event in bench.events if isinstance(event, Text)) == "A cat."
        assert answer.usage.total_tokens == 30
        assert bench.log.kept[0].images == (PICTURE,)


async def test_a_model_that_sees_needs_no_description():
    async with Beside(says("A cat."), task=says("never asked")) as bench:
        await bench.asked().answer("What is this?", (PICTURE,))
        assert bench.other.bodies == []
        assert bench.server.bodies[0]["messages"][-1]["content"][-1]["type"] == "image_url"


async def test_a_description_that_fails_is_told_and_the_question_goes_on():
    async with Beside(says("Hm."), task=fails(400, "no"), sees=False) as bench:
        assert (await bench.asked().answer("What is this?", (PICTURE,))).text == "Hm."
        assert "not described" in next(e.message for e in bench.events if isinstance(e, Notice))


async def test_a_title_is_made_by_the_model_that_is_set_for_it():
    async with Beside(says("Blue."), task=says('"The colour\n of the sky."')) as bench:
        turn = bench.asked()
        await turn.answer("What colour is the sky?")
        assert await turn.title() == "The colour of the sky"
        assert [message["content"] for message in bench.other.bodies[0]["messages"]] == [
            "What colour is the sky?",
            "Blue.",
            TITLE,
        ]


async def test_without_one_there_is_no_title_and_no_call():
    async with Bench(says("Blue.")) as bench:
        turn = bench.turn()
        await turn.answer("What colour is the sky?")
        assert await turn.title() == ""
        assert len(bench.server.bodies) == 1


async def test_a_question_that_is_interrupted_while_its_pictures_are_described_is_kept():
    async with Beside(says("Hm."), task=says("late"), sees=False) as bench:

        async def never(*_):
            await asyncio.Event().wait()

        bench.helper.send = never
        running = asyncio.ensure_future(bench.asked().answer("What is this?", (PICTURE,)))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [message.content for message in bench.log.kept] == ["What is this?"]
