"""Consent from whoever is at the terminal."""

import termios
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, TextIO

from hermes.cli._border import Border, one_line
from hermes.cli._keyboard import echo, next_line
from hermes.protocols import Approval, Choice, Keep

LONGEST_SHOWN = 4_000
"""Characters of an action that are shown in full; of a longer one, both ends."""

_SHOWN_IN_A_LINE = 400
_SHOWN_REASON = 2_000
_SHOWN_RULES = 8
_OFFERED: Mapping[Keep, str] = {
    "once": "[o]nce, [N]o",
    "session": "[o]nce, this [s]ession, [N]o",
    "always": "[o]nce, this [s]ession, [a]lways, [N]o",
}
_ANSWERS: Mapping[str, Choice] = {
    **dict.fromkeys(("o", "once", "y", "yes"), "once"),
    **dict.fromkeys(("s", "session"), "session"),
    **dict.fromkeys(("a", "always"), "always"),
}


class Consent:
    """Asks the person at `stdin`."""

    def __init__(self, border: Border, stdin: TextIO) -> None:
        self._border = border
        self._stdin = stdin

    async def __call__(self, wanted: Approval) -> Choice:
        # What was typed before the question was there is no answer to it.
        with suppress(termios.error):
            termios.tcflush(self._stdin.fileno(), termios.TCIFLUSH)
        with self._border.still(), echo(self._stdin, on=True):
            self._border.say(self._question(wanted))
            answer = await next_line(self._stdin)
        return _ANSWERS.get(answer.strip().lower(), "deny")

    def _question(self, wanted: Approval) -> str:
        shown = [one_line(self._border.redact(rule), _SHOWN_IN_A_LINE) for rule in wanted.rules]
        more = [f"and {len(shown) - _SHOWN_RULES} more"] if len(shown) > _SHOWN_RULES else []
        rules = "\n".join((*shown[:_SHOWN_RULES], *more))
        action = _both_ends(self._border.redact(wanted.action))
        return (
            f"`{wanted.tool}` wants to do this:\n{_indented(action)}\n"
            f"it is asked because {one_line(self._border.redact(wanted.reason), _SHOWN_REASON)}\n"
            f"matched by:\n{_indented(rules)}\n"
            f"may it be done? {_OFFERED[wanted.keep]}"
        )


class Decided:
    """Says on the screen what was decided about an action without an answer."""

    def __init__(self, border: Border) -> None:
        self._border = border

    async def asked(self, wanted: Approval) -> None:
        """The question itself is on the screen."""

    async def answered(self, wanted: Approval, choice: Choice | Literal["timeout"]) -> None:
        if choice == "timeout":
            self._border.say(
                f"not done, nobody answered in time: {self._line(wanted)}\n"
                "hint: the setting `approvals.timeout` says how many seconds there are"
            )

    async def unasked(self, wanted: Approval, *, allowed: bool) -> None:
        if allowed:
            self._border.say(f"allowed by `--yes`: {self._line(wanted)}")
        else:
            self._border.say(
                f"not done, nobody is here to ask: {self._line(wanted)}\nhint: `--yes` allows it beforehand"
            )

    def _line(self, wanted: Approval) -> str:
        return one_line(self._border.redact(wanted.action), _SHOWN_IN_A_LINE)


def _both_ends(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    half = LONGEST_SHOWN // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def _indented(text: str) -> str:
    """Every line set in, so that no line of an action can pass for one of ours."""
    return "\n".join(f"    {line}" for line in text.splitlines())
