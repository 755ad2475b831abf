"""What a failure means: the provider's words and codes become the error that says what to do next.

A failure is shown to the readers in order, and the first that knows it names its class. The order
matters: an output limit is told in words that also tell of an overflow, and a bill in those of a rate.
"""

import re
from collections.abc import Callable, Mapping

import msgspec

from hermes.errors import (
    AuthFailed,
    ContentBlocked,
    ModelError,
    Overloaded,
    ProviderDown,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
)
from hermes.transports.base.refusals import ANOTHER, overflow, read_refusal, refused_stream
from hermes.transports.base.told import Failure, Told, any_of, read_told

NO_CODES: Mapping[str, int] = {}


def error_text(body: bytes) -> tuple[str, str]:
    """The provider's own words and its error code, wherever it put them."""
    told = read_told(body)
    return told.words, told.code


def read_failure(
    status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = NO_CODES
) -> ModelError:
    """The error that a reply with an error status stands for."""
    told = read_told(body)
    return _read(Failure(codes.get(told.code, codes.get(told.kind, status)), told, retry_after))


def failure_inside(error: object, statuses: Mapping[str, int] = NO_CODES) -> ModelError:
    """The error that a failure told inside a reply of status 200 stands for: what its own status would say.

    `statuses` are the protocol's codes and kinds of error, each with the status that says the same.
    """
    told = read_told(msgspec.json.encode({"error": error if error is not None else {}}))
    status = int(told.code) if re.fullmatch(r"[45]\d\d", told.code) else _UNSPECIFIC
    return _read(Failure(statuses.get(told.code, statuses.get(told.kind, status)), told, None))


def error_for_status(
    status: int, words: str, retry_after: float | None, code: str = "", field: str = ""
) -> ModelError:
    """The error class that says what to do next about this status, words and code."""
    return _read(Failure(status, Told(words=words, code=code, field=field), retry_after))


def _read(failure: Failure) -> ModelError:
    if failure.status == _UNSPECIFIC:
        failure = msgspec.structs.replace(failure, status=_status_of(failure.told))
    errors = (read(failure) for read in _READERS)
    return next((error for error in errors if error is not None), None) or RequestRejected(
        failure.message("the provider rejected the request"), hint=ANOTHER
    )


def _status_of(told: Told) -> int:
    """What the code says where the status does not: 500 also stands for a failure told inside a reply."""
    if named := _STATUS_OF_CODE.get(told.code) or _STATUS_OF_CODE.get(told.kind):
        return named
    return 400 if "image" in told.code or told.code.startswith("invalid_") else _UNSPECIFIC


_UNSPECIFIC = 500
_STATUS_OF_CODE = {
    "authentication_error": 401,
    "bio_policy": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "data_residency_mismatch": 400,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "misalignment_policy_violation": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}

_PASSES = frozenset({408, 409, 424, 425})


_BLOCKED = any_of(
    r"content[ _](?:management |safety )?(?:policy|filter)",
    r"responsibleaipolicy",
    r"safety (?:system|polic)",
    r"usage polic",
    r"(?:input|prompt|content|request) (?:was|has been|is) (?:flagged|blocked)",
    r"requires moderation",
    r"data_inspection_failed|inappropriate content|prohibited_content",
    r"\b(?:bio|cyber)_policy",
)


def _blocked(failure: Failure) -> ModelError | None:
    if not failure.says(_BLOCKED):
        return None
    return ContentBlocked(
        failure.message("the provider's policy forbids this question or its answer"),
        hint=f"put it in other words, or {ANOTHER}",
    )


_WRONG_KEY = any_of(
    r"(?:incorrect|invalid|expired|missing|no) (?:x-)?api[ _-]?key",
    r"api[ _-]?key (?:not valid|is invalid|not found|expired)|api_key_invalid",
)


def _refused_key(failure: Failure) -> ModelError | None:
    if failure.status == 401 or (failure.status in (400, 403) and failure.says(_WRONG_KEY)):
        return AuthFailed(failure.message("the provider refused the key"))
    if failure.status != 403:
        return None
    return AuthFailed(
        failure.message("the provider refused the key: it is not allowed to do this"),
        forbidden=True,
        hint=f"allow it in the provider's console, or {ANOTHER}",
    )


_BILL_CODES = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})
_UNPAID = any_of(
    r"insufficient[ _](?:quota|balance|credit|funds)",
    r"exceeded your (?:current )?quota|quota[ _]exceeded|quota has been|exhausted your",
    r"credit balance|out of credits|(?:more|no|not enough|remaining) credits|can only afford",
    r"billing|payment|arrear",
    r"spend(?:ing)?[ _-]?(?:limit|cap)|key limit|usage limit",
    r"(?:monthly|daily|weekly) (?:limit|quota|cap)",
)
_COMES_BACK = any_of(
    r"try again|retry (?:in|after|shortly)|please wait",
    r"\bresets?\b|window|rate[ _-]limit",
    r"per[ _](?:min|sec|hour|day)",
)


def _unpaid(failure: Failure) -> ModelError | None:
    if failure.status == 402:
        return _rate_limited(failure) if failure.says(_COMES_BACK) else _out_of_quota(failure)
    if {failure.told.code, failure.told.kind} & _BILL_CODES:
        return _out_of_quota(failure)
    if failure.status not in (400, 403, 429) or not failure.says(_UNPAID):
        return None
    if failure.status == 429 and (failure.retry_after is not None or failure.says(_COMES_BACK)):
        return None
    return _out_of_quota(failure)


def _out_of_quota(failure: Failure) -> ModelError:
    return QuotaExhausted(
        failure.message("the key has nothing left to spend"),
        hint=f"add credit or raise the limit in the provider's console, or {ANOTHER}",
    )


_BUSY = any_of(
    r"overloaded|too busy|(?:server|engine|service) is (?:currently )?busy|high demand",
    r"at capacity|capacity exceeded|no capacity|temporarily unavailable",
)
_UPSTREAM = any_of(r"provider returned error|upstream")
_TOO_LARGE_AT_ONCE = any_of(r"request too large|must be reduced|reduce your message")


def _limited(failure: Failure) -> ModelError | None:
    if failure.status not in (413, 429):
        return None
    if failure.says(_TOO_LARGE_AT_ONCE):
        return overflow(failure)
    if failure.status == 413:
        return None
    return _overloaded(failure) if failure.says(_BUSY) else _rate_limited(failure)


def _rate_limited(failure: Failure) -> ModelError:
    return RateLimited(
        failure.message("the provider limits requests"),
        retry_after=failure.retry_after,
        upstream=failure.says(_UPSTREAM),
        hint=f"wait, or {ANOTHER}",
    )


def _down(failure: Failure) -> ModelError | None:
    if failure.status not in _PASSES and failure.status < 500:
        return None
    if failure.status in (503, 529) or failure.says(_BUSY):
        return _overloaded(failure)
    return ProviderDown(failure.message("the provider failed"), hint=f"try again later, or {ANOTHER}")


def _overloaded(failure: Failure) -> ModelError:
    return Overloaded(failure.message("the provider is too busy"), hint=f"try again later, or {ANOTHER}")


_READERS: tuple[Callable[[Failure], ModelError | None], ...] = (
    _blocked,
    _unpaid,
    refused_stream,
    _refused_key,
    _limited,
    read_refusal,
    _down,
)
