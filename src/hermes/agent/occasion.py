"""What a call is made for: the ids that plugins and logs know it by."""

import os
from collections.abc import Callable
from typing import Any

import msgspec

from hermes.messages import Message, ToolCall
from hermes.protocols import CallIds, Endpoint


class Occasion:
    """One turn of one session, as the calls that are made for it know it. Unknown ids are empty."""

    def __init__(
        self,
        *,
        session_id: str = "",
        task_id: str = "",
        turn_id: str = "",
        platform: str = "",
        question: str = "",
        history: Callable[[], tuple[Message, ...]] = tuple,
    ) -> None:
        self.session_id = session_id
        self.task_id = task_id
        self.turn_id = turn_id
        self.platform = platform
        self.question = question
        self.history = history
        self.calls = 0

    @classmethod
    def of(
        cls,
        session_id: str,
        platform: str,
        *,
        history: Callable[[], tuple[Message, ...]] = tuple,
        make_id: Callable[[], str] = lambda: os.urandom(4).hex(),
    ) -> "Occasion":
        """A new turn of a session, which is its own task."""
        turn_id = f"{session_id}:{session_id}:{make_id()}"
        return cls(
            session_id=session_id, task_id=session_id, turn_id=turn_id, platform=platform, history=history
        )

    def next_call(self) -> int:
        """The number of the call that is about to be made."""
        self.calls += 1
        return self.calls

    @property
    def api_request_id(self) -> str:
        """The id of the model call that was made last; its attempts share it."""
        return self.request_id(self.calls) if self.calls else ""

    def request_id(self, number: int) -> str:
        return f"{self.turn_id}:api:{number}"

    def ids(self) -> dict[str, str]:
        return {"task_id": self.task_id, "turn_id": self.turn_id, "session_id": self.session_id}

    def call_ids(self, call: ToolCall) -> CallIds:
        """A tool call of the response that came last."""
        return CallIds(tool_call_id=call.id or "", api_request_id=self.api_request_id, **self.ids())

    def context(self, attempt: "Attempt") -> dict[str, Any]:
        """An attempt as middleware knows it."""
        endpoint = attempt.endpoint
        return {
            **self.ids(),
            "api_request_id": self.request_id(attempt.number),
            "api_call_count": attempt.number,
            "attempt": attempt.attempt,
            "platform": self.platform,
            "model": endpoint.model,
            "provider": endpoint.provider.name,
            "base_url": endpoint.base_url,
            "api_mode": endpoint.provider.api_mode,
        }


def as_dict(message: Message) -> dict[str, Any]:
    """A message in the form that plugins know: that of chat completions."""
    shown: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        shown["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        shown["tool_call_id"] = message.tool_call_id
    return shown


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt of one model call: to whom it goes, and which one of how many it is."""

    endpoint: Endpoint
    number: int
    attempt: int
    most: int
    max_tokens: int | None = None
