"""What a failure means: the provider's words and codes become the error that says what to do next."""

from collections.abc import Mapping

import msgspec

from hermes.errors import AuthFailed, ModelError, ProviderDown, RateLimited, RequestRejected

_QUOTED_FAILURE = 300
NO_CODES: Mapping[str, int] = {}


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


def read_failure(
    status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
) -> ModelError:
    """The error that a reply with an error status stands for."""
    words, code = error_text(body)
    return error_for_status(codes.get(code, status), words, retry_after)


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
