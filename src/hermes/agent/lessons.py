"""What a model was found not to take, and how a call is changed for it.

A refusal names its cause, the cause gives a lesson, and a lesson changes the call. One that helped and
holds for the model is noted, so that the next call, and the next run, does not fail the same way.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from hermes.errors import (
    FieldRefused,
    FormatRefused,
    HermesError,
    OutputLimitTooHigh,
    PictureRefused,
    ReasoningRefused,
    SchemaRefused,
    StreamRefused,
)
from hermes.protocols import Notebook, Provider, Request

Action = Literal["drop", "rename", "cap", "blind", "simplify", "forget", "say", "whole"]

_TOPIC = "lessons"
_SEVEN_DAYS = 7 * 24 * 3600
_SAFE_CAP = 4096
_WHAT_IS_ASKED = frozenset({"model", "modelId", "messages", "input", "system", "instructions", "stream"})
_TOOLS = ("tools", "toolConfig")
_OF_A_TOOL = frozenset({"name", "type", "function", "parameters", "input_schema", "inputSchema", "toolSpec"})
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_DATA = frozenset({"enum", "const", "default", "examples"})
_STRICTNESS = frozenset({"pattern", "format"})


class Change(msgspec.Struct, frozen=True):
    """What to do about a field, with the new name or the limit where there is one.

    `holds` says for how long: for this call, for the session, or for every call to the model.
    """

    field: str
    action: Action
    value: str | int = ""
    holds: Literal["call", "session", "model"] = "model"


class Lesson(msgspec.Struct, frozen=True):
    """A change that helped with one model of one provider."""

    provider: str
    model: str
    field: str
    action: Action
    value: str | int = ""

    def __str__(self) -> str:
        done = {
            "drop": f"goes without `{self.field}`",
            "rename": f"wants `{self.value}` instead of `{self.field}`",
            "cap": f"gives at most {self.value} tokens",
            "blind": "takes no pictures",
            "simplify": "takes only simple tool schemas",
            "forget": "does not take its reasoning back",
            "say": "is told the schema of an answer in words",
            "whole": "does not stream",
        }
        return f"{self.provider}/{self.model} {done[self.action]}"


class Lessons:
    """The lessons in a notebook; each is forgotten after a week, since models change."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook

    def learn(self, lesson: Lesson) -> None:
        key = f"{lesson.provider}/{lesson.model} {lesson.field}"
        self._notebook.write(_TOPIC, key, msgspec.to_builtins(lesson), _SEVEN_DAYS)

    def all(self) -> tuple[Lesson, ...]:
        return tuple(_read(self._notebook.entries(_TOPIC).values()))

    def changes(self, provider: str, model: str) -> tuple[Change, ...]:
        """What to change in a call to this model from the start."""
        return tuple(
            Change(lesson.field, lesson.action, lesson.value)
            for lesson in self.all()
            if (lesson.provider, lesson.model) == (provider, model)
        )


def _read(values: Iterable[Any]) -> Iterable[Lesson]:
    for value in values:
        try:
            yield msgspec.convert(value, Lesson)
        except msgspec.ValidationError:
            continue  # written by another version


def change_for(error: HermesError, kwargs: Mapping[str, Any]) -> Change | None:
    """What may help against a refusal of this call; None where nothing is known to."""
    match error:
        case FieldRefused():
            field = _find(kwargs, error.field)
            if field is None:
                return None
            return Change(field, "rename", error.instead) if error.instead else Change(field, "drop")
        case OutputLimitTooHigh():
            return Change(
                "output limit", "cap", error.limit or _SAFE_CAP, "model" if error.lasting else "call"
            )
        case PictureRefused():
            return Change("pictures", "blind", holds="model" if error.lasting else "session")
        case SchemaRefused():
            return Change("tools", "simplify")
        case FormatRefused():
            return Change("output schema", "say")
        case StreamRefused():
            return Change("streaming", "whole", holds="session")
        case ReasoningRefused():
            return Change("reasoning", "forget", holds="session")
        case _:
            return None


def adapt_request(request: Request, provider: Provider, changes: Sequence[Change]) -> Request:
    """The request with less output asked for, with nothing opaque in it, or for a whole answer."""
    for change in changes:
        if change.action == "cap" and isinstance(change.value, int):
            limits = (request.max_output_tokens, provider.max_tokens, change.value)
            request = msgspec.structs.replace(request, max_output_tokens=min(filter(None, limits)))
        elif change.action == "forget":
            request = msgspec.structs.replace(request, issuer="")
        elif change.action == "whole":
            request = msgspec.structs.replace(request, stream=False)
    return request


def adapt_provider(provider: Provider, changes: Sequence[Change]) -> Provider:
    """The provider as one that takes no pictures or no schema of an answer, where that was found."""
    found = {change.action for change in changes}
    if "blind" in found:
        provider = msgspec.structs.replace(provider, sees=False)
    if "say" in found:
        provider = msgspec.structs.replace(provider, output="prompt")
    return provider


def adapt_kwargs(kwargs: dict[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """The payload without a field, with another name for it, or with simpler tool schemas.

    Parts of a payload are kept from call to call, so nothing is changed in place.
    """
    for change in changes:
        match change.action:
            case "drop":
                kwargs = _without(kwargs, change.field.split("."))
            case "rename" if change.field in kwargs:
                kwargs = {
                    str(change.value) if name == change.field else name: value
                    for name, value in kwargs.items()
                }
            case "simplify":
                kwargs = {
                    name: _simpler(value) if name in _TOOLS else value for name, value in kwargs.items()
                }
            case _:
                pass
    return kwargs


def _find(kwargs: Mapping[str, Any], field: str) -> str | None:
    """Where a field that was complained of stands; None when it is not there or may not be left out."""
    path = re.sub(r"\[(\w+)\]", r".\1", field)
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", path).lower()
    for wanted in dict.fromkeys((path, snake)):
        inside = (f"{name}.{wanted}" for name, value in kwargs.items() if isinstance(value, dict))
        for candidate in (wanted, *inside):
            left = _without(kwargs, candidate.split("."))
            if left != kwargs and _asks_the_same(left, kwargs, candidate):
                return candidate
    return None


def _asks_the_same(left: Mapping[str, Any], whole: Mapping[str, Any], dropped: str) -> bool:
    """Whether nothing is missing that the question is made of."""
    if any(left.get(name) != whole[name] for name in _WHAT_IS_ASKED & whole.keys()):
        return False
    tools = [name for name in _TOOLS if name in whole]
    changed = any(left.get(name) != whole[name] for name in tools)
    return all(name in left for name in tools) and not (changed and dropped.rpartition(".")[2] in _OF_A_TOOL)


def _without(value: Any, steps: Sequence[str]) -> Any:
    """The value without what the steps lead to; a list is one step for all its entries.

    Steps that are not there are passed over: some servers name the variant they took a part for.
    """
    if not steps:
        return value
    first, *rest = steps
    if isinstance(value, list):
        return [_without(entry, rest if first.isdecimal() else steps) for entry in value]
    if not isinstance(value, dict):
        return value
    if first not in value:
        return _without(value, rest)
    inner = _without(value[first], rest) if rest else None
    kept = {name: inner if name == first else entry for name, entry in value.items()}
    if not inner:
        del kept[first]
    return kept


def _simpler(schema: Any) -> Any:
    match schema:
        case dict():
            return {
                name: (
                    {key: _simpler(each) for key, each in value.items()}
                    if name in _NAMED_SCHEMAS and isinstance(value, dict)
                    else value
                    if name in _DATA
                    else _simpler(value)
                )
                for name, value in schema.items()
                if name not in _STRICTNESS
            }
        case list():
            return [_simpler(each) for each in schema]
        case _:
            return schema
