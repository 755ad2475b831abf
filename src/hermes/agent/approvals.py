"""Whether a call may be run: what is never done, what the settings say, and what a person answers."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import msgspec

from hermes.agent.digest import canonical, digest
from hermes.protocols import Approval, ApprovalListener, Approver, CallIds, Choice, Concern, Keep

PLUGIN_RULE = "plugin_rule:"
TIMEOUT = 60.0

_NO_OTHER_WAY = "Do not try to reach the same in another way; say what you wanted to do and why."
_NEVER = "this is never run: {}. Do not try to reach the same in another way."
_DENIED_BY_SETTINGS = "the user's settings deny this: `approvals.deny` holds `{}`. " + _NO_OTHER_WAY
_DENIED = "the user has not consented to this ({}), so it was not done. " + _NO_OTHER_WAY
_NO_IDS = CallIds()
_WORST: tuple[str, ...] = ("free", "ask", "forbidden")
_LONGEST: tuple[Keep, ...] = get_args(Keep)


class Refused(msgspec.Struct, frozen=True):
    """Why a call is not run, in words for the model."""

    words: str
    error_type: Literal["forbidden", "approval_denied"] = "approval_denied"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided before anything is asked.

    `deny` and `allow` are exact texts or globs; what is denied stays denied, `yes` allows all the rest.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    yes: bool = False
    timeout: float = TIMEOUT
    """Seconds a person has to answer; then the answer is no."""


UNDECIDED = Policy()


class Approvals:
    """Decides for one conversation. Questions are asked one after the other.

    `approve` is who is asked, None where nobody is. `agreed` are the rules that were allowed for this
    conversation. `remember` keeps a text for good, so that `Policy.allow` holds it the next time.
    """

    def __init__(
        self,
        policy: Policy = UNDECIDED,
        approve: Approver | None = None,
        *,
        agreed: Iterable[str] = (),
        remember: Callable[[str], None] = lambda _text: None,
        listeners: Sequence[ApprovalListener] = (),
    ) -> None:
        self._policy = policy
        self._allow = list(policy.allow)
        self._approve = approve
        self._remember = remember
        self._listeners = listeners
        self._one_at_a_time = asyncio.Lock()
        self._round: tuple[str, ...] = ()
        self._settled: dict[tuple[str, str], Refused | None] = {}
        self.agreed = set(agreed)

    async def judge(
        self, tool: str, arguments: Mapping[str, Any], concern: Concern | None, ids: CallIds = _NO_IDS
    ) -> Refused | None:
        """Why this call is not run; None when nothing speaks against it, or when it was agreed to.

        A call is known by its ids: about the same arguments it is asked once.
        """
        if concern is not None and concern.kind == "forbidden":
            return Refused(_NEVER.format(concern.reason), "forbidden")
        denied = self._denied_by(tool, arguments, concern)
        if denied is not None:
            return Refused(_DENIED_BY_SETTINGS.format(denied))
        if concern is None or concern.kind == "free" or self._is_agreed(concern):
            return None
        wanted = Approval(tool, concern.action, concern.reason, concern.rules, concern.keep, ids)
        if self._policy.yes or self._approve is None:
            return await self._unasked(wanted)
        async with self._one_at_a_time:
            # The answer to the question before may have settled this one.
            if self._is_agreed(concern):
                return None
            key = (ids.tool_call_id, digest(tool, arguments))
            settled = self._settled_in(ids)
            if key not in settled:
                settled[key] = await self._ask(wanted, self._approve)
            return settled[key]

    def _denied_by(self, tool: str, arguments: Mapping[str, Any], concern: Concern | None) -> str | None:
        if not self._policy.deny:
            return None
        texts = [call_text(tool, arguments)]
        if concern is not None:
            texts += (concern.action, *concern.parts)
        patterns = self._policy.deny
        return next((pattern for pattern in patterns for text in texts if _fits(text, pattern)), None)

    def _is_agreed(self, concern: Concern) -> bool:
        if not concern.rules:
            return False
        open_rules = [rule for rule in concern.rules if rule not in self.agreed]
        return not open_rules or (concern.keep == "always" and self._are_allowed(open_rules, concern.action))

    def _are_allowed(self, rules: Sequence[str], action: str) -> bool:
        """Whether the settings allow a call: an action by its text, what a plugin asks by its key."""
        of_plugins = [rule for rule in rules if rule.startswith(PLUGIN_RULE)]
        if not all(rule in self._allow for rule in of_plugins):
            return False
        return len(of_plugins) == len(rules) or any(_fits(action, pattern) for pattern in self._allow)

    async def _unasked(self, wanted: Approval) -> Refused | None:
        for listener in self._listeners:
            await listener.unasked(wanted, allowed=self._policy.yes)
        return None if self._policy.yes else Refused(_DENIED.format(wanted.reason))

    def _settled_in(self, ids: CallIds) -> dict[tuple[str, str], Refused | None]:
        """What was asked about the calls of one response; a call that is not known is always asked about."""
        if not (ids.api_request_id and ids.tool_call_id):
            return {}
        this_round = (ids.session_id, ids.turn_id, ids.api_request_id)
        if this_round != self._round:
            self._round, self._settled = this_round, {}
        return self._settled

    async def _ask(self, wanted: Approval, approve: Approver) -> Refused | None:
        for listener in self._listeners:
            await listener.asked(wanted)
        choice: Choice | Literal["timeout"] = "deny"
        problem = ""
        try:
            async with asyncio.timeout(self._policy.timeout):
                choice = _within(await approve(wanted), wanted.keep)
        except TimeoutError:
            choice, problem = "timeout", f"nobody answered within {self._policy.timeout:g} seconds; "
        except Exception as error:  # noqa: BLE001 - whoever was to be asked may fail in any way, and that is no consent
            problem = f"nobody could be asked: {type(error).__name__}; "
        finally:
            for listener in self._listeners:
                await listener.answered(wanted, choice)
        if choice == "deny" or choice == "timeout":
            return Refused(_DENIED.format(f"{problem}{wanted.reason}"))
        await self._keep(wanted, choice)
        return None

    async def _keep(self, wanted: Approval, choice: Keep) -> None:
        if choice == "session":
            self.agreed.update(wanted.rules)
        elif choice == "always":
            for text in _lasting(wanted):
                if text not in self._allow:
                    self._allow.append(text)
                    await asyncio.to_thread(self._remember, text)


def joined(*concerns: Concern | None) -> Concern | None:
    """Several concerns about one call as one question: the worst kind, all rules, the shortest consent."""
    found = [concern for concern in concerns if concern is not None]
    if len(found) < 2:
        return found[0] if found else None
    worst = max((concern.kind for concern in found), key=_WORST.index)
    reasons = dict.fromkeys(concern.reason for concern in found if concern.kind == worst and concern.reason)
    return Concern(
        kind=worst,
        action=found[0].action,
        reason="; ".join(reasons),
        rules=tuple(dict.fromkeys(rule for concern in found for rule in concern.rules)),
        parts=tuple(part for concern in found for part in concern.parts),
        keep=min((concern.keep for concern in found), key=_LONGEST.index),
    )


def escalated(
    tool: str,
    arguments: Mapping[str, Any],
    message: str = "",
    rule_key: str = "",
    beside: Concern | None = None,
) -> Concern:
    """The question of a plugin that wants a person to look at a call, with what else speaks against it."""
    asked = Concern(
        kind="ask",
        action=beside.action if beside is not None else call_text(tool, arguments),
        reason=message or "a plugin wants you to decide",
        rules=(f"{PLUGIN_RULE}{rule_key or tool}",),
    )
    return joined(beside, asked) or asked


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call in one line: its tool, and its arguments as JSON."""
    return f"{tool} {canonical(arguments)}"


def _within(answer: object, longest: Keep) -> Choice:
    """The answer, for no longer than it may last; what is none is a no."""
    if answer not in _LONGEST:
        return "deny"
    return min((answer, longest), key=_LONGEST.index)


def _fits(text: str, pattern: str) -> bool:
    return text.strip() == pattern or fnmatchcase(text.strip(), pattern)


def _lasting(wanted: Approval) -> list[str]:
    """What is kept of a consent for good: the very text of the action, and the rules of plugins."""
    plugins = [rule for rule in wanted.rules if rule.startswith(PLUGIN_RULE)]
    return plugins if len(plugins) == len(wanted.rules) else [*plugins, _literal(wanted.action)]


def _literal(text: str) -> str:
    """A text as a pattern that fits nothing else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text.strip())
