"""Why a request looks as it does: for each field, what it depends on.

Nothing is noted down while a request is built, so nothing can be noted wrongly. The request is built
again with one thing changed at a time, and a field depends on what changes it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from hermes.messages import Message
from hermes.protocols import Provider, ProviderTransport, Request

_REQUEST: dict[str, tuple[Any, str]] = {
    "model": ("another-model", "the model"),
    "messages": ((Message(role="user", content="another question"),), "the conversation"),
    "tools": ((), "the tools offered"),
    "tool_choice": ("auto", "whether tools may be called"),
    "parallel": (None, "whether several tools may be called at once"),
    "max_output_tokens": (None, "the output limit of this call"),
    "effort": (None, "how hard to think"),
    "temperature": (None, "the temperature of this call"),
    "output_schema": (None, "the schema of the answer"),
    "issuer": ("", "who is asked, and gets back what it sealed"),
    "session_id": ("", "the session"),
    "stream": (False, "streaming"),
}
_PROVIDER: dict[str, tuple[Any, str]] = {
    "context_window": (None, "the provider's context window"),
    "max_tokens": (None, "`model.max_tokens` or the provider's own limit"),
    "max_tokens_key": ("max_tokens", "the provider's name for the limit"),
    "temperature": (None, "the provider's own temperature, or that it takes none"),
    "efforts": ((), "the efforts the provider knows"),
    "output": ("json_schema", "how the provider is asked for data"),
    "system_role": ("system", "the provider's name for the system role"),
    "late_system": (True, "the provider takes instructions only at the start"),
    "user_after_tool": (True, "the provider takes no question right after a tool's result"),
    "stream_usage": (False, "the provider reports tokens while it streams"),
    "caches": (False, "the provider's prompt cache"),
    "echoes": ((), "what the provider wants back"),
    "sees": (True, "the provider takes no pictures"),
    "dialect": (None, "the provider's dialect of JSON Schema"),
    "prepare": (None, "the provider's own form of a message"),
    "quirks": (None, "the provider's own fields"),
}
_PROTOCOL = "the protocol itself"


class Reason(msgspec.Struct, frozen=True):
    """One field of a request, and what put it there."""

    field: str
    value: Any
    because: tuple[str, ...]


def explain(
    new_transport: Callable[[], ProviderTransport], request: Request, provider: Provider
) -> tuple[Reason, ...]:
    """A reason for every field of the payload that would be sent."""
    sent = new_transport().build_kwargs(request, provider)
    others = [
        (words, new_transport().build_kwargs(asked, of)) for words, asked, of in _variants(request, provider)
    ]
    return tuple(
        Reason(field, value, _causes(field, value, others) or (_PROTOCOL,)) for field, value in sent.items()
    )


def _variants(request: Request, provider: Provider) -> Iterator[tuple[str, Request, Provider]]:
    for field, (neutral, words) in _REQUEST.items():
        yield words, msgspec.structs.replace(request, **{field: neutral}), provider
    for field, (neutral, words) in _PROVIDER.items():
        yield words, request, msgspec.structs.replace(provider, **{field: neutral})


def _causes(field: str, value: Any, others: list[tuple[str, dict[str, Any]]]) -> tuple[str, ...]:
    return tuple(words for words, other in others if field not in other or other[field] != value)
