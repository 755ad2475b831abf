"""The Messages wire: content in typed blocks, thinking that is signed, cache marks on blocks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from hermes.errors import ModelError
from hermes.messages import FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.anthropic_messages.families import (
    Family,
    family_of,
    model_id,
    thinking_for,
    token_limit,
)
from hermes.transports.anthropic_messages.reply import (
    ANSWER_TOOL,
    BLOCKS,
    FINISH,
    Assembler,
    Block,
    decode_reply,
    map_finish_reason,
    read_usage,
)
from hermes.transports.anthropic_messages.turns import (
    answer_tool,
    convert_message,
    convert_system,
    legal,
    mark,
    turns_begin,
    unique_ids,
    user_turn,
)
from hermes.transports.base import (
    ConversionMemo,
    adapted_tools,
    cache_stats,
    post_json,
    read_whole,
    with_quirks,
)
from hermes.transports.base.cache import marked_messages
from hermes.transports.base.failures import NO_CODES, read_failure
from hermes.transports.base.growing import GrowingJson
from hermes.transports.base.repair import Repairer, seen_by
from hermes.transports.base.schema import object_schema, strict_schema

__all__ = ["ANSWER_TOOL", "BLOCKS", "Transport"]


class Transport:
    """The protocol itself. An instance remembers converted messages; its answers never change."""

    api_mode: ApiMode = "anthropic_messages"

    def __init__(self) -> None:
        self._memos: dict[tuple[str, bool], ConversionMemo] = {}
        self._repair = Repairer()
        self._encode = GrowingJson()

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The turns of a conversation; what its system messages say at the start is `convert_system`'s."""
        return self._convert(unique_ids(self._repair(tuple(messages))), "", signed=True)[0]

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        converted: dict[str, Block] = {}
        for tool in tools:
            name = legal(tool.name)
            if name not in converted:
                schema = object_schema(tool.parameters)
                converted[name] = {"name": name, "description": tool.description, "input_schema": schema}
        return list(converted.values())

    def build_kwargs(self, request: Request, provider: Provider) -> dict[str, Any]:
        """The request as the vendor's SDK would be called. `messages` stands last: the bytes before
        and the older messages stay the same from turn to turn, which is what prefix caches need."""
        messages = unique_ids(seen_by(provider, self._repair(request.messages)))
        model = model_id(request.model)
        family = family_of(model)
        kwargs: dict[str, Any] = {"model": model, "max_tokens": token_limit(request, provider, family)}
        if request.stream:
            kwargs["stream"] = True
        kwargs |= self._tools(request, provider, messages, family)
        kwargs |= thinking_for(request, family, kwargs)
        if request.output_schema is not None and family.schema:
            schema = strict_schema(request.output_schema)
            kwargs.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
        system = convert_system(messages)
        if system:
            kwargs["system"] = system
        kwargs = with_quirks(kwargs, request, provider)
        wire, ends = self._convert(messages, request.issuer, signed="claude-" in model)
        kwargs["messages"] = wire
        if provider.caches:
            mark(kwargs, [ends[at] for at in marked_messages(messages)])
        return kwargs

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
        base = endpoint.base_url.rstrip("/").removesuffix("/v1")
        return post_json(f"{base}/v1/messages", kwargs, endpoint, growing="messages", encode=self._encode)

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        return Assembler({legal(name): name for name in tools})

    def normalize_response(self, response: bytes) -> NormalizedResponse:
        return read_whole(self.assembler(), response)

    def validate_response(self, response: bytes) -> bool:
        try:
            reply = decode_reply(response)
        except msgspec.DecodeError:
            return False
        if reply.error is not None or reply.content is None:
            return False
        return bool(reply.content) or str(reply.stop_reason) in FINISH.keys() - {"tool_use"}

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None:
        return cache_stats(read_usage(decode_reply(response).usage or {}))

    def map_finish_reason(self, reason: object) -> FinishReason:
        return map_finish_reason(reason)

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
    ) -> ModelError:
        return read_failure(status, body, retry_after, codes)

    def _tools(
        self, request: Request, provider: Provider, messages: Sequence[Message], family: Family
    ) -> dict[str, Any]:
        tools, choice = self.convert_tools(adapted_tools(request.tools, provider)), request.tool_choice
        if request.output_schema is not None and not family.schema:
            tools.append(answer_tool(request.output_schema))
            forced = {"type": "tool", "name": ANSWER_TOOL}
            return {
                "tools": tools,
                "tool_choice": forced if len(tools) == 1 or choice == "none" else {"type": "any"},
            }
        if not tools:
            # A history with calls is only taken together with the tools it called.
            called = dict.fromkeys(call.name for message in messages for call in message.tool_calls)
            tools = self.convert_tools([ToolSpec(name, "No longer available.", {}) for name in called])
            choice = "none"
        if not tools:
            return {}
        if choice == "required" and family.forced_tools:
            return {"tools": tools, "tool_choice": {"type": "any"}}
        return {"tools": tools} | ({"tool_choice": {"type": "none"}} if choice == "none" else {})

    def _convert(
        self, messages: Sequence[Message], issuer: str, *, signed: bool
    ) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
        """The turns, and for each message the turn and the block it ends in."""
        memo = self._memos.get((issuer, signed))
        if memo is None:
            memo = ConversionMemo(lambda message: convert_message(message, issuer, signed=signed))
            self._memos[issuer, signed] = memo
        first = turns_begin(messages)
        turns: list[dict[str, Any]] = []
        ends = [(-1, -1)] * first
        if first == len(messages) or messages[first].role == "assistant":
            turns.append(user_turn("(the conversation starts here)"))
        for converted in memo.convert_all(messages[first:]):
            if turns and turns[-1]["role"] == converted["role"]:
                turns[-1] = {**converted, "content": [*turns[-1]["content"], *converted["content"]]}
            else:
                turns.append(converted)
            ends.append((len(turns) - 1, len(turns[-1]["content"]) - 1))
        if turns[-1]["role"] == "assistant":
            turns.append(user_turn("Continue."))
        return turns, ends
