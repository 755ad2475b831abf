"""What every wire protocol needs: the call around a payload, and numbers made safe."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hermes.errors import InvalidResponse
from hermes.messages import NOT_JSON, NormalizedResponse, Usage
from hermes.protocols import (
    Assembler,
    AuthStyle,
    Effort,
    Endpoint,
    HttpRequest,
    Provider,
    Request,
    ToolSpec,
)
from hermes.transports.base.growing import GrowingJson

T = TypeVar("T")

_EXTRA = frozenset({"extra_headers", "extra_body"})

AUTH_HEADERS: dict[AuthStyle, Callable[[str], tuple[str, str]]] = {
    "bearer": lambda key: ("Authorization", f"Bearer {key}"),
    "x-api-key": lambda key: ("x-api-key", key),
    "api-key": lambda key: ("api-key", key),
}


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """The headers of a JSON call to this endpoint, with its key where it has one."""
    provider = endpoint.provider
    headers = {"Content-Type": "application/json", **provider.headers}
    if endpoint.api_key is not None and provider.auth_style in AUTH_HEADERS:
        name, value = AUTH_HEADERS[provider.auth_style](endpoint.api_key.reveal())
        headers[name] = value
    return headers


def post_json(
    url: str, kwargs: Mapping[str, Any], endpoint: Endpoint, *, growing: str, encode: GrowingJson
) -> HttpRequest:
    """A call with these fields as its body; the list named `growing` comes last and is encoded by `encode`.

    `extra_headers` are headers and `extra_body` are fields of the body, as in the vendors' SDKs.
    """
    fields = {name: value for name, value in kwargs.items() if name not in _EXTRA}
    fields |= kwargs.get("extra_body") or {}
    said = fields.pop(growing)
    headers = request_headers(endpoint) | (kwargs.get("extra_headers") or {})
    return HttpRequest(method="POST", url=url, headers=headers, body=encode(fields, growing, said))


def adapted_tools(tools: Sequence[ToolSpec], provider: Provider) -> Sequence[ToolSpec]:
    """The tools with their schemas in the provider's dialect."""
    if provider.dialect is None:
        return tools
    return [ToolSpec(tool.name, tool.description, provider.dialect(tool.parameters)) for tool in tools]


def with_quirks(kwargs: dict[str, Any], request: Request, provider: Provider) -> dict[str, Any]:
    """The fields of a request after the provider had the last word on them."""
    return kwargs if provider.quirks is None else provider.quirks(kwargs, request)


def output_limit(request: Request, provider: Provider, default: int | None = None) -> int | None:
    """The most tokens an answer may take: this call's limit, the provider's, or `default`.

    What is no positive whole number is no limit. A limit never fills the whole context window.
    """
    limits = (count(limit) for limit in (request.max_output_tokens, provider.max_tokens, default))
    limit = next((limit for limit in limits if limit >= 1), None)
    if limit is None or provider.context_window is None:
        return limit
    return max(1, min(limit, provider.context_window - 1))


def temperature_of(request: Request, provider: Provider) -> float | None:
    """The temperature to ask for: the provider's where it has one, else this call's."""
    temperature = request.temperature if provider.temperature is None else provider.temperature
    return None if temperature == "omit" else temperature


EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def nearest_effort(effort: Effort, known: Sequence[Effort]) -> Effort:
    """The effort among the known ones that comes nearest; `none` is only ever said for `none`."""
    wanted = EFFORTS.index(effort)
    choices = known if effort == "none" else [level for level in known if level != "none"] or known
    return min(choices, key=lambda level: abs(EFFORTS.index(level) - wanted))


def read_event(decode: Callable[[bytes], T], payload: bytes, number: int) -> T:
    """One event of a stream in its typed form; a malformed one is named by its number."""
    return _read(decode, payload, f"event {number} of the reply")


def read_reply(decode: Callable[[bytes], T], body: bytes) -> T:
    """A whole reply in its typed form."""
    return _read(decode, body, "the reply")


def _read(decode: Callable[[bytes], T], data: bytes, what: str) -> T:
    """Bytes that are no text are replaced, as event streams have it: one of them spoils no answer."""
    try:
        return decode(data)
    except UnicodeDecodeError:
        return _read(decode, data.decode(errors="replace").encode(), what)
    except NOT_JSON as error:
        raise InvalidResponse(f"{what} is malformed: {error}") from error


def count(value: object) -> int:
    """A token count from a provider: a whole number that is not negative, else zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1e12 else 0


def count_in(usage: Mapping[str, Any], group: str, key: str) -> int:
    """A token count that stands inside a group of others."""
    details = usage.get(group)
    return count(details.get(key)) if isinstance(details, Mapping) else 0


def read_whole(assembler: Assembler, body: bytes) -> NormalizedResponse:
    """The response in a complete reply, by the way its stream would have gone."""
    assembler.feed_whole(body)
    return assembler.finish()


def cache_stats(usage: Usage) -> dict[str, int] | None:
    """What the prompt cache did; None when it did nothing."""
    if not usage.cached_tokens and not usage.cache_write_tokens:
        return None
    return {"cached_tokens": usage.cached_tokens, "creation_tokens": usage.cache_write_tokens}
