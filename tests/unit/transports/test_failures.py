"""What vendors say when they refuse, word for word in their forms, and the one class each must become."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import (
    AuthFailed,
    ContentBlocked,
    ContextOverflow,
    FieldRefused,
    FormatRefused,
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
    StreamRefused,
)
from hermes.transports.base.failures import error_for_status, error_text, read_failure


def openai(message: str, type: str = "invalid_request_error", code: object = None, param: object = None):
    return {"error": {"message": message, "type": type, "param": param, "code": code}}


def anthropic(message: str, type: str = "invalid_request_error"):
    return {"type": "error", "error": {"type": type, "message": message}}


def aggregator(code: int, raw: str):
    metadata = {"raw": raw, "provider_name": "Somebody"}
    return {"error": {"message": "Provider returned error", "code": code, "metadata": metadata}}


def google(code: int, message: str, status: str):
    return [{"error": {"code": code, "message": message, "status": status}}]


def pydantic(*places: tuple):
    return {
        "detail": [
            {"type": "extra_forbidden", "loc": ["body", *place], "msg": "Extra inputs are not permitted"}
            for place in places
        ]
    }


OPENAI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
OPENAI_RATE = (
    "Rate limit reached for gpt-6 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000. "
    "Please try again in 6s. You can increase your rate limit by adding a payment method to your account "
    "at https://platform.openai.com/account/billing."
)
OPENAI_TOO_LARGE = (
    "Request too large for gpt-6 on tokens per min (TPM): Limit 30000, Requested 45000. "
    "The input or output tokens must be reduced in order to run successfully."
)
OPENAI_OVERFLOW = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens."
)
VLLM_LEFT_OVER = (
    "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 "
    "tokens and your request has 1000 input tokens (4000 > 4096 - 1000)."
)
ANTHROPIC_LEFT_OVER = (
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, "
    "decrease input length or `max_tokens` and try again"
)
GOOGLE_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. "
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 10. Please retry in 38.5s."
)
ANTHROPIC_SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block"
ANTHROPIC_MODIFIED = (
    "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
    "cannot be modified."
)
OPENAI_ENCRYPTED = "The encrypted content gAAA... could not be verified."
OPENAI_INSTEAD = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
GROQ_CAP = (
    "`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than "
    "the `context_window` for this model"
)
OPENAI_CAP = (
    "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, "
    "whereas you provided 100000."
)

CASES = {
    "a wrong key": (401, openai("Incorrect API key provided: sk-x", code="invalid_api_key"), AuthFailed),
    "a wrong key at Anthropic": (401, anthropic("invalid x-api-key", "authentication_error"), AuthFailed),
    "a wrong key at xAI": (400, {"code": "x", "error": "Incorrect API key provided: x."}, AuthFailed),
    "a wrong key at Google": (
        400,
        google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
        AuthFailed,
    ),
    "no words at all": (401, {}, AuthFailed),
    "not allowed": (403, openai("You are not allowed to sample from this model"), AuthFailed),
    "a key's own limit": (403, openai("Key limit exceeded. Manage it in settings."), QuotaExhausted),
    "a spending limit": (403, openai("The project has reached its spending limit"), QuotaExhausted),
    "OpenAI's quota": (429, openai(OPENAI_QUOTA, "insufficient_quota", "insufficient_quota"), QuotaExhausted),
    "a quota in words alone": (429, openai(OPENAI_QUOTA, "x"), QuotaExhausted),
    "a quota that comes back": (429, google(429, GOOGLE_QUOTA, "RESOURCE_EXHAUSTED"), RateLimited),
    "an empty purse": (402, openai("Insufficient Balance"), QuotaExhausted),
    "credits": (402, openai("This request requires more credits, or fewer max_tokens."), QuotaExhausted),
    "credits at Anthropic": (
        400,
        anthropic("Your credit balance is too low to access the Anthropic API."),
        QuotaExhausted,
    ),
    "a window": (402, openai("Usage limit reached. It resets in 2 hours."), RateLimited),
    "a rate that names the bill": (429, openai(OPENAI_RATE, "tokens", "rate_limit_exceeded"), RateLimited),
    "Anthropic's rate": (
        429,
        anthropic("This request would exceed your rate limit", "rate_limit_error"),
        RateLimited,
    ),
    "AWS' rate": (429, {"message": "Too many tokens, please wait before trying again."}, RateLimited),
    "nothing but 429": (429, {}, RateLimited),
    "behind an aggregator": (429, aggregator(429, "x is temporarily rate-limited upstream."), RateLimited),
    "busy by 429": (429, openai("The model is currently overloaded. Please try later."), Overloaded),
    "capacity by 429": (429, {"message": "Service tier capacity exceeded for this model."}, Overloaded),
    "larger than a minute": (429, openai(OPENAI_TOO_LARGE, "tokens", "rate_limit_exceeded"), ContextOverflow),
    "overloaded by type": (529, anthropic("Overloaded", "overloaded_error"), Overloaded),
    "503": (503, b"<html>upstream connect error</html>", Overloaded),
    "500": (500, openai("The server had an error", "server_error"), ProviderDown),
    "500 that is busy": (500, openai("The engine is currently overloaded", "server_error"), Overloaded),
    "500 with an overflow": (500, openai("the request exceeds the available context size"), ContextOverflow),
    "500 with a code": (500, openai("slow down", "requests", "rate_limit_exceeded"), RateLimited),
    "502": (502, b"Bad Gateway", ProviderDown),
    "504": (504, b"", ProviderDown),
    "408": (408, b"", ProviderDown),
    "409": (409, b"", ProviderDown),
    "424": (424, {"message": "The model produced an invalid stream"}, ProviderDown),
    "425": (425, b"", ProviderDown),
    "413 of a proxy": (413, b"<html>413 Request Entity Too Large</html>", ContextOverflow),
    "413 by type": (413, anthropic("Request exceeds the maximum size", "request_too_large"), ContextOverflow),
    "413 of a rate": (
        413,
        openai("Request too large for model x on tokens per minute (TPM)", "tokens", "rate_limit_exceeded"),
        ContextOverflow,
    ),
    "OpenAI's overflow": (400, openai(OPENAI_OVERFLOW, code="context_length_exceeded"), ContextOverflow),
    "Anthropic's overflow": (
        400,
        anthropic("prompt is too long: 210000 tokens > 200000 maximum"),
        ContextOverflow,
    ),
    "AWS' overflow": (400, {"message": "Input is too long for requested model."}, ContextOverflow),
    "Google's overflow": (
        400,
        google(400, "The input token count (12) exceeds the maximum number of tokens allowed (8).", "x"),
        ContextOverflow,
    ),
    "a sum of tokens": (
        422,
        {"error": "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens"},
        ContextOverflow,
    ),
    "an input that fills the window": (
        400,
        anthropic("input length and `max_tokens` exceed context limit: 201000 + 21333 > 200000"),
        ContextOverflow,
    ),
    "a thinking signature": (400, anthropic(ANTHROPIC_SIGNATURE), ReasoningRefused),
    "modified thinking": (400, anthropic(ANTHROPIC_MODIFIED), ReasoningRefused),
    "encrypted content": (
        400,
        openai(OPENAI_ENCRYPTED, code="invalid_encrypted_content"),
        ReasoningRefused,
    ),
    "a reasoning item": (
        400,
        openai("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        ReasoningRefused,
    ),
    "a large picture": (
        400,
        anthropic("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7 bytes > 5 bytes"),
        PictureRefused,
    ),
    "picture sizes": (
        400,
        anthropic("At least one of the image dimensions exceed max allowed size: 8000 pixels"),
        PictureRefused,
    ),
    "a model without eyes": (404, openai("No endpoints found that support image input"), PictureRefused),
    "no eyes, locally": (
        500,
        openai("image input is not supported - hint: provide the mmproj"),
        PictureRefused,
    ),
    "a strange variant": (
        400,
        openai("messages[1]: unknown variant `image_url`, expected `text`"),
        PictureRefused,
    ),
    "a grammar": (400, openai("failed to parse grammar"), SchemaRefused),
    "a policy": (
        400,
        openai("rejected by our safety system", code="content_policy_violation"),
        ContentBlocked,
    ),
    "a filter": (
        400,
        openai("The response was filtered due to Azure's content management policy", code="content_filter"),
        ContentBlocked,
    ),
    "moderation": (403, openai("x requires moderation and your input was flagged"), ContentBlocked),
    "an unknown model": (
        404,
        openai("The model `gpt-9` does not exist or you do not have access to it.", code="model_not_found"),
        ModelNotFound,
    ),
    "Anthropic's unknown model": (404, anthropic("model: claude-9", "not_found_error"), ModelNotFound),
    "Ollama's unknown model": (
        404,
        {"error": 'model "llama9" not found, try pulling it first'},
        ModelNotFound,
    ),
    "an unknown model by 400": (400, openai("foo/bar is not a valid model ID"), ModelNotFound),
    "AWS' unknown model": (400, {"message": "The provided model identifier is invalid."}, ModelNotFound),
    "an unknown path": (404, b"404 page not found", RequestRejected),
    "anything else": (400, openai("messages: at least one message is required"), RequestRejected),
    "a teapot": (418, b"", RequestRejected),
}


def encoded(body: object) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


@pytest.mark.parametrize(("status", "body", "kind"), CASES.values(), ids=CASES)
def test_a_refusal_becomes_the_class_that_says_what_to_do(status: int, body: object, kind: type[ModelError]):
    error = read_failure(status, encoded(body))
    assert type(error) is kind, error
    assert error.hint or kind is AuthFailed  # whose variable holds the key is known to the client


@pytest.mark.parametrize(
    ("status", "body", "limit", "lasting"),
    [
        (400, openai("max_tokens must be <= 8192"), 8192, True),
        (400, openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), 8192, True),
        (400, openai("Range of max_tokens should be [1, 16384]"), 16384, True),
        (400, openai(OPENAI_CAP), 4096, True),
        (400, openai(GROQ_CAP), 32768, True),
        (
            400,
            anthropic(
                "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude"
            ),
            64000,
            True,
        ),
        (
            400,
            {"message": "The maximum tokens you requested exceeds the model limit of 4096. Try again."},
            4096,
            True,
        ),
        (400, openai("max_tokens is too large"), None, True),
        (400, anthropic(ANTHROPIC_LEFT_OVER), 11760, False),
        (400, openai(VLLM_LEFT_OVER), 3096, False),
    ],
)
def test_a_limit_of_the_output_is_no_overflow(status: int, body: object, limit: int | None, lasting: bool):
    error = read_failure(status, encoded(body))
    assert isinstance(error, OutputLimitTooHigh), error
    assert (error.limit, error.lasting) == (limit, lasting)


@pytest.mark.parametrize(
    ("status", "body", "field", "instead"),
    [
        (
            400,
            openai(OPENAI_INSTEAD, code="unsupported_parameter", param="max_tokens"),
            "max_tokens",
            "max_completion_tokens",
        ),
        (400, openai(OPENAI_INSTEAD), "max_tokens", "max_completion_tokens"),
        (400, openai("Unknown parameter: 'reasoning.effort'."), "reasoning.effort", ""),
        (400, openai("Unrecognized request argument supplied: top_k"), "top_k", ""),
        (
            400,
            openai(
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
                code="unsupported_value",
                param="temperature",
            ),
            "temperature",
            "",
        ),
        (400, anthropic("output_config: Extra inputs are not permitted"), "output_config", ""),
        (
            400,
            anthropic("tools.0.custom.strict: Extra inputs are not permitted"),
            "tools.0.custom.strict",
            "",
        ),
        (400, anthropic("`temperature` is deprecated for this model."), "temperature", ""),
        (400, anthropic("This model does not support the effort parameter."), "effort", ""),
        (422, pydantic(("stream_options",)), "stream_options", ""),
        (422, pydantic(("messages", 0, "name")), "messages.0.name", ""),
        (422, {"object": "error", "message": pydantic(("parallel_tool_calls",))}, "parallel_tool_calls", ""),
        (
            400,
            google(400, 'Unknown name "reasoning": Cannot find field.', "INVALID_ARGUMENT"),
            "reasoning",
            "",
        ),
        (
            400,
            {"code": "x", "error": "Argument not supported on this model: presencePenalty"},
            "presencePenalty",
            "",
        ),
        (400, {"error": "Model x does not support parameter reasoningEffort."}, "reasoningEffort", ""),
        (400, openai("property 'stream_options' is unsupported"), "stream_options", ""),
    ],
)
def test_a_refused_field_is_named(status: int, body: object, field: str, instead: str):
    error = read_failure(status, encoded(body))
    assert isinstance(error, FieldRefused), error
    assert (error.field, error.instead) == (field, instead)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "Your organization must be verified to stream this model. Please go to: https://x"),
        (400, "This model doesn't support tool use in streaming mode."),
        (400, "The model is unsupported for streaming"),
        (422, "streaming is not supported for this model"),
        (403, "User: arn:x is not authorized to perform: x:InvokeModelWithResponseStream on resource: y"),
    ],
)
def test_a_refused_stream_is_told_from_a_refused_request(status: int, words: str):
    assert isinstance(read_failure(status, encoded(openai(words))), StreamRefused)


def test_a_key_that_may_do_nothing_is_not_asked_without_a_stream():
    words = "User: arn:x is not authorized to perform: x:InvokeModel on resource: y"
    assert isinstance(read_failure(403, encoded(openai(words))), AuthFailed)


@pytest.mark.parametrize(
    "words",
    [
        "This response_format type is unavailable now",
        "json mode cannot be combined with tool/function calling",
        "Function calling with a response mime type: 'application/json' is unsupported",
        "Invalid schema for response_format 'answer': 'required' is required to be supplied",
        "output_config.format: Extra inputs are not permitted",
        "This model doesn't support the outputConfig.textFormat field",
        "Model x does not support structured outputs",
    ],
)
def test_a_refused_schema_of_an_answer_is_named(words: str):
    assert isinstance(read_failure(400, encoded(openai(words))), FormatRefused)


def test_only_a_limit_behind_the_provider_is_beyond_another_key():
    behind = read_failure(429, encoded(aggregator(429, "rate-limited upstream")))
    own = read_failure(429, encoded(openai(OPENAI_RATE)), 6.0)
    assert isinstance(behind, RateLimited)
    assert isinstance(own, RateLimited)
    assert (behind.upstream, own.upstream, own.retry_after) == (True, False, 6.0)
    assert "rate-limited upstream" in str(behind)


def test_a_known_key_that_may_not_is_told_from_a_wrong_one():
    wrong, forbidden = read_failure(401, b""), read_failure(403, b"")
    assert isinstance(wrong, AuthFailed)
    assert isinstance(forbidden, AuthFailed)
    assert (wrong.forbidden, forbidden.forbidden) == (False, True)


def test_only_a_model_without_eyes_refuses_every_picture():
    blind = read_failure(400, encoded(openai("This model does not support image inputs")))
    large = read_failure(400, encoded(openai("image too large")))
    assert isinstance(blind, PictureRefused)
    assert isinstance(large, PictureRefused)
    assert (blind.lasting, large.lasting) == (True, False)


@pytest.mark.parametrize(("body", "kind"), [(openai("x", code=1113), QuotaExhausted), ({}, RequestRejected)])
def test_a_providers_own_code_counts_more_than_the_status(body: object, kind: type[ModelError]):
    assert type(read_failure(400, encoded(body), None, {"1113": 402})) is kind


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (7, "come back in 7 s"),
        (720, "come back in 12 min"),
        (3600, "come back in 1 h:"),
        (3900, "1 h 5 min"),
        (99_999, "27 h 47 min"),
    ],
)
def test_a_wait_is_told_in_words(seconds: float, words: str):
    assert words in str(error_for_status(429, "slow down", seconds))
    assert words in str(error_for_status(503, "slow down", seconds))


def test_words_are_quoted_in_one_line_and_not_without_end():
    error = read_failure(400, encoded(openai("no\nway " * 500)))
    assert "\n" not in str(error)
    assert len(str(error)) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "detail", "code", "type", "param", "loc", "metadata", "raw"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.integers(400, 599), st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_body_breaks_the_reader(status: int, body: bytes):
    assert isinstance(read_failure(status, body), ModelError)
    words, code = error_text(body)
    assert isinstance(words, str)
    assert isinstance(code, str)
