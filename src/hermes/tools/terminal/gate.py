"""The gate before a shell: pure, by rules over what a command would start.

It stands against mistakes and against text that talks a model into harm. It is no wall: a program that
is started can do what its user can.
"""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from hermes.protocols import Concern
from hermes.tools.places import Places
from hermes.tools.terminal.calls import Call, calls
from hermes.tools.terminal.dangerous import ABOUT_PATHS, DANGEROUS, FETCHERS
from hermes.tools.terminal.forbidden import FORBIDDEN
from hermes.tools.terminal.words import UNKNOWN, TooTangled

LONGEST = 128_000
MOST_REASONS = 5
LONGEST_REASON = 300

_OPERATOR = re.compile(r"[;&|<>()`\n]|\$\(")


class Verdict(msgspec.Struct, frozen=True):
    """`ordinary` is run, `dangerous` is asked about, `forbidden` is never run."""

    kind: Literal["ordinary", "dangerous", "forbidden"]
    reason: str = ""
    fetches: bool = False
    """Whether it is seen to bring in text from the network, which a stranger may have written."""
    rules: tuple[str, ...] = ()
    """The keys of all that is dangerous about it."""
    programs: tuple[str, ...] = ()
    """Each program it would start, with its arguments."""


def concern(command: str, places: Places, here: str) -> Concern:
    """What speaks against a command that is run in the folder `here`.

    A consent for good is for the very text, so it is not offered for one that strings commands together.
    """
    verdict = judge(command, msgspec.structs.replace(places, here=here))
    action = command if here == places.folder else f"cd {shlex.quote(here)} && {command}"
    is_plain = action.isprintable() and not _OPERATOR.search(action)
    return Concern(
        kind=_KINDS[verdict.kind],
        action=action,
        reason=verdict.reason,
        rules=verdict.rules,
        parts=verdict.programs,
        keep="always" if is_plain else "session",
    )


_KINDS: dict[str, Literal["forbidden", "ask", "free"]] = {
    "ordinary": "free",
    "dangerous": "ask",
    "forbidden": "forbidden",
}


# The same command is judged before consent is asked, before it is run, and for where its text comes from.
@lru_cache(maxsize=8)
def judge(command: str, places: Places) -> Verdict:
    """What may be done with a command, in time that grows with its length."""
    if len(command) > LONGEST:
        return Verdict("forbidden", f"it is longer than {LONGEST} characters")
    if "\0" in command or UNKNOWN in command:
        return Verdict("forbidden", "it holds characters that no command has")
    dangers: dict[str, str] = {}
    programs: list[str] = []
    fetches = False
    try:
        for call, where in _placed(command, places):
            for rule in FORBIDDEN:
                reason = rule(call, where)
                if reason:
                    return Verdict("forbidden", reason)
            fetches = fetches or call.name in FETCHERS
            programs.append(" ".join((call.name, *call.arguments)))
            dangers |= dict(_dangers(call, where))
    except TooTangled:
        return Verdict("forbidden", "it is too tangled to be read")
    kind: Literal["ordinary", "dangerous"] = "dangerous" if dangers else "ordinary"
    return Verdict(kind, _told(dangers), fetches, tuple(dangers), tuple(programs))


def _dangers(call: Call, where: Places) -> Iterator[tuple[str, str]]:
    """The key and the reason of everything that is dangerous about a call."""
    for rule in DANGEROUS:
        reason = rule(call, where)
        if reason:
            yield f"terminal.{rule.__name__}", reason
    for about_paths in ABOUT_PATHS:
        for path, reason in about_paths(call, where):
            yield f"terminal.{about_paths.__name__} {path}", reason


def _told(dangers: dict[str, str]) -> str:
    reasons = list(dict.fromkeys(dangers.values()))
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    return "; ".join(map(_clipped, reasons[:MOST_REASONS])) + more


def _clipped(reason: str) -> str:
    if len(reason) <= LONGEST_REASON:
        return reason
    half = LONGEST_REASON // 2
    return f"{reason[:half]}…{reason[-half:]}"


def _placed(command: str, places: Places) -> Iterator[tuple[Call, Places]]:
    """Each call with the folder it is made in: `cd` moves those that follow."""
    where = places
    for call in calls(command, places.home):
        yield call, where
        if call.name in ("cd", "pushd") and not any(UNKNOWN in word for word in call.operands):
            target = call.operands[0] if call.operands else places.home
            where = msgspec.structs.replace(where, here=where.absolute(target))
