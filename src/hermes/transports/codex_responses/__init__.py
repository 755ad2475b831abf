"""The Responses wire: a conversation as a list of items, with encrypted reasoning sent back to its maker."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from hermes.errors import ModelError
from hermes.messages import NOT_JSON, FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.base import (
    adapted_tools,
    cache_stats,
    output_limit,
    post_json,
    read_whole,
    temperature_of,
    with_quirks,
)
from hermes.transports.base.failures import NO_CODES, read_failure
from hermes.transports.base.growing import Growing, GrowingJson, folded
from hermes.transports.base.names import legal
from hermes.transports.base.schema import in_words, is_closed
from hermes.transports.codex_responses.families import samples, thinking
from hermes.transports.codex_responses.items import Conversation
from hermes.transports.codex_responses.reply import FINISH, Assembler, decode_response, read_usage

_LEAST_OUTPUT = 16


class Transport:
    """The protocol itself. An instance remembers what it converted; its answers never change."""

    api_mode: ApiMode = "codex_responses"

    def __init__(self) -> None:
        self._conversation: Growing[Conversation] = Growing()
        self._encode = GrowingJson()

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The input items. A system message at the very start is none: it becomes the instructions."""
        return folded(Conversation(""), messages).items()

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        return [
            {
                "type": "function",
                "name": legal(tool.name),
                "description": tool.description,
                "strict": False,
                "parameters": dict(tool.parameters),
            }
            for tool in tools
            if tool.name
        ]

    def build_kwargs(self, request: Request, provider: Provider) -> dict[str, Any]:
        """The request as the vendor's SDK would be called. `input` stands last: the bytes before and
        the older items stay the same from turn to turn, which is what prefix caches need."""
        said = self._conversation(
            request.messages,
            (request.issuer, provider.sees),
            partial(Conversation, request.issuer, sees=provider.sees),
        )
        kwargs: dict[str, Any] = {"model": request.model, "store": False}
        schema, takes_schema = request.output_schema, provider.output == "json_schema"
        spoken_schema = in_words(schema) if schema is not None and not takes_schema else ""
        instructions = "\n\n".join(filter(None, (said.instructions, spoken_schema)))
        if instructions:
            kwargs["instructions"] = instructions
        kwargs |= _sampling(request, provider) | thinking(request.model, request.effort)
        if schema is not None and takes_schema:
            kwargs["text"] = {"format": _output_format(schema)}
        if tools := self.convert_tools(adapted_tools(request.tools, provider)):
            kwargs |= {"tools": tools, "tool_choice": request.tool_choice}
            kwargs["parallel_tool_calls"] = request.parallel is not False
        if provider.caches:
            kwargs["prompt_cache_key"] = cache_key(instructions, tools)
        return with_quirks(kwargs, request, provider) | {"input": said.items()}

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
        url = f"{endpoint.base_url.rstrip('/')}/responses"
        return post_json(url, kwargs, endpoint, growing="input", encode=self._encode)

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        return Assembler({legal(name): name for name in tools})

    def normalize_response(self, response: bytes) -> NormalizedResponse:
        return read_whole(self.assembler(), response)

    def validate_response(self, response: bytes) -> bool:
        try:
            reply = decode_response(response)
        except NOT_JSON:
            return False
        if reply.error is not None or reply.status in ("failed", "cancelled"):
            return False
        why = reply.incomplete_details.reason if reply.incomplete_details else None
        return bool(reply.output) or (reply.status == "incomplete" and why == "content_filter")

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None:
        return cache_stats(read_usage(decode_response(response).usage or {}))

    def map_finish_reason(self, reason: object) -> FinishReason:
        """One of the closed set; what nobody knows counts as an ordinary end."""
        return FINISH.get(str(reason).lower(), "stop")

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
    ) -> ModelError:
        return read_failure(status, body, retry_after, codes)


def _sampling(request: Request, provider: Provider) -> dict[str, Any]:
    """How long the answer may be, how it is drawn, and whether it comes in pieces."""
    fields: dict[str, Any] = {}
    limit, temperature = output_limit(request, provider), temperature_of(request, provider)
    if limit is not None:
        fields["max_output_tokens"] = max(limit, _LEAST_OUTPUT)
    if temperature is not None and samples(request.model):
        fields["temperature"] = temperature
    if request.stream:
        fields["stream"] = True
    return fields


def cache_key(instructions: str, tools: Sequence[Mapping[str, Any]]) -> str:
    """Which cache to look in: the same for every session with these instructions and tools."""
    known = sorted(msgspec.json.encode(tool, order="deterministic") for tool in tools)
    digest = hashlib.sha256(b"\0".join((instructions.encode(errors="replace"), *known))).hexdigest()
    return f"pck_{digest[:24]}"


def _output_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "name": "answer", "schema": dict(schema), "strict": is_closed(schema)}
