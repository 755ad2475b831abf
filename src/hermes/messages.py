"""What is said: frozen values that know no wire format."""

import hashlib
import re
from ast import literal_eval
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "incomplete"]

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What reading JSON raises when it is none: malformed, not UTF-8, or nested beyond measure."""

_JSON_STRING = r'(?s)"(?:[^"\\]|\\.)*+"'
_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)}


class BadArguments(msgspec.Struct, frozen=True):
    """Why a call's arguments cannot be used: cut off, not JSON, or not an object."""

    kind: Literal["truncated", "not_json", "not_an_object"]
    text: str


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call a model asked for. `arguments` is the JSON text exactly as produced."""

    id: str | None
    name: str
    arguments: str
    provider_data: dict[str, Any] | None = None
    truncated: bool = False

    def parse(self) -> dict[str, Any] | BadArguments:
        """The arguments as an object. A truncated call never parses, however complete it looks."""
        if self.truncated:
            return BadArguments("truncated", self.arguments)
        if not self.arguments.strip():
            return {}
        try:
            value = msgspec.json.decode(self.arguments)
        except NOT_JSON:
            value = _leniently(self.arguments)
        if value is None:
            return BadArguments("not_json", self.arguments)
        return value if isinstance(value, dict) else BadArguments("not_an_object", self.arguments)

    def __repr__(self) -> str:
        return f"ToolCall(id={self.id!r}, name={self.name!r}, arguments={self.arguments!r})"


def _leniently(text: str) -> Any:
    """What small models write for JSON and mean plainly: line breaks inside a string, or Python's quotes."""
    try:
        return msgspec.json.decode(re.sub(_JSON_STRING, _escaped, text))
    except NOT_JSON:
        return _python_value(text.strip())


def _escaped(string: re.Match[str]) -> str:
    return string[0].translate(_ESCAPES)


def _python_value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def build_tool_call(
    id: str | None, name: str, arguments: object, provider_data: dict[str, Any] | None = None
) -> ToolCall:
    """A call from what a provider sent: an object becomes JSON text, text stays as it is."""
    match arguments:
        case str():
            text = arguments
        case dict() | list():
            text = msgspec.json.encode(arguments).decode()
        case _:
            text = str(arguments)
    return ToolCall(id=id, name=name, arguments=text, provider_data=provider_data)


def with_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls with missing or repeated ids replaced.

    The new id depends on the call and its place in the turn alone, so that a replayed
    conversation has the same bytes and prefix caches keep working.
    """
    seen: set[str] = set()
    named: list[ToolCall] = []
    for index, call in enumerate(calls):
        id = call.id if call.id and call.id not in seen else _made_id(call, index)
        seen.add(id)
        named.append(msgspec.structs.replace(call, id=id))
    return tuple(named)


def _made_id(call: ToolCall, index: int) -> str:
    digest = hashlib.sha256(f"{call.name}:{call.arguments}:{index}".encode(errors="replace")).hexdigest()
    return f"call_{digest[:12]}"


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one call. `prompt_tokens` includes what was read from or written to a cache."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        mine, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Usage(*(a + b for a, b in zip(mine, theirs, strict=True)))


class NormalizedResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered, whichever protocol carried it."""

    content: str | None
    tool_calls: list[ToolCall] | None
    finish_reason: FinishReason
    reasoning: str | None = None
    usage: Usage | None = None
    provider_data: dict[str, Any] | None = None

    @property
    def reasoning_content(self) -> str | None:
        """The wire field some providers demand back verbatim; not the text shown to people."""
        return (self.provider_data or {}).get("reasoning_content")

    def __repr__(self) -> str:
        return (
            f"NormalizedResponse(content={self.content!r}, tool_calls={self.tool_calls!r}, "
            f"finish_reason={self.finish_reason!r}, usage={self.usage!r})"
        )


class Image(msgspec.Struct, frozen=True, omit_defaults=True):
    """A picture in a message: its bytes as base64 text with their media type, or its address."""

    media_type: str = ""
    data: str = ""
    url: str = ""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of a conversation, as it is stored and replayed.

    `provider_data` holds what only its maker can read back, such as signed reasoning; `issuer` says
    who made it, and it is replayed to nobody else.
    """

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    reasoning: str | None = None
    finish_reason: FinishReason | None = None
    provider_data: dict[str, Any] | None = None
    issuer: str | None = None
    images: tuple[Image, ...] = ()
    usage: Usage | None = None
    """The tokens of the call that this came from."""
    cost: float | None = None
    """What that call cost in US dollars, where somebody counted."""
    served_by: str | None = None
    """For the result of a tool: who brought it, such as a web backend."""
    replaces: int = 0
    """For a summary: how many messages of its session it stands for, counted from the first."""
    besides: tuple[int, ...] = ()
    """For a summary: the places among those that it does not stand for, because others wrote them."""

    def data_for(self, issuer: str) -> dict[str, Any]:
        """The opaque data of this message, if this issuer made it; else nothing."""
        return self.provider_data or {} if self.issuer == issuer else {}


class Citation(msgspec.Struct, frozen=True):
    """A source the answer points to: `[n]` in the text, and the words that carry it.

    `verified` says that the page was read in this turn, and that it holds what the answer quotes from it.
    A number that no source has comes without a URL.
    """

    n: int
    url: str
    title: str
    quote: str
    verified: bool = False
