"""The four wires behind one face, for tests that hold the same talk on each of them.

Every simulated model thinks before it calls a tool, and signs its thoughts where its protocol has that.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hermes.config import Config, load
from simulators import anthropic_messages, bedrock_converse, chat_completions, codex_responses
from simulators.model import ModelSimulator

THOUGHT = "let me see"
KEY = "sk-wire-0123456789"
Reply = Callable[..., bytes]


class Wire(NamedTuple):
    simulator: Callable[..., ModelSimulator]
    model: str
    address: str
    """The variable that says where the server is."""
    keys: dict[str, str]
    says: Callable[[str], Reply]
    calls: Callable[..., Reply]
    """Thinks, then calls tools: pairs of a name and arguments."""
    fails: Callable[..., Reply]
    listed: str
    """Where a request has its messages."""
    usage: dict[str, Any]
    """What the server says that a call took; a test may change it."""
    counted: tuple[str, ...]
    """The fields of `usage` that count the request."""

    def settings(self, home: object, server: ModelSimulator | str, **variables: str) -> Config:
        """The settings of a run that asks this server."""
        url = server if isinstance(server, str) else server.base_url
        alone = {"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false"}
        return load({**alone, self.address: url, **self.keys, **variables})

    def messages(self, body: dict[str, Any]) -> list[Any]:
        """The messages of a request, without the marks that move on with a cache."""
        return [_unmarked(message) for message in body[self.listed]]


def _unmarked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
        case list():
            return [
                _unmarked(item) for item in value if not (isinstance(item, dict) and "cachePoint" in item)
            ]
        case _:
            return value


def _is_cache_point(value: Any) -> bool:
    return isinstance(value, dict) and "cachePoint" in value


def _messages_calls(*wanted: tuple[str, Any]) -> Reply:
    uses = [anthropic_messages.uses(name, arguments) for name, arguments in wanted]
    return anthropic_messages.answers(anthropic_messages.thinks(THOUGHT), *uses)


_TOLD_ITS_WINDOW = chat_completions.Extras(fields=frozenset({"options"}))
WIRES = {
    "chat_completions": Wire(
        partial(chat_completions.ChatSimulator, extras=_TOLD_ITS_WINDOW),
        "custom/m",
        "CUSTOM_BASE_URL",
        {"CUSTOM_API_KEY": KEY},
        chat_completions.says,
        lambda *wanted: chat_completions.calls(*wanted, reasoning_content=THOUGHT),
        chat_completions.fails,
        "messages",
        chat_completions.USAGE,
        ("prompt_tokens", "total_tokens"),
    ),
    "anthropic_messages": Wire(
        anthropic_messages.MessagesSimulator,
        "anthropic/claude-sonnet-5-5",
        "ANTHROPIC_BASE_URL",
        {"ANTHROPIC_API_KEY": KEY},
        anthropic_messages.says,
        _messages_calls,
        anthropic_messages.fails,
        "messages",
        anthropic_messages.USAGE,
        ("input_tokens",),
    ),
    "codex_responses": Wire(
        codex_responses.ResponsesSimulator,
        "openai/gpt-5.5",
        "OPENAI_BASE_URL",
        {"OPENAI_API_KEY": KEY},
        codex_responses.says,
        lambda *wanted: codex_responses.calls(*wanted, thought=THOUGHT),
        codex_responses.fails,
        "input",
        codex_responses.USAGE,
        ("input_tokens", "total_tokens"),
    ),
    "bedrock_converse": Wire(
        bedrock_converse.ConverseSimulator,
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "BEDROCK_BASE_URL",
        {"AWS_BEARER_TOKEN_BEDROCK": bedrock_converse.API_KEY},
        bedrock_converse.says,
        lambda *wanted: bedrock_converse.calls(*wanted, before=[bedrock_converse.thought(THOUGHT)]),
        bedrock_converse.fails,
        "messages",
        bedrock_converse.USAGE,
        ("inputTokens", "totalTokens"),
    ),
}
