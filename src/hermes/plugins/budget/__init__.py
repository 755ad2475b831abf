"""A limit for what models may cost: calls are refused once a session or a day has taken its share.

A call is judged by what was spent before it, so the last one may go over the limit.
"""

import os
from datetime import datetime
from typing import Annotated, Any

import msgspec

from hermes.plugins import Block, LLMRequest, Next, plugin

from .ledger import Ledger, Spent

Limit = Annotated[float, msgspec.Meta(ge=0)]


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Limits in US dollars and tokens; None is no limit.

    The prices are those of a million tokens, for models whose price is not known.
    """

    session_dollars: Limit | None = None
    day_dollars: Limit | None = None
    session_tokens: Limit | None = None
    day_tokens: Limit | None = None
    input_price: Limit = 0.0
    output_price: Limit = 0.0


def register(ctx: Any) -> None:
    settings = msgspec.convert(dict(ctx.settings), Settings)
    Budget(settings, Ledger(os.path.join(ctx.folder, "spent.db"))).app.register(ctx)


class Budget:
    """The callbacks, with what they need."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self._settings = settings
        self._ledger = ledger
        self.app = plugin("budget", version="1.0", capabilities={"llm.block"})
        # A limit that cannot be looked up counts as reached.
        self.app.llm_execution(self.guard, priority=-100, on_error="closed")
        self.app.hook("post_api_request")(self.count)

    def guard(self, req: LLMRequest, next: Next) -> Any:
        """Let a call pass while there is something left."""
        limits, session = self._settings, self._ledger.of_session(req.ctx.session_id)
        _check("session", session, limits.session_dollars, limits.session_tokens)
        _check("day", self._ledger.of_day(_today()), limits.day_dollars, limits.day_tokens)
        return next(req)

    def count(self, *, session_id: str, usage: dict[str, int] | None, cost: float | None, **_: Any) -> None:
        """Write down what a call took."""
        if usage is None:
            return
        asked, answered = usage["input_tokens"], usage["output_tokens"]
        if cost is None:
            cost = (asked * self._settings.input_price + answered * self._settings.output_price) / 1_000_000
        self._ledger.add(_today(), session_id, cost, asked + answered)


def _check(whose: str, spent: Spent, dollars: float | None, tokens: float | None) -> None:
    if dollars is not None and spent.dollars >= dollars:
        raise _over(whose, f"${spent.dollars:.2f} of ${dollars:.2f}")
    if tokens is not None and spent.tokens >= tokens:
        raise _over(whose, f"{spent.tokens} of {tokens:.0f} tokens")


def _over(whose: str, words: str) -> Block:
    hint = "raise the limit in `plugins.entries.budget.settings`, or run `hermes plugins disable budget`"
    return Block(f"the budget of this {whose} is spent: {words}", code="budget", hint=hint)


def _today() -> str:
    return datetime.now().astimezone().date().isoformat()
