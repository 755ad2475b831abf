"""The Converse wire: one shape for the models of many makers, streamed as binary events.

What a model is given beyond the shape (its output limit, how it is asked to think, whether it takes
cache marks) depends on its family, read from its name.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from hermes.errors import ModelError
from hermes.messages import NOT_JSON, FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.base import (
    adapted_tools,
    cache_stats,
    post_json,
    read_whole,
    with_quirks,
)
from hermes.transports.base.cache import marked_messages
from hermes.transports.base.failures import NO_CODES
from hermes.transports.base.growing import Growing, GrowingJson, folded
from hermes.transports.base.names import legal
from hermes.transports.base.schema import in_words, object_schema
from hermes.transports.bedrock_converse.failures import failure
from hermes.transports.bedrock_converse.families import Family, family_of, inference, takes_schema
from hermes.transports.bedrock_converse.reply import (
    Assembler,
    decode_reply,
    map_finish_reason,
    read_usage,
)
from hermes.transports.bedrock_converse.turns import CACHE_POINT, Conversation


class Transport:
    """The protocol itself. An instance remembers what it converted, and the tool names it had to change."""

    api_mode: ApiMode = "bedrock_converse"

    def __init__(self) -> None:
        self._conversation: Growing[Conversation] = Growing()
        self._encode = GrowingJson()
        self._names: dict[str, str] = {}

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The turns of a conversation; what its system messages say at the start is no turn."""
        return folded(Conversation(""), messages).turns()

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        specs: dict[str, dict[str, Any]] = {}
        for tool in tools:
            name = legal(tool.name)
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
        said = self._conversation(
            request.messages,
            (request.issuer, family, provider.sees),
            partial(Conversation, request.issuer, family, sees=provider.sees),
        )
        kwargs: dict[str, Any] = {"modelId": request.model, "stream": request.stream}
        kwargs |= inference(request, provider, family)
        tools = self._tools(request, provider, said.called, family)
        if tools:
            point = [CACHE_POINT] if marks and family.caches_tools else []
            kwargs["toolConfig"] = {"tools": [*tools, *point]}
            if request.tool_choice == "required":
                kwargs["toolConfig"]["toolChoice"] = {"any": {}}
        system = list(said.system)
        if request.output_schema is not None and not takes_schema(provider, family):
            system.append({"text": in_words(request.output_schema)})
        if system:
            kwargs["system"] = [*system, CACHE_POINT] if marks else system
        turns = said.turns(marked_messages(self._conversation.messages) if marks else ())
        return with_quirks(kwargs, request, provider) | {"messages": turns}

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
        body = dict(kwargs)
        model = quote(body.pop("modelId"), safe="")
        operation = "converse-stream" if body.pop("stream", False) else "converse"
        url = f"{endpoint.base_url.rstrip('/')}/model/{model}/{operation}"
        return post_json(url, body, endpoint, growing="messages", encode=self._encode)

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        return Assembler(self._names)

    def normalize_response(self, response: bytes) -> NormalizedResponse:
        return read_whole(self.assembler(), response)

    def validate_response(self, response: bytes) -> bool:
        try:
            reply = decode_reply(response)
        except NOT_JSON:
            return False
        return reply.output is not None and reply.output.message is not None

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None:
        return cache_stats(read_usage(decode_reply(response).usage or {}))

    def map_finish_reason(self, reason: object) -> FinishReason:
        return map_finish_reason(reason)

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
    ) -> ModelError:
        return failure(status, body, retry_after)

    def _tools(
        self, request: Request, provider: Provider, called: Collection[str], family: Family
    ) -> list[dict[str, Any]] | None:
        """The tools; when none are offered, those the history speaks of, or its calls are refused."""
        if not family.tools:
            return None
        if request.tools:
            return self.convert_tools(adapted_tools(request.tools, provider))
        return self.convert_tools([ToolSpec(name, "", {}) for name in sorted(called)])
