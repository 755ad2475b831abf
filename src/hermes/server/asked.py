"""What is asked, whichever shape it came in: on which terms, after what, and what is said now."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hermes.app import Terms
from hermes.errors import RequestFault
from hermes.messages import Image, Message
from hermes.protocols import ToolChoice, ToolSpec

OWN_MODEL = "hermes"
"""The name that callers give to whatever the settings choose."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its pictures; or the `results` of calls that the caller has run, to go on with."""

    terms: Terms
    question: str = ""
    images: tuple[Image, ...] = ()
    results: tuple[Message, ...] = ()


class Offered(msgspec.Struct, frozen=True):
    """The tools a caller brings, and whether one has to be used."""

    theirs: tuple[ToolSpec, ...] = ()
    choice: ToolChoice = "auto"
    only: bool = False
    """Whether our own tools are out of the question, because the caller named theirs."""


class Split(msgspec.Struct, frozen=True):
    """What was said before; and the question that is asked now, or the results to go on with."""

    history: tuple[Message, ...]
    question: Message
    results: tuple[Message, ...] = ()


def split(messages: Sequence[Message], param: str) -> Split:
    """A conversation that ends with a question or with results; raises `RequestFault` for any other."""
    if messages and messages[-1].role == "user":
        return Split(tuple(messages[:-1]), messages[-1])
    count = next((at for at, said in enumerate(reversed(messages)) if said.role != "tool"), len(messages))
    history, results = tuple(messages[: len(messages) - count]), tuple(messages[len(messages) - count :])
    called = {call.id for call in history[-1].tool_calls} if history else set()
    if not results or not {result.tool_call_id for result in results} <= called:
        raise RequestFault(
            "the last message must be a question, or the result of a call in the message before it",
            param=param,
        )
    return Split(history, Message(role="user"), results)


def offered(tools: Sequence[ToolSpec], choice: Any) -> Offered:
    """The caller's tools as they are to be used; `choice` is as OpenAI writes `tool_choice`."""
    match choice:
        case None | "auto":
            return Offered(tuple(tools))
        case "none":
            return Offered()
        case "required":
            return Offered(tuple(tools), "required")
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            named = tuple(tool for tool in tools if tool.name == name)
            if named:
                return Offered(named, "required", only=True)
    raise RequestFault("`tool_choice` is not known, or names no tool that was given", param="tool_choice")


def model_name(given: str) -> str:
    """A model as the runtime knows it."""
    return "" if given == OWN_MODEL else given


def tools_for(configured: tuple[str, ...], offers: Offered, *, searches: bool) -> tuple[str, ...]:
    """Which of our own tools are offered."""
    return configured if searches and not offers.only else ("none",)


def schema_of(format: Any, param: str) -> Mapping[str, Any] | None:
    """The JSON Schema that an answer must keep, from `json_schema` and `json_object`; None for text."""
    match format:
        case None | {"type": "text"}:
            return None
        case {"type": "json_object"}:
            return {"type": "object"}
        case {"type": "json_schema", "json_schema": {"schema": dict(schema)}}:
            return schema
        case {"type": "json_schema", "schema": dict(schema)}:
            return schema
    raise RequestFault("must be `text`, `json_object`, or `json_schema` with a schema", param=param)


def asked_of(terms: Terms, said: Split) -> Asked:
    """What is asked on these terms."""
    question = said.question
    return Asked(terms=terms, question=question.content or "", images=question.images, results=said.results)
