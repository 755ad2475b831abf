"""What plugins are told of questions for consent; they cannot answer them."""

from typing import Any, Literal

import msgspec

from hermes.hooks import HookHost
from hermes.protocols import Approval, Choice


class ApprovalHooks:
    """A listener to questions for consent. `surface` is where they are asked."""

    def __init__(self, hooks: HookHost, surface: str) -> None:
        self._hooks = hooks
        self._surface = surface

    async def asked(self, wanted: Approval) -> None:
        await self._hooks.emit("pre_approval_request", lambda: self._payload(wanted))

    async def answered(self, wanted: Approval, choice: Choice | Literal["timeout"]) -> None:
        await self._hooks.emit_in_passing(
            "post_approval_response", lambda: self._payload(wanted) | {"choice": choice}
        )

    async def unasked(self, wanted: Approval, *, allowed: bool) -> None:
        """Where nobody is asked there is nothing to tell."""

    def _payload(self, wanted: Approval) -> dict[str, Any]:
        return {
            "command": wanted.action,
            "description": wanted.reason,
            "pattern_key": wanted.rules[0] if wanted.rules else "",
            "pattern_keys": list(wanted.rules),
            "session_key": wanted.ids.session_id,
            "surface": self._surface,
            **msgspec.structs.asdict(wanted.ids),
        }
