"""The gate before a shell: pure, by rules over what a command would start.

It stands against mistakes and against text that talks a model into harm. It is no wall: a program that
is started can do what its user can.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from hermes.tools.places import Places
from hermes.tools.terminal.calls import Call, calls
from hermes.tools.terminal.dangerous import DANGEROUS, FETCHERS
from hermes.tools.terminal.forbidden import FORBIDDEN
from hermes.tools.terminal.words import UNKNOWN, TooTangled

LONGEST = 128_000


class Verdict(msgspec.Struct, frozen=True):
    """`ordinary` is run, `dangerous` is asked about, `forbidden` is never run."""

    kind: Literal["ordinary", "dangerous", "forbidden"]
    reason: str = ""
    fetches: bool = False
    """Whether it is seen to bring in text from the network, which a stranger may have written."""


def judge(command: str, places: Places) -> Verdict:
    """What may be done with a command, in time that grows with its length."""
    if len(command) > LONGEST:
        return Verdict("forbidden", f"it is longer than {LONGEST} characters")
    if "\0" in command or UNKNOWN in command:
        return Verdict("forbidden", "it holds characters that no command has")
    danger, fetches = "", False
    try:
        for call, where in _placed(command, places):
            for rule in FORBIDDEN:
                reason = rule(call, where)
                if reason:
                    return Verdict("forbidden", reason)
            fetches = fetches or call.name in FETCHERS
            danger = danger or next((reason for rule in DANGEROUS if (reason := rule(call, where))), "")
    except TooTangled:
        return Verdict("forbidden", "it is too tangled to be read")
    return Verdict("dangerous" if danger else "ordinary", danger, fetches)


def _placed(command: str, places: Places) -> Iterator[tuple[Call, Places]]:
    """Each call with the folder it is made in: `cd` moves those that follow."""
    where = places
    for call in calls(command, places.home):
        yield call, where
        if call.name in ("cd", "pushd") and not any(UNKNOWN in word for word in call.operands):
            target = call.operands[0] if call.operands else places.home
            where = msgspec.structs.replace(where, here=where.absolute(target))
