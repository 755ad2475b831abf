"""Errors as answers, in the shape of OpenAI's."""

import math
from collections.abc import Callable, Mapping

import msgspec
from starlette.responses import Response

from hermes import errors
from hermes.errors import HermesError, RequestFault

FAILED = "hermes.failed"
"""Where a scope says that its answer failed, though it began well."""


class ErrorDetail(msgspec.Struct, frozen=True):
    message: str
    type: str
    param: str | None = None
    code: str | None = None


class ErrorBody(msgspec.Struct, frozen=True):
    """How every failure is told."""

    error: ErrorDetail


_STATUSES: Mapping[type[HermesError], tuple[int, str]] = {
    errors.UnknownName: (400, "unknown_name"),
    errors.UsageError: (400, "invalid_value"),
    errors.ConfigError: (500, "not_configured"),
    errors.Interrupted: (503, "shutting_down"),
    errors.StoreError: (503, "store_unavailable"),
    errors.DeadlinePassed: (504, "upstream_timeout"),
    errors.NetError: (502, "upstream_unreachable"),
    errors.AuthFailed: (502, "upstream_auth_failed"),
    errors.QuotaExhausted: (503, "upstream_quota_exhausted"),
    errors.RateLimited: (429, "upstream_rate_limited"),
    errors.ModelNotFound: (404, "model_not_found"),
    errors.ContextOverflow: (400, "context_length_exceeded"),
    errors.ContentBlocked: (400, "content_filter"),
    errors.RequestRejected: (400, "upstream_rejected"),
    errors.ProviderDown: (503, "upstream_down"),
    errors.ModelError: (502, "upstream_failed"),
    errors.Block: (403, "blocked_by_plugin"),
    errors.BackendSpent: (429, "search_rate_limited"),
    errors.WebError: (502, "search_failed"),
}
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}

_ALWAYS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def status_and_code(error: HermesError) -> tuple[int, str]:
    """The status of an error and a word for it, by its nearest class that has them."""
    if isinstance(error, RequestFault):
        return error.status, error.code
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), (500, "failed"))


def error_body(error: HermesError, redact: Callable[[str], str] = str) -> ErrorBody:
    """What is told of an error, with how to mend it and without any secret."""
    status, code = status_and_code(error)
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    words = redact(f"{error} ({error.hint})" if error.hint else str(error))
    return ErrorBody(ErrorDetail(words, kind, getattr(error, "param", None), code))


def error_response(error: HermesError, redact: Callable[[str], str] = str) -> Response:
    """The error as an answer; it says when to come back where that is known."""
    status, _ = status_and_code(error)
    wait = getattr(error, "retry_after", None)
    headers = {"retry-after": str(max(1, math.ceil(wait)))} if wait is not None else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return json_response(error_body(error, redact), status=status, headers=headers)


def json_response(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON; bytes are JSON already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    told = {**_ALWAYS, **(headers or {})}
    return Response(body, status_code=status, headers=told, media_type="application/json")
