"""What every wire protocol needs: headers for a key, numbers made safe, words for a failure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from hermes.errors import AuthFailed, InvalidResponse, ModelError, ProviderDown, RateLimited, RequestRejected
from hermes.messages import Message, NormalizedResponse, Usage
from hermes.protocols import Assembler, AuthStyle, Endpoint, HttpRequest

T = TypeVar("T")

AUTH_HEADERS: dict[AuthStyle, Callable[[str], tuple[str, str]]] = {
    "bearer": lambda key: ("Authorization", f"Bearer {key}"),
    "x-api-key": lambda key: ("x-api-key", key),
    "api-key": lambda key: ("api-key", key),
}

_QUOTED_FAILURE = 300


class ConversionMemo:
    """Converted messages by identity, so that a long history is converted once, not every turn.

    Messages are frozen, so the same object always converts to the same value. What the newest
    history no longer holds is forgotten.
    """

    def __init__(self, convert: Callable[[Message], dict[str, Any]]) -> None:
        self._convert = convert
        self._known: dict[int, tuple[Message, dict[str, Any]]] = {}

    def convert_all(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        known = self._known
        converted: list[dict[str, Any]] = []
        for message in messages:
            entry = known.get(id(message))
            if entry is None:
                entry = known[id(message)] = (message, self._convert(message))
            converted.append(entry[1])
        if len(known) > 2 * len(messages):
            self._known = {id(message): known[id(message)] for message in messages}
        return converted


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """The headers of a JSON call to this endpoint, with its key where it has one."""
    provider = endpoint.provider
    headers = {"Content-Type": "application/json", **provider.headers}
    if endpoint.api_key is not None and provider.auth_style in AUTH_HEADERS:
        name, value = AUTH_HEADERS[provider.auth_style](endpoint.api_key.reveal())
        headers[name] = value
    return headers


def post_json(url: str, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest:
    """A call as the vendor's SDK would send it: what `extra_body` holds goes beside the known fields."""
    body = dict(kwargs)
    extra = body.pop("extra_body", None)
    if extra:
        body = {**extra, **body}
    return HttpRequest(
        method="POST", url=url, headers=request_headers(endpoint), body=msgspec.json.encode(body)
    )


def read_event(decode: Callable[[bytes], T], payload: bytes, number: int) -> T:
    """One event of a stream in its typed form; a malformed one is named by its number."""
    try:
        return decode(payload)
    except msgspec.DecodeError as error:
        raise InvalidResponse(f"event {number} of the reply is malformed: {error}") from error


def count(value: object) -> int:
    """A token count from a provider: a whole number that is not negative, else zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1e12 else 0


def error_text(body: bytes) -> tuple[str, str]:
    """The provider's own words and its error code, wherever it put them."""
    try:
        reply = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return " ".join(body.decode(errors="replace").split())[:_QUOTED_FAILURE], ""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    if not isinstance(error, Mapping):
        return str(error)[:_QUOTED_FAILURE], ""
    words = error.get("message") or error.get("detail") or error.get("error") or ""
    return str(words)[:_QUOTED_FAILURE], str(error.get("code") or error.get("type") or "")


def read_whole(assembler: Assembler, body: bytes) -> NormalizedResponse:
    """The response in a complete reply, by the way its stream would have gone."""
    assembler.feed_whole(body)
    return assembler.finish()


def cache_stats(usage: Usage) -> dict[str, int] | None:
    """What the prompt cache did; None when it did nothing."""
    if not usage.cached_tokens and not usage.cache_write_tokens:
        return None
    return {"cached_tokens": usage.cached_tokens, "creation_tokens": usage.cache_write_tokens}


def read_failure(status: int, body: bytes, retry_after: float | None) -> ModelError:
    """The error that a reply with an error status stands for."""
    words, _ = error_text(body)
    return error_for_status(status, words, retry_after)


def error_for_status(status: int, words: str, retry_after: float | None) -> ModelError:
    """The error class that says what to do next about this status."""
    said = f": {words}" if words else ""
    if status in (401, 403):
        return AuthFailed(f"the provider refused the key (status {status}){said}")
    if status in (402, 429):
        wait = f"; it asks to wait {retry_after:.0f} s" if retry_after else ""
        return RateLimited(
            f"the provider limits requests (status {status}){wait}{said}",
            retry_after=retry_after,
            hint="wait, or choose another model with `-m PROVIDER/MODEL`",
        )
    if status in (408, 409, 425) or status >= 500:
        return ProviderDown(
            f"the provider failed (status {status}){said}",
            hint="try again later, or choose another model with `-m PROVIDER/MODEL`",
        )
    if status == 404:
        return RequestRejected(
            f"the provider does not know this model or path (status 404){said}",
            hint="check the model name and the base URL",
        )
    return RequestRejected(f"the provider rejected the request (status {status}){said}")
