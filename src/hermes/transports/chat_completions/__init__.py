"""The chat-completions wire: the protocol that most model servers speak."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from hermes.errors import ModelError
from hermes.messages import NOT_JSON, FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.base import (
    adapted_tools,
    cache_stats,
    nearest_effort,
    output_limit,
    post_json,
    read_whole,
    temperature_of,
    with_quirks,
)
from hermes.transports.base.cache import marked_messages
from hermes.transports.base.failures import NO_CODES, read_failure
from hermes.transports.base.growing import Growing, GrowingJson, folded
from hermes.transports.base.names import legal
from hermes.transports.base.schema import is_closed
from hermes.transports.chat_completions.messages import Conversation
from hermes.transports.chat_completions.reply import Assembler, decode_event, map_finish_reason, read_usage

_PLAIN = Provider(name="", title="", api_mode="chat_completions")


class Transport:
    """The protocol itself. An instance remembers what it converted; its answers never change."""

    api_mode: ApiMode = "chat_completions"

    def __init__(self) -> None:
        self._conversation: Growing[Conversation] = Growing()
        self._encode = GrowingJson()

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        return folded(Conversation(_PLAIN, ""), messages).wire()

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        return [
            {
                "type": "function",
                "function": {
                    "name": legal(tool.name),
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in tools
        ]

    def build_kwargs(self, request: Request, provider: Provider) -> dict[str, Any]:
        """The request as the vendor's SDK would be called. `messages` stands last: the bytes before
        and the older messages stay the same from turn to turn, which is what prefix caches need."""
        kwargs: dict[str, Any] = {"model": request.model}
        limit = output_limit(request, provider)
        if limit is not None:
            kwargs[provider.max_tokens_key] = limit
        temperature = temperature_of(request, provider)
        if temperature is not None:
            kwargs["temperature"] = temperature
        if request.effort is not None and provider.efforts:
            kwargs["reasoning_effort"] = nearest_effort(request.effort, provider.efforts)
        if request.stream:
            kwargs["stream"] = True
            if provider.stream_usage:
                kwargs["stream_options"] = {"include_usage": True}
        if request.tools:
            kwargs["tools"] = self.convert_tools(adapted_tools(request.tools, provider))
            if request.tool_choice != "auto":
                kwargs["tool_choice"] = request.tool_choice
            if request.parallel is not None:
                kwargs["parallel_tool_calls"] = request.parallel
        if request.output_schema is not None:
            kwargs |= _response_format(request.output_schema, provider)
        return with_quirks(kwargs, request, provider) | {"messages": self._messages(request, provider)}

    def _messages(self, request: Request, provider: Provider) -> list[dict[str, Any]]:
        schema = request.output_schema if provider.output != "json_schema" else None
        conversation = self._conversation(
            request.messages,
            (provider, request.issuer, schema),
            partial(Conversation, provider, request.issuer, schema),
        )
        return conversation.wire(_marks(self._conversation.messages) if provider.caches else ())

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
        url = f"{endpoint.base_url.rstrip('/')}/chat/completions"
        return post_json(url, kwargs, endpoint, growing="messages", encode=self._encode)

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        return Assembler(tools)

    def normalize_response(self, response: bytes) -> NormalizedResponse:
        return read_whole(self.assembler(), response)

    def validate_response(self, response: bytes) -> bool:
        try:
            event = decode_event(response)
        except NOT_JSON:
            return False
        return event.error is None and bool(event.choices)

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None:
        return cache_stats(read_usage(decode_event(response).usage or {}))

    def map_finish_reason(self, reason: object) -> FinishReason:
        return map_finish_reason(reason)

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
    ) -> ModelError:
        return read_failure(status, body, retry_after, codes)


def _marks(messages: Sequence[Message]) -> tuple[int, ...]:
    """The messages whose end is marked: that of the instructions, and those the plan names."""
    opening = (0,) if messages and messages[0].role == "system" else ()
    return tuple(sorted({*opening, *marked_messages(messages)}))


def _response_format(schema: Mapping[str, Any], provider: Provider) -> dict[str, Any]:
    match provider.output:
        case "json_schema":
            wanted = {"name": "answer", "schema": dict(schema), "strict": is_closed(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": wanted}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
    return {}
