"""What plugins are told of a turn, and what they may add to it: before the first call, and at its end."""

from collections.abc import Callable, Sequence
from typing import Any

from hermes.agent.occasion import Occasion, as_dict
from hermes.hooks import HookHost

LONGEST_CONTEXT = 10_000
"""Characters that one plugin may add to a question; the rest goes to a file."""

_SHOWN = 500


class TurnHooks:
    """The hooks of one turn. `model` says who answers now; `spill` keeps a long text and says where."""

    def __init__(
        self, hooks: HookHost, occasion: Occasion, model: Callable[[], str], spill: Callable[[str], str]
    ) -> None:
        self._hooks = hooks
        self._occasion = occasion
        self._model = model
        self._spill = spill
        self._nudges = 0

    @property
    def holds_text(self) -> bool:
        """Whether the answer may still change after its last word, so that nobody should read it before."""
        return self._hooks.listens("transform_llm_output")

    async def begin(self, *, is_first: bool) -> str:
        """Tell that a turn begins; gives what plugins want the model to read with the question."""
        if is_first:
            await self._hooks.emit("on_session_start", self._session)
        heard = await self._hooks.emit(
            "pre_llm_call",
            lambda: {
                **self._session(),
                "user_message": self._occasion.question,
                "conversation_history": self._history(),
                "is_first_turn": is_first,
                "sender_id": "",
            },
        )
        pieces = filter(None, (_context(answer.value) for answer in heard))
        return "\n\n".join(map(self._fitting, pieces))

    async def verify(self, text: str, changed: Sequence[str], most: int) -> str:
        """What a plugin wants to be done before a turn that changed files may end; empty when it may."""
        if not changed or self._nudges >= most:
            return ""
        heard = await self._hooks.emit(
            "pre_verify",
            lambda: {
                **self._session(),
                "coding": True,
                "attempt": self._nudges,
                "final_response": text,
                "changed_paths": list(changed),
            },
        )
        wanted = next(filter(None, (_nudge(answer.value) for answer in heard)), "")
        self._nudges += bool(wanted)
        return wanted

    async def transform(self, text: str) -> str:
        """The answer as the first plugin that wants another one gives it."""
        heard = await self._hooks.emit(
            "transform_llm_output",
            lambda: {"response_text": text, **self._session()},
        )
        others = (answer.value for answer in heard)
        return next((other for other in others if isinstance(other, str) and other), text)

    async def answered(self, text: str) -> None:
        await self._hooks.emit(
            "post_llm_call",
            lambda: {
                **self._session(),
                "user_message": self._occasion.question,
                "assistant_response": text,
                "conversation_history": self._history(),
            },
        )

    async def end(self, *, completed: bool, interrupted: bool) -> None:
        """Tell that the turn is over. Where the user interrupted it, that is not waited for."""
        emit = self._hooks.emit_in_passing if interrupted else self._hooks.emit_too_late
        await emit(
            "on_session_end",
            lambda: {
                **self._session(),
                "api_request_id": self._occasion.api_request_id,
                "completed": completed,
                "interrupted": interrupted,
            },
        )

    async def finalize(self) -> None:
        """Tell that the session is put away."""
        await self._hooks.emit_too_late("on_session_finalize", self._session)

    def _session(self) -> dict[str, Any]:
        return {
            **self._occasion.ids(),
            "model": self._model(),
            "platform": self._occasion.platform,
        }

    def _history(self) -> list[dict[str, Any]]:
        return [as_dict(message) for message in self._occasion.history()]

    def _fitting(self, text: str) -> str:
        if len(text) <= LONGEST_CONTEXT:
            return text
        left_out = f"[… {len(text) - 2 * _SHOWN} characters left out, all of it is in {self._spill(text)} …]"
        return f"{text[:_SHOWN]}\n{left_out}\n{text[-_SHOWN:]}"


def _context(value: Any) -> str:
    found = value.get("context") if isinstance(value, dict) else value
    return found if isinstance(found, str) else ""


def _nudge(value: Any) -> str:
    match value:
        case {"action": "continue", "message": str(words)} | {"decision": "block", "reason": str(words)}:
            return words.strip()
        case _:
            return ""
