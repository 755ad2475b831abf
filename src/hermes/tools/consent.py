"""Asking a person before something is done, and what the model reads when the answer is no."""

from typing import Protocol

from hermes.protocols import Approval, Approver, ToolResult
from hermes.tools.base import failure


class HasApprover(Protocol):
    @property
    def approve(self) -> Approver: ...


async def refusal(services: HasApprover, tool: str, action: str, reason: str) -> ToolResult | None:
    """Ask for consent; None when it is given, otherwise the result to return."""
    if await services.approve(Approval(tool=tool, action=action, reason=reason)):
        return None
    return failure(
        f"the user has not consented to this ({reason}), so it was not done. "
        "Do not try to reach the same in another way; say what you wanted to do and why."
    )
