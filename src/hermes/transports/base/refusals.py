"""What is wrong with a request, from the words in which it was refused."""

from hermes.errors import (
    ContextOverflow,
    FieldRefused,
    FormatRefused,
    ModelError,
    ModelNotFound,
    OutputLimitTooHigh,
    PictureRefused,
    ReasoningRefused,
    RequestRejected,
    SchemaRefused,
    StreamRefused,
)
from hermes.transports.base.told import Failure, any_of, find

ANOTHER = "choose another model with `-m PROVIDER/MODEL`"
_STATUSES = frozenset({400, 404, 413, 415, 422, 500})

_REASONING = any_of(
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


_OUTPUT = any_of(r"max[_ ]?(?:completion[_ ]|output[_ ]|new[_ ])?tokens|maximum tokens you requested")
_TOO_HIGH = any_of(r"too (?:large|high|big)|exceed|maximum|must be (?:<|less|lower)|valid range|should be \[")
_NOT_A_LIMIT = any_of(r"unsupported parameter|unknown parameter|not permitted|tokens \+ ")
_LIMIT = any_of(
    r"> ?(\d[\d,]*), which is",
    r"(?:<=?|≤|less than or equal to|at most|up to|lower than|limit of|maximum (?:value )?(?:of|is))"
    r"\s*`?(\d[\d,]*)",
    r"\[ ?\d+ ?, ?(\d[\d,]*) ?\]",
)
_LEFT_OVER = any_of(r"\d+ > (\d+) - (\d+)", r"(\d+) \+ \d+ > (\d+)")


def _output_limit(failure: Failure) -> ModelError | None:
    words = failure.told.words
    if not failure.says(_OUTPUT) or failure.says(_NOT_A_LIMIT):
        return None
    if left_over := find(_LEFT_OVER, words):
        window, taken, taken_first, window_last = (int(number or 0) for number in left_over.groups())
        limit = (window or window_last) - (taken or taken_first)
        return _too_high(failure, limit, lasting=False) if limit > 0 else None
    found = find(_LIMIT, f"{words} {failure.told.field}")
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


_SEES_NOTHING = any_of(
    r"(?:not|n't) support (?:\w+ )?(?:image|vision|picture)|support image input",
    r"image(?:s|_url)?(?: inputs?)? (?:is|are) (?:not|un|only )\s?support",
    r"unknown variant `?image|vision is not|not a (?:vision|multimodal)",
)
_THIS_PICTURE = any_of(
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
        hint=ANOTHER if blind else "send a smaller picture, as PNG or JPEG",
    )


_OVERFLOW = any_of(
    r"context[ _](?:length|window|limit|size)|maximum context|context_(?:length|window)_exceeded",
    r"(?:prompt|input|request|conversation) is too (?:long|large)|string too long|range of input length",
    r"too many (?:input |total )?tokens|tokens \+ .{0,3}max_",
    r"input (?:length|token|tokens).{0,40}exceed|exceeds? the maximum (?:number of )?(?:input )?tokens",
    r"reduce (?:the length|your (?:message|prompt))|request_too_large|(?:payload|entity) too large",
)


def _too_long(failure: Failure) -> ModelError | None:
    return overflow(failure) if failure.status == 413 or failure.says(_OVERFLOW) else None


def overflow(failure: Failure) -> ModelError:
    return ContextOverflow(
        failure.message("the conversation is longer than the model can read"),
        hint=f"start a new session, or {ANOTHER}",
    )


_SCHEMA = any_of(
    r"parse grammar|invalid grammar|schema conversion failed|invalid schema for function",
    r"only 'enum' and 'date-time' are supported|'(?:pattern|format)' is not (?:supported|permitted)",
)


def _schema(failure: Failure) -> ModelError | None:
    if not failure.says(_SCHEMA):
        return None
    return SchemaRefused(failure.message("the schema of a tool is not taken"), hint=ANOTHER)


_STREAM = any_of(
    r"verified to stream|unsupported for streaming|(?:not|n't) support .{0,60}stream(?:ing)?\b",
    r"stream(?:ing)? (?:is|are) (?:not|un)\s?(?:supported|available|allowed|permitted)",
    r"not authorized to perform: \S*stream\b",
)


def refused_stream(failure: Failure) -> ModelError | None:
    """Whether only the streaming was refused; also a key may be allowed the rest and not that."""
    if failure.status not in (*_STATUSES, 403) or not failure.says(_STREAM):
        return None
    return StreamRefused(failure.message("the provider does not stream this"), hint=ANOTHER)


_FORMAT = any_of(
    r"response[_ ]format|response mime type|json[_ ]schema|json mode|structured output",
    r"output_config\.format|text\.?format",
)
_UNFIT = any_of(
    r"unsupported|unknown|unrecognized|unexpected|unavailable|invalid schema|extra (?:inputs|fields)",
    r"(?:not|n't) (?:be )?(?:support|permit|allow|available|combined|used)",
)


def _format(failure: Failure) -> ModelError | None:
    is_blamed = failure.says(_FORMAT) or find(_FORMAT, failure.told.field)
    if not is_blamed or not failure.says(_UNFIT):
        return None
    return FormatRefused(failure.message("the provider takes no schema for the answer"), hint=ANOTHER)


_NAME = r"[`'\"]?([A-Za-z_][\w.\[\]]*)[`'\"]?"
_REFUSED_FIELD = any_of(
    rf"(?:unsupported|unknown|unrecognized|unexpected|invalid) (?:request )?"
    rf"(?:parameter|argument|field|key|property|name)s?(?: supplied)?(?:: | )(?!value){_NAME}",
    rf"unsupported value: {_NAME} does not support",
    rf"{_NAME}: extra inputs are not permitted",
    rf"(?:argument|parameter) not supported[^:]*: {_NAME}",
    rf"(?:not|n't) support (?:the )?(?:parameter |field )?{_NAME}(?: parameter| field|\.?$)",
    rf"property {_NAME} is unsupported",
    r"[`'\"]([\w.]+)[`'\"] (?:is|are) (?:not (?:supported|permitted|allowed)|deprecated|unsupported)",
)
_REFUSES = any_of(r"unsupported|unknown|unrecognized|not supported|not permitted|not allowed|extra_forbidden")
_INSTEAD = any_of(r"\buse [`'\"]([\w.]+)[`'\"] instead")


def _field(failure: Failure) -> ModelError | None:
    found = find(_REFUSED_FIELD, failure.told.words)
    named = failure.told.field if failure.says(_REFUSES) else ""
    field = named or (next(filter(None, found.groups())) if found else "")
    if not field:
        return None
    instead = find(_INSTEAD, failure.told.words)
    return FieldRefused(
        failure.message(f"the provider does not take `{field}`"),
        field=field.rstrip("."),
        instead=instead[1] if instead else "",
        hint=ANOTHER,
    )


_NO_MODEL = any_of(
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


_READERS = (_reasoning, _output_limit, _picture, _too_long, _schema, _format, _field, _no_model)


def read_refusal(failure: Failure) -> ModelError | None:
    """What is wrong with the request, where the provider judged it and said so."""
    if failure.status not in _STATUSES:
        return None
    errors = (read(failure) for read in _READERS)
    return next((error for error in errors if error is not None), None)
