"""`/v1/chat/completions`, with the official client on real sockets."""

import json

import openai
import pytest

from simulators.chat_completions import ChatSimulator, calls, fails, says
from simulators.serving import serving, settings


def client(server):
    return openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=server.token, max_retries=0)


async def test_smoke(tmp_path):
    script = calls(("web_search", {"query": "scout", "limit": 2}), text="Let me see."), says("It is a model. [1]")
    async with ChatSimulator(*script) as model:
        async with serving(settings(tmp_path, CUSTOM_BASE_URL=model.base_url)) as server, client(server) as ask:
            answer = await ask.chat.completions.create(
                model="custom/m", messages=[{"role": "user", "content": "what is scout?"}]
            )
            print(answer.model_dump_json(indent=1))
            stream = await ask.chat.completions.create(
                model="custom/m", messages=[{"role": "user", "content": "what is scout?"}], stream=True
            )
            async for chunk in stream:
                print(chunk.model_dump_json())
            with pytest.raises(openai.NotFoundError) as e:
                await ask.chat.completions.create(model="nonsense/m", messages=[{"role": "user", "content": "x"}])
            print(e.value)
