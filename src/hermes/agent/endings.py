"""What to do about a response that is no answer yet: each remedy a fixed number of times, then the next."""

import msgspec

from hermes.agent.prompt import CONTINUE, NUDGE
from hermes.errors import ContentBlocked, HermesError, InvalidResponse
from hermes.messages import BadArguments, NormalizedResponse

_CONTINUATIONS = 3
_LARGER_LIMITS = 4
_UNFINISHED = 3
_UNREADABLE = 2
_THOUGHTS = 2
_REPEATS = 3
_ASK_OTHERWISE = "ask in other words, or choose another model with `-m PROVIDER/MODEL`"
_USUAL_LIMIT = 4_096
_LARGEST_LIMIT = 32_768


class RunCalls(msgspec.Struct, frozen=True):
    """The model wants tools."""


class Accept(msgspec.Struct, frozen=True):
    """This is the answer, or the last part of it."""


class AskAgain(msgspec.Struct, frozen=True):
    """Ask once more: after keeping what was said or not, with a message or without, with another limit."""

    keep: bool
    say: str = ""
    max_output_tokens: int | None = None


class GiveUp(msgspec.Struct, frozen=True):
    """Nothing helps."""

    error: HermesError


Step = RunCalls | Accept | AskAgain | GiveUp


class Endings:
    """The remedies of one answer. `limit` is the output limit its calls are sent with, if any.

    With `is_cut` an answer ends at that limit, and is not asked to go on.
    """

    def __init__(self, limit: int | None = None, *, is_cut: bool = False) -> None:
        self._limit = limit
        self._is_cut = is_cut
        self._spent: dict[str, int] = {}

    def judge(self, response: NormalizedResponse, *, after_tools: bool) -> Step:
        """What to do next."""
        if response.tool_calls:
            return self._calls(response)
        has_text = bool((response.content or "").strip())
        match response.finish_reason:
            case "length":
                return self._cut(has_text)
            case "incomplete" if self._may("unfinished", _UNFINISHED):
                return AskAgain(keep=True)
            case "content_filter" if not has_text:
                return GiveUp(
                    ContentBlocked("the provider does not want to answer this", hint=_ASK_OTHERWISE)
                )
        return Accept() if has_text else self._silence(response, after_tools)

    def _calls(self, response: NormalizedResponse) -> Step:
        problems = {
            bad.kind for call in response.tool_calls or () if isinstance(bad := call.parse(), BadArguments)
        }
        if "truncated" not in problems:
            if problems and self._may("unreadable call", _UNREADABLE):
                return AskAgain(keep=False)
            self._spent.clear()
            return RunCalls()
        if self._may("larger limit", _LARGER_LIMITS):
            # A call that was cut is no call: it is not kept, and asked for with more room.
            return AskAgain(keep=False, max_output_tokens=self._larger(response))
        return GiveUp(
            InvalidResponse(
                "the model's tool calls are cut off at the output limit",
                hint="raise `model.max_tokens`, or ask for less at once",
            )
        )

    def _larger(self, response: NormalizedResponse) -> int:
        used = response.usage.completion_tokens if response.usage else 0
        base = self._limit or max(used, _USUAL_LIMIT)
        return min(base << self._spent["larger limit"], max(_LARGEST_LIMIT, base))

    def _cut(self, has_text: bool) -> Step:
        if not has_text:
            return GiveUp(
                InvalidResponse(
                    "the model used up its output limit before it said anything",
                    hint="raise `model.max_tokens`, or lower `model.effort`",
                )
            )
        if self._is_cut or not self._may("continuation", _CONTINUATIONS):
            return Accept()
        return AskAgain(keep=True, say=CONTINUE)

    def _silence(self, response: NormalizedResponse, after_tools: bool) -> Step:
        thought = bool(response.reasoning)
        if after_tools and self._may("nudge", 1):
            return AskAgain(keep=thought, say=NUDGE)
        if thought and self._may("thought", _THOUGHTS):
            return AskAgain(keep=True)
        if self._may("repeat", _REPEATS):
            return AskAgain(keep=False)
        return GiveUp(
            InvalidResponse("the model answered with nothing", hint="ask again or choose another model")
        )

    def _may(self, remedy: str, times: int) -> bool:
        """Whether a remedy is left; it is spent now."""
        self._spent[remedy] = self._spent.get(remedy, 0) + 1
        return self._spent[remedy] <= times
