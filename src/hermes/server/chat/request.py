"""A request for a chat completion: its types, and what it means. Fields that are not known are not heeded."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from hermes.app import Terms
from hermes.config.settings import ServerSettings
from hermes.errors import RequestFault
from hermes.messages import Image, Message, ToolCall
from hermes.protocols import Effort, ToolSpec
from hermes.server.asked import Asked, asked_of, model_name, offered, schema_of, split, tools_for
from hermes.server.reading import picture
from hermes.server.sonar import SonarOptions, filters

Positive = Annotated[int, msgspec.Meta(ge=1)]
Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]
ToolName = Annotated[str, msgspec.Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")]


class ImageUrl(msgspec.Struct, frozen=True):
    url: str


class Part(msgspec.Struct, frozen=True):
    """A part of what is said: words, or a picture."""

    type: Literal["text", "image_url", "refusal"]
    text: str | None = None
    image_url: ImageUrl | None = None


class CalledFunction(msgspec.Struct, frozen=True):
    name: str
    arguments: str = ""


class CallSaid(msgspec.Struct, frozen=True):
    """A call as the model made it and the caller gives it back."""

    id: str
    function: CalledFunction
    type: Literal["function"] = "function"


class ChatMessage(msgspec.Struct, frozen=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[Part, ...] | None = None
    tool_calls: tuple[CallSaid, ...] | None = None
    tool_call_id: str | None = None


class FunctionSpec(msgspec.Struct, frozen=True):
    name: ToolName
    description: str | None = None
    parameters: Mapping[str, Any] | None = None


class ToolGiven(msgspec.Struct, frozen=True):
    """A tool that the caller runs."""

    function: FunctionSpec
    type: Literal["function"]


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None


class ChatRequest(SonarOptions, frozen=True, kw_only=True):
    """A conversation that ends with a question."""

    model: str
    messages: Annotated[tuple[ChatMessage, ...], msgspec.Meta(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: tuple[ToolGiven, ...] | None = None
    tool_choice: str | Mapping[str, Any] | None = None
    response_format: Mapping[str, Any] | None = None
    max_tokens: Positive | None = None
    max_completion_tokens: Positive | None = None
    temperature: Temperature | None = None
    reasoning_effort: Effort | None = None
    n: int | None = None


def read(request: ChatRequest, settings: ServerSettings) -> Asked:
    """What is asked; raises `RequestFault` for what cannot be done."""
    if request.n not in (None, 1):
        raise RequestFault("only one answer is given", param="n", code="unsupported_value")
    said = split([_message(said) for said in request.messages], "messages")
    offers = offered(specs(request.tools or ()), request.tool_choice)
    terms = Terms(
        model=model_name(request.model),
        tools=tools_for(settings.tools, offers, searches=not request.disable_search),
        history=said.history,
        output_schema=schema_of(request.response_format, "response_format"),
        effort=request.reasoning_effort,
        temperature=request.temperature,
        max_output_tokens=request.max_completion_tokens or request.max_tokens,
        narrowed=filters(request),
        theirs=offers.theirs,
        first_choice=offers.choice,
        platform="server",
        priced=True,
        kept=False,
    )
    return asked_of(terms, said)


def specs(tools: Sequence[ToolGiven]) -> list[ToolSpec]:
    """The caller's tools as a model is told of them."""
    return [
        ToolSpec(
            given.function.name,
            given.function.description or "",
            given.function.parameters or {"type": "object", "properties": {}},
        )
        for given in tools
    ]


def _message(said: ChatMessage) -> Message:
    if said.role == "tool" and not said.tool_call_id:
        raise RequestFault("a result needs the `tool_call_id` of its call", param="messages")
    text, images = _content(said.content)
    if said.role == "user" and not (text.strip() or images):
        raise RequestFault("a question is empty", param="messages")
    calls = (ToolCall(call.id, call.function.name, call.function.arguments) for call in said.tool_calls or ())
    return Message(
        role="system" if said.role == "developer" else said.role,
        content=text,
        tool_calls=tuple(calls) if said.role == "assistant" else (),
        tool_call_id=said.tool_call_id if said.role == "tool" else None,
        images=images,
    )


def _content(content: str | tuple[Part, ...] | None) -> tuple[str, tuple[Image, ...]]:
    if not isinstance(content, tuple):
        return content or "", ()
    words = [part.text for part in content if part.text]
    pictures = (
        picture(part.image_url.url if part.image_url else None, "messages")
        for part in content
        if part.type == "image_url"
    )
    return "\n\n".join(words), tuple(pictures)
