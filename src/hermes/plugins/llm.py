"""`ctx.llm`: a model's answer for a plugin, by the user's own settings and keys."""

from collections.abc import Mapping, Sequence
from typing import Any

from hermes.config import PluginEntry
from hermes.errors import NotAllowed
from hermes.plugins.capabilities import CALL_MODELS
from hermes.plugins.lending import Asked, Completion, Lender


class PluginLlm:
    """Asks models for one plugin. Another provider or model than the conversation's has to be allowed."""

    def __init__(self, plugin: str, entry: PluginEntry, capabilities: frozenset[str], lender: Lender) -> None:
        self._plugin = plugin
        self._allowed = entry.llm
        self._capabilities = capabilities
        self._lender = lender

    def complete(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Completion:
        """The answer to messages of `role` and `content`.

        Options are `provider`, `model`, `max_tokens`, `temperature`, `timeout` and `purpose`.
        """
        asked = self._asked(messages, options)
        return self._lender.wait("complete", lambda host: host.complete(asked))

    async def acomplete(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Completion:
        """The same for async code."""
        asked = self._asked(messages, options)
        return await self._lender.ask("complete", lambda host: host.complete(asked))

    def complete_structured(self, *, instructions: str, input: Any, **options: Any) -> Completion:
        """An answer as data, in `parsed`: by `json_schema`, or as any JSON object.

        `input` is text, or a list of text and of parts such as `{"type": "text", "text": …}`.
        """
        asked = self._structured(instructions, input, options)
        return self._lender.wait("complete_structured", lambda host: host.complete(asked))

    async def acomplete_structured(self, *, instructions: str, input: Any, **options: Any) -> Completion:
        """The same for async code."""
        asked = self._structured(instructions, input, options)
        return await self._lender.ask("complete_structured", lambda host: host.complete(asked))

    def _structured(self, instructions: str, input: Any, options: Mapping[str, Any]) -> Asked:
        system = "\n\n".join(part for part in (options.get("system_prompt"), instructions) if part)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": _text_of(input)}]
        rest = {name: value for name, value in options.items() if name not in _OF_STRUCTURED}
        return self._asked(messages, {**rest, "schema": options.get("json_schema") or {"type": "object"}})

    def _asked(self, messages: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Asked:
        given = {name: value for name, value in options.items() if value is not None}
        unknown = sorted(set(given) - _OPTIONS)
        if unknown:
            raise TypeError(f"`{unknown[0]}` is no option of a completion")
        if CALL_MODELS not in self._capabilities:
            raise NotAllowed(
                f"the plugin `{self._plugin}` may not ask models",
                hint=f"it needs the capability `{CALL_MODELS}`, which `hermes plugins enable` grants",
            )
        self._check("provider", given.get("provider"))
        self._check("model", given.get("model"))
        return Asked(plugin=self._plugin, messages=tuple(dict(message) for message in messages), **given)

    def _check(self, what: str, wanted: str | None) -> None:
        """Raises unless another provider or model is allowed, and this one among those."""
        if not wanted:
            return
        is_open = getattr(self._allowed, f"allow_{what}_override")
        listed = getattr(self._allowed, f"allowed_{what}s")
        if not is_open or (listed and wanted not in listed):
            raise NotAllowed(
                f"the plugin `{self._plugin}` may not ask the {what} `{wanted}`",
                hint=f"allow it under `plugins.entries` in config.yaml: `allow_{what}_override`",
            )


_OPTIONS = frozenset(Asked.__struct_fields__) - {"plugin", "messages"}
_OF_STRUCTURED = frozenset({"json_schema", "json_mode", "schema_name", "system_prompt"})


def _text_of(input: Any) -> str:
    parts = input if isinstance(input, list | tuple) else [input]
    texts = (part.get("text", "") if isinstance(part, Mapping) else part for part in parts)
    return "\n\n".join(str(text) for text in texts if text)
