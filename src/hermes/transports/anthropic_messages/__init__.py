"""The Messages wire: content in typed blocks, thinking that is signed, cache marks on blocks."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from hermes.errors import ModelError
from hermes.messages import NOT_JSON, FinishReason, Message, NormalizedResponse
from hermes.protocols import ApiMode, Endpoint, HttpRequest, Provider, Request, ToolSpec
from hermes.transports.anthropic_messages.families import (
    Family,
    family_of,
    model_id,
    sampling,
    thinking_for,
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
from hermes.transports.anthropic_messages.turns import Conversation, answer_tool, marked
from hermes.transports.base import (
    adapted_tools,
    cache_stats,
    output_limit,
    post_json,
    read_whole,
    with_quirks,
)
from hermes.transports.base.cache import marked_messages
from hermes.transports.base.failures import NO_CODES, read_failure
from hermes.transports.base.growing import Growing, GrowingJson, folded
from hermes.transports.base.names import legal
from hermes.transports.base.repair import repair
from hermes.transports.base.schema import in_words, object_schema, strict_schema

__all__ = ["ANSWER_TOOL", "BLOCKS", "Transport"]


class Transport:
    """The protocol itself. An instance remembers what it converted; its answers never change."""

    api_mode: ApiMode = "anthropic_messages"

    def __init__(self) -> None:
        self._conversation: Growing[Conversation] = Growing()
        self._encode = GrowingJson()

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The turns of a conversation; what its system messages say at the start is no turn."""
        return folded(Conversation(""), repair(messages)).turns()

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
        model = model_id(request.model)
        family = family_of(model)
        key = request.issuer, "claude-" in model, provider.sees
        said = self._conversation(request.messages, key, partial(Conversation, *key))
        kwargs: dict[str, Any] = {
            "model": model,
            "max_tokens": output_limit(request, provider, family.max_tokens),
        }
        if request.stream:
            kwargs["stream"] = True
        kwargs |= _one_at_a_time(self._tools(request, provider, said.called, family), request.parallel)
        kwargs |= thinking_for(request, family, kwargs)
        kwargs |= sampling(request, provider, family, kwargs.get("thinking", {}).get("type", ""))
        system = list(said.system)
        if request.output_schema is not None and provider.output == "prompt":
            system.append({"type": "text", "text": in_words(request.output_schema)})
        elif request.output_schema is not None and family.schema:
            schema = strict_schema(request.output_schema)
            kwargs.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
        if system:
            kwargs["system"] = system
        kwargs = with_quirks(kwargs, request, provider)
        if not provider.caches:
            return kwargs | {"messages": said.turns()}
        marks = marked_messages(self._conversation.messages)
        return kwargs | _marked_ends(kwargs) | {"messages": said.turns(marks)}

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
        except NOT_JSON:
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
        self, request: Request, provider: Provider, called: Collection[str], family: Family
    ) -> dict[str, Any]:
        tools, choice = self.convert_tools(adapted_tools(request.tools, provider)), request.tool_choice
        if request.output_schema is not None and not family.schema and provider.output != "prompt":
            tools.append(answer_tool(request.output_schema))
            forced = {"type": "tool", "name": ANSWER_TOOL}
            return {
                "tools": tools,
                "tool_choice": forced if len(tools) == 1 or choice == "none" else {"type": "any"},
            }
        if not tools:
            # A history with calls is only taken together with the tools it called.
            tools = self.convert_tools([ToolSpec(name, "No longer available.", {}) for name in called])
            choice = "none"
        if not tools:
            return {}
        if choice == "required" and family.forced_tools:
            return {"tools": tools, "tool_choice": {"type": "any"}}
        return {"tools": tools} | ({"tool_choice": {"type": "none"}} if choice == "none" else {})


def _marked_ends(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The tools and the instructions, each with a cache mark at its end."""
    names = filter(kwargs.get, ("tools", "system"))
    return {name: [*kwargs[name][:-1], marked(kwargs[name][-1])] for name in names}


def _one_at_a_time(tools: dict[str, Any], parallel: bool | None) -> dict[str, Any]:
    """The tools and their choice, which also says that no two may be called at once."""
    choice = tools.get("tool_choice", {"type": "auto"})
    if not tools or parallel is not False or choice["type"] == "none":
        return tools
    return {**tools, "tool_choice": {**choice, "disable_parallel_tool_use": True}}
