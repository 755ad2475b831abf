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
    ContextOverflow,
    FieldRefused,
    ModelError,
    ModelNotFound,
    OutputLimitTooHigh,
    Overloaded,
    PictureRefused,
    ProviderDown,
    QuotaExhausted,
    RateLimited,
    ReasoningRefused,
    RequestRejected,
    SchemaRefused,
)
from hermes.transports.base.told import Told, read_told

_QUOTED = 300
_ANOTHER = "choose another model with `-m PROVIDER/MODEL`"
NO_CODES: Mapping[str, int] = {}


class Failure(msgspec.Struct, frozen=True):
    """A failure as it was told: the status, what the provider says of it, and the wait it asks for."""

    status: int
    told: Told
    retry_after: float | None

    def says(self, pattern: str) -> bool:
        return _find(pattern, f"{self.told.code} {self.told.words}") is not None

    def message(self, lead: str) -> str:
        """The lead, the status, the wait and the provider's own words in one line."""
        wait = f"; come back in {_duration(self.retry_after)}" if self.retry_after else ""
        said = f": {self.told.words[:_QUOTED]}" if self.told.words else ""
        return f"{lead} (status {self.status}){wait}{said}"


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
        failure.message("the provider rejected the request"), hint=_ANOTHER
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

_JUDGES_THE_REQUEST = frozenset({400, 404, 413, 415, 422, 500})
_PASSES = frozenset({408, 409, 424, 425})


def _words(*patterns: str) -> str:
    """One pattern out of several; compiled when first looked for, since most runs meet no failure."""
    return "|".join(patterns)


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE | re.DOTALL)


_BLOCKED = _words(
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
        hint=f"put it in other words, or {_ANOTHER}",
    )


_WRONG_KEY = _words(
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
        hint=f"allow it in the provider's console, or {_ANOTHER}",
    )


_BILL_CODES = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})
_UNPAID = _words(
    r"insufficient[ _](?:quota|balance|credit|funds)",
    r"exceeded your (?:current )?quota|quota[ _]exceeded|quota has been|exhausted your",
    r"credit balance|out of credits|(?:more|no|not enough|remaining) credits|can only afford",
    r"billing|payment|arrear",
    r"spend(?:ing)?[ _-]?(?:limit|cap)|key limit|usage limit",
    r"(?:monthly|daily|weekly) (?:limit|quota|cap)",
)
_COMES_BACK = _words(
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
        hint=f"add credit or raise the limit in the provider's console, or {_ANOTHER}",
    )


_BUSY = _words(
    r"overloaded|too busy|(?:server|engine|service) is (?:currently )?busy|high demand",
    r"at capacity|capacity exceeded|no capacity|temporarily unavailable",
)
_UPSTREAM = _words(r"provider returned error|upstream")
_TOO_LARGE_AT_ONCE = _words(r"request too large|must be reduced|reduce your message")


def _limited(failure: Failure) -> ModelError | None:
    if failure.status not in (413, 429):
        return None
    if failure.says(_TOO_LARGE_AT_ONCE):
        return _overflow(failure)
    if failure.status == 413:
        return None
    return _overloaded(failure) if failure.says(_BUSY) else _rate_limited(failure)


def _rate_limited(failure: Failure) -> ModelError:
    return RateLimited(
        failure.message("the provider limits requests"),
        retry_after=failure.retry_after,
        upstream=failure.says(_UPSTREAM),
        hint=f"wait, or {_ANOTHER}",
    )


_REASONING = _words(
    r"thinking.{0,120}(?:signature|cannot be modified)|signature.{0,120}thinking",
    r"thought signature is (?:not valid|invalid)",
    r"invalid_encrypted_content|encrypted content.{0,120}(?:verified|decrypted|parsed)",
    r"\brs_\w+.{0,80}(?:not found|without its required)",
)


def _reasoning(failure: Failure) -> ModelError | None:
    if not failure.says(_REASONING):
        return None
    return ReasoningRefused(
        failure.message("the provider does not take its earlier reasoning back"), hint="start a new session"
    )


_OUTPUT = _words(r"max[_ ]?(?:completion[_ ]|output[_ ]|new[_ ])?tokens|maximum tokens you requested")
_TOO_HIGH = _words(r"too (?:large|high|big)|exceed|maximum|must be (?:<|less|lower)|valid range|should be \[")
_NOT_A_LIMIT = _words(r"unsupported parameter|unknown parameter|not permitted|tokens \+ ")
_LIMIT = _words(
    r"> ?(\d[\d,]*), which is",
    r"(?:<=?|≤|less than or equal to|at most|up to|lower than|limit of|maximum (?:value )?(?:of|is))"
    r"\s*`?(\d[\d,]*)",
    r"\[ ?\d+ ?, ?(\d[\d,]*) ?\]",
)
_LEFT_OVER = _words(r"\d+ > (\d+) - (\d+)", r"(\d+) \+ \d+ > (\d+)")


def _output_limit(failure: Failure) -> ModelError | None:
    words = failure.told.words
    if not failure.says(_OUTPUT) or failure.says(_NOT_A_LIMIT):
        return None
    if left_over := _find(_LEFT_OVER, words):
        window, taken, taken_first, window_last = (int(number or 0) for number in left_over.groups())
        limit = (window or window_last) - (taken or taken_first)
        return _too_high(failure, limit, lasting=False) if limit > 0 else None
    found = _find(_LIMIT, f"{words} {failure.told.field}")
    if found is None and not failure.says(_TOO_HIGH):
        return None
    number = next(filter(None, found.groups())) if found else ""
    return _too_high(failure, int(number.replace(",", "")) if number else None, lasting=True)


def _too_high(failure: Failure, limit: int | None, *, lasting: bool) -> ModelError:
    return OutputLimitTooHigh(
        failure.message("more output is asked for than the model gives"),
        limit=limit,
        lasting=lasting,
        hint=f"run `hermes config set model.max_tokens {limit or 4096}`",
    )


_SEES_NOTHING = _words(
    r"(?:not|n't) support (?:\w+ )?(?:image|vision|picture)|support image input",
    r"image(?:s|_url)?(?: inputs?)? (?:is|are) (?:not|un|only )\s?support",
    r"unknown variant `?image|vision is not|not a (?:vision|multimodal)",
)
_THIS_PICTURE = _words(
    r"image.{0,60}(?:too (?:large|big|small)|exceed|dimension|invalid|unsupported|corrupt)",
    r"(?:invalid|unsupported|could not process|cannot read).{0,20}image|image_too_large|invalid_image",
)


def _picture(failure: Failure) -> ModelError | None:
    blind = failure.says(_SEES_NOTHING)
    if not blind and not failure.says(_THIS_PICTURE):
        return None
    return PictureRefused(
        failure.message("the provider does not take this picture"),
        lasting=blind,
        hint=_ANOTHER if blind else "send a smaller picture, as PNG or JPEG",
    )


_OVERFLOW = _words(
    r"context[ _](?:length|window|limit|size)|maximum context|context_(?:length|window)_exceeded",
    r"(?:prompt|input|request|conversation) is too (?:long|large)|string too long|range of input length",
    r"too many (?:input |total )?tokens|tokens \+ .{0,3}max_",
    r"input (?:length|token|tokens).{0,40}exceed|exceeds? the maximum (?:number of )?(?:input )?tokens",
    r"reduce (?:the length|your (?:message|prompt))|request_too_large|(?:payload|entity) too large",
)


def _too_long(failure: Failure) -> ModelError | None:
    return _overflow(failure) if failure.status == 413 or failure.says(_OVERFLOW) else None


def _overflow(failure: Failure) -> ModelError:
    return ContextOverflow(
        failure.message("the conversation is longer than the model can read"),
        hint=f"start a new session, or {_ANOTHER}",
    )


_SCHEMA = _words(
    r"parse grammar|invalid grammar|schema conversion failed|invalid schema for function",
    r"only 'enum' and 'date-time' are supported|'(?:pattern|format)' is not (?:supported|permitted)",
)


def _schema(failure: Failure) -> ModelError | None:
    if not failure.says(_SCHEMA):
        return None
    return SchemaRefused(failure.message("the schema of a tool is not taken"), hint=_ANOTHER)


_NAME = r"[`'\"]?([A-Za-z_][\w.\[\]]*)[`'\"]?"
_REFUSED_FIELD = _words(
    rf"(?:unsupported|unknown|unrecognized|unexpected|invalid) (?:request )?"
    rf"(?:parameter|argument|field|key|property|name)s?(?: supplied)?(?:: | )(?!value){_NAME}",
    rf"unsupported value: {_NAME} does not support",
    rf"{_NAME}: extra inputs are not permitted",
    rf"(?:argument|parameter) not supported[^:]*: {_NAME}",
    rf"(?:not|n't) support (?:the )?(?:parameter |field )?{_NAME}(?: parameter| field|\.?$)",
    rf"property {_NAME} is unsupported",
    r"[`'\"]([\w.]+)[`'\"] (?:is|are) (?:not (?:supported|permitted|allowed)|deprecated|unsupported)",
)
_REFUSES = _words(r"unsupported|unknown|unrecognized|not supported|not permitted|not allowed|extra_forbidden")
_INSTEAD = _words(r"\buse [`'\"]([\w.]+)[`'\"] instead")


def _field(failure: Failure) -> ModelError | None:
    found = _find(_REFUSED_FIELD, failure.told.words)
    named = failure.told.field if failure.says(_REFUSES) else ""
    field = named or (next(filter(None, found.groups())) if found else "")
    if not field:
        return None
    instead = _find(_INSTEAD, failure.told.words)
    return FieldRefused(
        failure.message(f"the provider does not take `{field}`"),
        field=field.rstrip("."),
        instead=instead[1] if instead else "",
        hint=_ANOTHER,
    )


_NO_MODEL = _words(
    r"model_not_found|deploymentnotfound|no endpoints found for|model identifier is invalid",
    r"model\b.{0,80}(?:not found|not exist|not available|not a valid|decommissioned|retired|no longer)",
    r"(?:unknown|invalid|no such|unsupported) model|not a valid model|^\S* ?model: \S+$",
)


def _no_model(failure: Failure) -> ModelError | None:
    if failure.says(_NO_MODEL):
        return ModelNotFound(
            failure.message("the provider has no such model"),
            hint="check the model's name, or choose another with `-m PROVIDER/MODEL`",
        )
    if failure.status != 404:
        return None
    return RequestRejected(
        failure.message("the provider does not know this model or path"),
        hint="check the model name and the base URL",
    )


_REQUEST_READERS = (_reasoning, _output_limit, _picture, _too_long, _schema, _field, _no_model)


def _request(failure: Failure) -> ModelError | None:
    if failure.status not in _JUDGES_THE_REQUEST:
        return None
    errors = (read(failure) for read in _REQUEST_READERS)
    return next((error for error in errors if error is not None), None)


def _down(failure: Failure) -> ModelError | None:
    if failure.status not in _PASSES and failure.status < 500:
        return None
    if failure.status in (503, 529) or failure.says(_BUSY):
        return _overloaded(failure)
    return ProviderDown(failure.message("the provider failed"), hint=f"try again later, or {_ANOTHER}")


def _overloaded(failure: Failure) -> ModelError:
    return Overloaded(failure.message("the provider is too busy"), hint=f"try again later, or {_ANOTHER}")


_READERS: tuple[Callable[[Failure], ModelError | None], ...] = (
    _blocked,
    _unpaid,
    _refused_key,
    _limited,
    _request,
    _down,
)


def _duration(seconds: float) -> str:
    """A wait in words: `7 s`, `12 min`, `1 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours and minutes else f"{hours} h" if hours else f"{minutes} min"
