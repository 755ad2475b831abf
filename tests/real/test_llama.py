"""Three protocols against llama.cpp's own server: what we send is understood, what it answers is read."""

import subprocess
import sys
from pathlib import Path

import pytest

from hermes import discover
from hermes.agent.send import ModelClient
from hermes.events import Text
from hermes.messages import Message
from hermes.net.client import Client
from hermes.protocols import Endpoint, Provider, Request
from simulators import llama

pytestmark = pytest.mark.skipif(
    bool(llama.missing()), reason=f"{', '.join(llama.missing())} not installed: run `make test-real`"
)

MODES = {"chat_completions": "/v1", "anthropic_messages": "", "codex_responses": "/v1"}


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen(
        [sys.executable, str(Path(llama.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


async def ask(server, mode, emit, **fields):
    provider = Provider(name="real", title="Real", api_mode=mode, key_required=False)
    endpoint = Endpoint(provider=provider, model="smollm2", base_url=server + MODES[mode])
    transport = discover.load("hermes.transports", mode, "protocol").Transport()
    client = Client()
    request = Request(model="smollm2", issuer=endpoint.issuer, max_output_tokens=24, **fields)
    try:
        return await ModelClient(endpoint, transport, client).send(request, emit)
    finally:
        await client.close()


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_real_model_answers(server, mode, stream):
    shown = []
    messages = (
        Message(role="system", content="You answer in one short sentence."),
        Message(role="user", content="What is the capital of France?"),
    )
    response = await ask(server, mode, shown.append, messages=messages, stream=stream)
    assert "Paris" in response.content
    assert "".join(event.delta for event in shown if isinstance(event, Text)) == response.content
    assert response.finish_reason in ("stop", "length")
    assert response.usage.prompt_tokens > 0
    assert response.usage.completion_tokens > 0


@pytest.mark.parametrize("mode", MODES)
async def test_a_history_with_an_answer_is_taken_back(server, mode):
    messages = (
        Message(role="user", content="What is the capital of France?"),
        Message(role="assistant", content="Paris."),
        Message(role="user", content="Say its name again."),
    )
    response = await ask(server, mode, lambda _event: None, messages=messages)
    assert response.content
