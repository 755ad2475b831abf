"""Keys, e-mail addresses and long numbers are replaced before a model, a person or a log reads them."""

from typing import Any

import msgspec

from hermes.plugins import CallContext, LLMRequest, Next, ToolCall, plugin

from .bodies import cleaned
from .scrubber import Scrubber, Sort, pattern_of, scrubbed


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Which sorts are replaced."""

    sorts: tuple[Sort, ...] = ("keys", "emails")


def register(ctx: Any) -> None:
    Redaction(msgspec.convert(dict(ctx.settings), Settings).sorts).app.register(ctx)


class Redaction:
    """The callbacks, with the answers that are on their way."""

    def __init__(self, sorts: tuple[Sort, ...]) -> None:
        self._sorts = sorts
        self._pattern = pattern_of(sorts)
        self._answers: dict[tuple[str, str], tuple[int, Scrubber]] = {}
        self.app = plugin("redact", version="1.0", capabilities={"llm.rewrite", "tool.wrap"})
        # Last of all that rewrite, and first of all that see a result.
        self.app.llm_request(self.clean_request, priority=100, on_error="closed")
        self.app.tool_execution(self.clean_result, priority=-100)
        self.app.stream(self.clean_piece, priority=-100, on_error="closed")
        self.app.hook("api_request_error")(self.forget)

    def clean_request(self, req: LLMRequest) -> LLMRequest | None:
        body = cleaned(req.body, self._clean)
        return req.with_(**body).because("replaced what looks private") if body != req.body else None

    async def clean_result(self, call: ToolCall, next: Next) -> Any:
        result = await next(call)
        return self._clean(result) if isinstance(result, str) else result

    def clean_piece(self, delta: str, ctx: CallContext, kind: str, final: bool, attempt: int = 1) -> str:
        """A piece of an answer; what may be half of something private waits for the next one."""
        key = (ctx.api_request_id, kind)
        number, scrubber = self._answers.get(key) or (0, None)
        if scrubber is None or number != attempt:
            scrubber = Scrubber(self._sorts)
            self._answers[key] = (attempt, scrubber)
        told = scrubber.feed(delta)
        if not final:
            return told
        del self._answers[key]
        return told + scrubber.end()

    def forget(self, *, api_request_id: str, **_: Any) -> None:
        """An answer that broke off: what was held back of it is not told."""
        for kind in ("text", "reasoning"):
            self._answers.pop((api_request_id, kind), None)

    def _clean(self, text: str) -> str:
        return scrubbed(text, self._pattern)
