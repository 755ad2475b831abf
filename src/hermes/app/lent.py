"""A run as plugins may use it: they ask its models and call its tools, through the same plugins again."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import msgspec

from hermes import discover
from hermes.agent.auxiliary import Spend
from hermes.agent.means import Means
from hermes.agent.occasion import Occasion
from hermes.agent.send import Emit, Ledger, ModelClient
from hermes.agent.tool_calls import ToolRunner
from hermes.agent.untrusted import unfenced
from hermes.errors import PluginError
from hermes.events import Event
from hermes.messages import Message, ToolCall
from hermes.plugins.lending import Asked, Completion
from hermes.protocols import Mismatch, Request, ToolResult

DEEPEST = 3
"""How many calls of plugins may lie within each other: one that its own call calls would never end."""

_depth: ContextVar[int] = ContextVar("depth", default=0)


class Lent:
    """One conversation, lent. `model` gives the model of a name, the conversation's own for an empty one.

    `spend` counts what is asked of models.
    """

    def __init__(
        self,
        *,
        means: Means,
        session_id: str,
        emit: Emit,
        model: Callable[[str], ModelClient],
        inbox: deque[str] | None = None,
        spend: Spend = lambda _who, _usage: None,
    ) -> None:
        self._means = means
        self._emit = emit
        self._model = model
        self._inbox = inbox
        self._spend = spend
        self._session_id = session_id

    async def complete(self, asked: Asked) -> Completion:
        client = self._model(self._name(asked))
        request = Request(
            messages=tuple(map(_message, asked.messages)),
            max_output_tokens=asked.max_tokens,
            temperature=asked.temperature,
            output_schema=asked.schema,
            stream=False,
        )
        with _one_deeper():
            async with asyncio.timeout(asked.timeout):
                response = await client.send(request, _nobody, Ledger(occasion=self._occasion()))
        self._spend(client.endpoint, response.usage)
        provider, text = client.endpoint.provider.name, response.content or ""
        return Completion(
            text=text,
            parsed=_parsed(text, asked.schema),
            provider=provider,
            model=client.endpoint.model,
            finish_reason=response.finish_reason,
            usage=msgspec.structs.asdict(response.usage) if response.usage else {},
            audit={"plugin": asked.plugin, "purpose": asked.purpose},
        )

    def _name(self, asked: Asked) -> str:
        if not (asked.provider or asked.model):
            return ""
        provider = asked.provider or self._means.models.endpoint.provider.name
        return f"{provider}/{asked.model}" if asked.model else provider

    async def dispatch_tool(self, name: str, arguments: Mapping[str, Any], *, pipeline: bool) -> ToolResult:
        with _one_deeper():
            if not pipeline:
                return await self._means.tools.call(name, self._means.tools.fit(name, arguments))
            call = ToolCall(f"plugin_{secrets.token_hex(6)}", name, msgspec.json.encode(arguments).decode())
            (result,) = await ToolRunner(self._means, self._occasion(), self._emit).run([call])
        return msgspec.structs.replace(result, text=unfenced(result.text))

    def inject_message(self, content: str, role: str) -> bool:
        if self._inbox is None or role != "user":
            return False
        self._inbox.append(content)
        return True

    def _occasion(self) -> Occasion:
        return Occasion.of(self._session_id, self._means.platform)


@contextmanager
def _one_deeper() -> Iterator[None]:
    depth = _depth.get()
    if depth >= DEEPEST:
        raise PluginError(
            "plugins call each other without an end",
            hint="a callback that asks a model is called for that question, too: look at `ctx` before asking",
        )
    token = _depth.set(depth + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def _nobody(_event: Event) -> None:
    return None


def _message(given: Mapping[str, Any]) -> Message:
    content = given.get("content")
    if isinstance(content, list):
        content = "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    role = given.get("role")
    if role not in ("system", "user", "assistant"):
        raise PluginError(f"a message of the role `{role}` cannot be asked")
    return Message(role=role, content=str(content or ""))


def _parsed(text: str, schema: Mapping[str, Any] | None) -> Any:
    if schema is None:
        return None
    value = discover.module("hermes.agent.structured").SchemaExpectation(schema).read(text)
    return None if isinstance(value, Mismatch) else value
