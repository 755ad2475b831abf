"""The wire protocols that are measured: who speaks each, and how little it takes to read it by hand."""

import json
import struct
from collections.abc import Callable
from typing import Any

import msgspec

from hermes.config.secret import Secret
from hermes.protocols import Endpoint, Provider, ProviderTransport
from hermes.providers import anthropic, bedrock, custom, openai
from hermes.transports import anthropic_messages, bedrock_converse, chat_completions, codex_responses

KEY = "sk-bench-0123456789abcdef"

_LENGTHS = struct.Struct(">II")


class Wire(msgspec.Struct, frozen=True):
    """A protocol with the floor under it.

    `text_of` finds the text in a whole reply. `read` appends the texts of the events that have arrived,
    and returns what is left of an event that has not.
    """

    provider: Provider
    transport: Callable[[], ProviderTransport]
    text_of: Callable[[Any], str]
    read: Callable[[bytes, list[str]], bytes]
    key: Secret | None = Secret(KEY)

    @property
    def name(self) -> str:
        return self.provider.api_mode

    def endpoint(self, server: str, model: str) -> Endpoint:
        return Endpoint(provider=self.provider, model=model, base_url=server, api_key=self.key)


def _read_chat(received: bytes, texts: list[str]) -> bytes:
    *lines, rest = received.split(b"\n")
    for line in lines:
        if line.startswith(b"data: ") and line != b"data: [DONE]":
            choices = json.loads(line[6:])["choices"]
            if choices:
                texts.append(choices[0]["delta"].get("content") or "")
    return rest


def _read_messages(received: bytes, texts: list[str]) -> bytes:
    *blocks, rest = received.split(b"\n\n")
    for block in blocks:
        event = json.loads(block[block.index(b"\ndata: ") + 7 :])
        if event["type"] == "content_block_delta":
            texts.append(event["delta"]["text"])
    return rest


def _read_responses(received: bytes, texts: list[str]) -> bytes:
    *blocks, rest = received.split(b"\n\n")
    for block in blocks:
        event = json.loads(block[block.index(b"\ndata: ") + 7 :])
        if event["type"] == "response.output_text.delta":
            texts.append(event["delta"])
    return rest


def _read_converse(received: bytes, texts: list[str]) -> bytes:
    at, end = 0, len(received)
    while end - at >= _LENGTHS.size:
        length, headers = _LENGTHS.unpack_from(received, at)
        if end - at < length:
            break
        event = json.loads(received[at + 12 + headers : at + length - 4])
        if "delta" in event:
            texts.append(event["delta"]["text"])
        at += length
    return received[at:]


CHAT = Wire(
    custom.PROVIDER,
    chat_completions.Transport,
    lambda reply: reply["choices"][0]["message"]["content"],
    _read_chat,
    key=None,
)
VENDORS = (
    Wire(
        anthropic.PROVIDER,
        anthropic_messages.Transport,
        lambda reply: reply["content"][0]["text"],
        _read_messages,
    ),
    Wire(
        openai.PROVIDER,
        codex_responses.Transport,
        lambda reply: reply["output"][0]["content"][0]["text"],
        _read_responses,
    ),
    Wire(
        bedrock.PROVIDER,
        bedrock_converse.Transport,
        lambda reply: reply["output"]["message"]["content"][0]["text"],
        _read_converse,
    ),
)
"""The protocols of one vendor each. Bedrock has a key here, so that nothing is signed."""
