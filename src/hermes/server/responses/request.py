"""A request for a response: its types, and what it means. Fields that are not known are not heeded."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from hermes.app import Terms
from hermes.config.settings import ServerSettings
from hermes.errors import RequestFault
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Effort, ToolSpec
from hermes.server.asked import Asked, asked_of, model_name, offered, schema_of, split, tools_for
from hermes.server.chat.request import Positive, Temperature
from hermes.server.reading import picture
from hermes.server.responses.instructions import instructed

_NOT_HEEDED = ("reasoning", "web_search_call")
"""Items of an earlier answer that mean nothing here: what they stand for is kept on this side."""


class InputPart(msgspec.Struct, frozen=True):
    """A part of what is said: words, or a picture."""

    type: Literal["input_text", "output_text", "input_image", "refusal"]
    text: str | None = None
    image_url: str | None = None


class InputItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was said, called or found."""

    type: Literal["message", "function_call", "function_call_output", "reasoning", "web_search_call"] = (
        "message"
    )
    role: Literal["user", "assistant", "system", "developer"] = "user"
    content: str | tuple[InputPart, ...] | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: str | tuple[InputPart, ...] = ""


class ResponseTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the caller runs; or a search, which is done here in any case."""

    type: Literal["function", "web_search", "web_search_preview"]
    name: str = ""
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    filters: Mapping[str, Any] | None = None


class ReasoningOptions(msgspec.Struct, frozen=True):
    effort: Effort | None = None


class TextOptions(msgspec.Struct, frozen=True):
    format: Mapping[str, Any] | None = None


class ResponseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is said next: in a new conversation, or after `previous_response_id`."""

    model: str
    input: str | Annotated[tuple[InputItem, ...], msgspec.Meta(min_length=1)]
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    stream: bool | None = None
    tools: tuple[ResponseTool, ...] | None = None
    tool_choice: str | Mapping[str, Any] | None = None
    text: TextOptions | None = None
    reasoning: ReasoningOptions | None = None
    max_output_tokens: Positive | None = None
    temperature: Temperature | None = None
    background: bool | None = None
    metadata: Mapping[str, str] | None = None
    conversation: str | Mapping[str, Any] | None = None


def read(request: ResponseRequest, before: Sequence[Message], settings: ServerSettings) -> Asked:
    """What is asked after what was said before; raises `RequestFault` for what cannot be done."""
    if request.background:
        raise RequestFault("nothing is answered in the background", param="background")
    if request.conversation:
        raise RequestFault("a conversation goes on by `previous_response_id`", param="conversation")
    said = split([*before, *_messages(request.input)], "input")
    tools = request.tools or ()
    offers = offered(_specs(tools), request.tool_choice)
    terms = Terms(
        model=model_name(request.model),
        tools=tools_for(settings.tools, offers, searches=True),
        history=instructed(request.instructions, said.history) if request.instructions else said.history,
        output_schema=schema_of(request.text.format if request.text else None, "text.format"),
        effort=request.reasoning.effort if request.reasoning else None,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        narrowed=_filters(tools),
        theirs=offers.theirs,
        first_choice=offers.choice,
        platform="server",
        priced=True,
        kept=False,
    )
    return asked_of(terms, said)


def _specs(tools: Sequence[ResponseTool]) -> list[ToolSpec]:
    own = [tool for tool in tools if tool.type == "function"]
    if not all(tool.name for tool in own):
        raise RequestFault("a function needs a name", param="tools")
    empty = {"type": "object", "properties": {}}
    return [ToolSpec(tool.name, tool.description or "", tool.parameters or empty) for tool in own]


def _filters(tools: Sequence[ResponseTool]) -> dict[str, Any]:
    """The domains that a search is to keep to."""
    named = [tool.filters.get("allowed_domains") for tool in tools if tool.filters]
    domains = [domain for listed in named if isinstance(listed, list) for domain in listed]
    return {"include_domains": domains} if domains else {}


def _messages(given: str | tuple[InputItem, ...]) -> list[Message]:
    if isinstance(given, str):
        given = (InputItem(content=given),)
    messages: list[Message] = []
    for item in given:
        if item.type not in _NOT_HEEDED:
            _add(item, messages)
    return messages


def _add(item: InputItem, messages: list[Message]) -> None:
    """Add what an item says; calls that were made at once stand in one message."""
    if item.type == "function_call":
        call = ToolCall(item.call_id, item.name, item.arguments)
        last = messages[-1] if messages else None
        if last is not None and last.role == "assistant":
            messages[-1] = msgspec.structs.replace(last, tool_calls=(*last.tool_calls, call))
        else:
            messages.append(Message(role="assistant", tool_calls=(call,)))
        return
    if item.type == "function_call_output":
        text, _ = _content(item.output)
        messages.append(Message(role="tool", tool_call_id=item.call_id, content=text))
        return
    text, images = _content(item.content)
    if item.role == "user" and not (text.strip() or images):
        raise RequestFault("a question is empty", param="input")
    role: Any = "system" if item.role == "developer" else item.role
    messages.append(Message(role=role, content=text, images=images))


def _content(content: str | tuple[InputPart, ...] | None) -> tuple[str, tuple[Image, ...]]:
    if not isinstance(content, tuple):
        return content or "", ()
    words = [part.text for part in content if part.text]
    pictures = [picture(part.image_url, "input") for part in content if part.type == "input_image"]
    return "\n\n".join(words), tuple(pictures)
