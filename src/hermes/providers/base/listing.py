"""What a server says of its models: the request for its list, and the list in any of its forms. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from hermes.errors import InvalidResponse
from hermes.messages import NOT_JSON
from hermes.protocols import Deadlines, Endpoint, HttpRequest
from hermes.transports.base import request_headers

_WINDOWS = (
    ("context_length",),
    ("context_window",),
    ("max_context_length",),
    ("max_model_len",),
    ("max_input_tokens",),
    ("limits", "max_input_tokens"),
    ("meta", "n_ctx_train"),
    ("top_provider", "context_length"),
)
_TOOLS = {"tools", "tool_use", "tool_calling", "function_calling", "trained_for_tool_use"}
_IMAGES = {"vision", "image", "images", "image_input"}
_REASONING = {"reasoning", "thinking", "include_reasoning"}
_CALLS = ("supported_parameters", "capabilities")
_SIGHT = ("input_modalities", "supported_input_modalities", "modalities", "capabilities")
_NO_ANSWER = re.compile(r"embed|rerank|whisper|\btts\b|^(?:bge|e5|gte)-|moderation|dall-e", re.IGNORECASE)
_LARGEST_WINDOW = 1_000_000_000


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A model as its server describes it; None where the server says nothing."""

    id: str
    context_window: int | None = None
    tools: bool | None = None
    images: bool | None = None
    reasoning: bool | None = None
    input_price: float | None = None
    """US dollars for a million tokens, as `output_price`."""
    output_price: float | None = None
    owner: str = ""
    answers: bool = True
    """Whether it can hold a conversation; an embedding model cannot."""


def list_request(endpoint: Endpoint, seconds: float) -> HttpRequest:
    """The question which models there are; the answer may take so many seconds."""
    url = endpoint.base_url.rstrip("/") + endpoint.provider.models_path
    deadlines = Deadlines(seconds, seconds, seconds, seconds)
    return HttpRequest("GET", url, headers=request_headers(endpoint), deadlines=deadlines)


def parse_models(body: bytes) -> tuple[ModelInfo, ...]:
    """The models of a list, each once, in its order; what has no name is left out.

    Raises `InvalidResponse` for what is no list of models at all.
    """
    try:
        answer = msgspec.json.decode(body)
    except NOT_JSON as error:
        raise InvalidResponse("the list of models is not JSON") from error
    if isinstance(answer, dict):
        answer = next((answer[name] for name in ("data", "models") if name in answer), None)
    if not isinstance(answer, list):
        raise InvalidResponse("the server's answer holds no list of models")
    models = (_model({"id": row} if isinstance(row, str) else row) for row in answer)
    return tuple({model.id: model for model in models if model is not None}.values())


def whose(names: Mapping[str, Collection[str]], server: str, models: Collection[ModelInfo]) -> str | None:
    """Which of these providers a server is, by what it calls itself; None when it does not say.

    `names` are all names of each provider, `server` is the reply's own header.
    """
    said = {_letters(word) for word in (*server.split(), *(model.owner for model in models))}
    for provider, known in names.items():
        if any(_letters(name) in word for name in known for word in said):
            return provider
    return None


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _model(row: Any) -> ModelInfo | None:
    if not isinstance(row, dict):
        return None
    id = next((row[name] for name in ("id", "name", "key", "model") if _is_name(row.get(name))), None)
    if id is None:
        return None
    kind = str(row.get("type", ""))
    price = row.get("pricing")
    return ModelInfo(
        id=id,
        context_window=next(filter(None, (_window(row, path) for path in _WINDOWS)), None),
        tools=_declared(row, _CALLS, _TOOLS),
        images=_declared(row, _SIGHT, _IMAGES),
        reasoning=_declared(row, _CALLS, _REASONING),
        input_price=_price(price, "prompt", "input"),
        output_price=_price(price, "completion", "output"),
        owner=str(row.get("owned_by") or ""),
        answers=not _NO_ANSWER.search(id) and not _NO_ANSWER.search(kind),
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _window(row: Any, path: tuple[str, ...]) -> int | None:
    for name in path:
        row = row.get(name) if isinstance(row, dict) else None
    is_number = isinstance(row, int | float) and not isinstance(row, bool)
    return int(row) if is_number and 1 <= row < _LARGEST_WINDOW else None


def _declared(row: dict[str, Any], fields: tuple[str, ...], words: set[str]) -> bool | None:
    """Whether any of the fields names one of the words; None when the row has none of the fields."""
    architecture = row.get("architecture")
    places = (row, architecture if isinstance(architecture, dict) else {})
    given = [place[field] for place in places for field in fields if place.get(field)]
    return any(word in words for value in given for word in _words(value)) if given else None


def _words(value: Any) -> Iterator[str]:
    """The words of a list, or the keys of an object that are not denied."""
    if isinstance(value, dict):
        value = [name for name, held in value.items() if held and held != {"supported": False}]
    for word in value if isinstance(value, list) else ():
        if isinstance(word, str):
            yield word.lower().replace("-", "_")


def _price(price: Any, per_token: str, per_million: str) -> float | None:
    """Dollars for a million tokens; lists give them for one token or for a million, each under its name."""
    if not isinstance(price, dict):
        return None
    for name, factor in ((per_token, 1e6), (per_million, 1)):
        try:
            dollars = float(price[name]) * factor
        except (KeyError, TypeError, ValueError):
            continue
        return round(dollars, 6) if 0 <= dollars < float("inf") else None
    return None
