"""The Converse wire: one shape for the models of many makers, streamed as binary events.

What a model is given beyond the shape (its output limit, how it is asked to think, whether it takes
cache marks) depends on its family, read from its name.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from hermes.errors import ModelError
from hermes.messages import FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.base import (
    ConversionMemo,
    adapted_tools,
    cache_stats,
    read_whole,
    request_headers,
    with_quirks,
)
from hermes.transports.base.cache import marked_messages
from hermes.transports.base.failures import NO_CODES
from hermes.transports.base.repair import Repairer, seen_by
from hermes.transports.base.schema import object_schema
from hermes.transports.bedrock_converse.families import UNKNOWN_FAMILY, Family, family_of, inference
from hermes.transports.bedrock_converse.reply import (
    Assembler,
    decode_reply,
    error_words,
    failure,
    map_finish_reason,
    read_usage,
)
from hermes.transports.bedrock_converse.turns import BLANK, convert_message, legal_name

CONTINUE = "Continue."
_CACHE_POINT = {"cachePoint": {"type": "default"}}


class Transport:
    """The protocol itself. An instance remembers converted messages and the tool names it had to change."""

    api_mode: ApiMode = "bedrock_converse"

    def __init__(self) -> None:
        self._repair = Repairer()
        self._memos: dict[tuple[str, bool, bool], ConversionMemo] = {}
        self._names: dict[str, str] = {}

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        return self._turns(messages, "", UNKNOWN_FAMILY, frozenset())

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        specs: dict[str, dict[str, Any]] = {}
        for tool in tools:
            name = legal_name(tool.name)
            if name != tool.name:
                self._names[name] = tool.name
            spec: dict[str, Any] = {"name": name}
            if tool.description.strip():
                spec["description"] = tool.description
            spec["inputSchema"] = {"json": object_schema(tool.parameters)}
            specs.setdefault(name, {"toolSpec": spec})
        return list(specs.values())

    def build_kwargs(self, request: Request, provider: Provider) -> dict[str, Any]:
        """The request as the vendor's SDK would be called, and `stream`, which chooses the operation."""
        family = family_of(request.model)
        marks = provider.caches and family.caches
        messages = seen_by(provider, self._repair(request.messages))
        leading = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
        kwargs: dict[str, Any] = {"modelId": request.model, "stream": request.stream}
        kwargs |= inference(request, provider, family)
        tools = self._tools(request, provider, messages, family)
        if tools:
            point = [_CACHE_POINT] if marks and family.caches_tools else []
            kwargs["toolConfig"] = {"tools": [*tools, *point]}
            if request.tool_choice == "required":
                kwargs["toolConfig"]["toolChoice"] = {"any": {}}
        system = [{"text": said.content} for said in messages[:leading] if (said.content or "").strip()]
        if system:
            kwargs["system"] = [*system, _CACHE_POINT] if marks else system
        kwargs = with_quirks(kwargs, request, provider)
        marked = frozenset(at - leading for at in marked_messages(messages)) if marks else frozenset()
        kwargs["messages"] = self._turns(messages[leading:], request.issuer, family, marked)
        return kwargs

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
        body = dict(kwargs)
        model = quote(body.pop("modelId"), safe="")
        operation = "converse-stream" if body.pop("stream", False) else "converse"
        return HttpRequest(
            method="POST",
            url=f"{endpoint.base_url.rstrip('/')}/model/{model}/{operation}",
            headers=request_headers(endpoint),
            body=msgspec.json.encode(body),
        )

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        return Assembler(self._names)

    def normalize_response(self, response: bytes) -> NormalizedResponse:
        return read_whole(self.assembler(), response)

    def validate_response(self, response: bytes) -> bool:
        try:
            reply = decode_reply(response)
        except msgspec.DecodeError:
            return False
        return reply.output is not None and reply.output.message is not None

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None:
        return cache_stats(read_usage(decode_reply(response).usage or {}))

    def map_finish_reason(self, reason: object) -> FinishReason:
        return map_finish_reason(reason)

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
    ) -> ModelError:
        return failure(status, error_words(body), retry_after)

    def _tools(
        self, request: Request, provider: Provider, messages: Sequence[Message], family: Family
    ) -> list[dict[str, Any]] | None:
        """The tools; when none are offered, those the history speaks of, or its calls are refused."""
        if not family.tools:
            return None
        if request.tools:
            return self.convert_tools(adapted_tools(request.tools, provider))
        called = {call.name for message in messages for call in message.tool_calls}
        return self.convert_tools([ToolSpec(name, "", {}) for name in sorted(called)])

    def _turns(
        self, messages: Sequence[Message], issuer: str, family: Family, marked: frozenset[int]
    ) -> list[dict[str, Any]]:
        """The messages by turns of user and assistant, beginning and ending with the user's."""
        key = (issuer, family.tools, family.tool_status)
        memo = self._memos.get(key)
        if memo is None:
            memo = ConversionMemo(lambda message: convert_message(message, issuer, family))
            self._memos = {key: memo}
        turns: list[dict[str, Any]] = []
        for at, converted in enumerate(memo.convert_all(messages)):
            if not turns or turns[-1]["role"] != converted["role"]:
                turns.append({"role": converted["role"], "content": []})
            turns[-1]["content"] += converted["content"]
            if at in marked and "reasoningContent" not in converted["content"][-1]:
                turns[-1]["content"].append(_CACHE_POINT)
        if not turns or turns[0]["role"] != "user":
            turns.insert(0, {"role": "user", "content": [{"text": BLANK}]})
        if turns[-1]["role"] != "user":
            turns.append({"role": "user", "content": [{"text": CONTINUE}]})
        return turns
