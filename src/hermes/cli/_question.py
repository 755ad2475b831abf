"""The question: from the option, from standard input, or from both."""

import os
import select
from typing import TextIO

from hermes.cli._border import border, storable
from hermes.errors import UsageError

LARGEST = 10_000_000
"""Bytes of standard input that a question may have: more than any model reads."""
PATIENCE = 1.0
"""Seconds before a person is told that Hermes waits for standard input."""


def read_question(query: str | None, stdin: TextIO | None) -> str:
    """The option's text with standard input appended, when that is not a terminal."""
    piped = "" if stdin is None or stdin.isatty() else _read_piped(stdin)
    question = "\n\n".join(part for part in ((query or "").strip(), piped.strip()) if part)
    if not question:
        raise UsageError("the question is empty", hint='ask with `hermes chat -q "…"` or on standard input')
    return storable(question)


def words_alone(stdin: TextIO | None, *, is_shown: bool) -> list[str]:
    """What `hermes` alone means: a talk where a person is, what is piped in as a question, or nothing."""
    if stdin is None:
        return []
    if stdin.isatty():
        return ["chat"] if is_shown else []
    is_open = bool(select.select([stdin.fileno()], [], [], PATIENCE)[0])
    question = _read_piped(stdin).strip() if is_open else ""
    return ["chat", f"--query={question}"] if question else []


def _read_piped(stdin: TextIO) -> str:
    source = stdin.fileno()
    if not select.select([source], [], [], PATIENCE)[0]:
        border().say("waiting for standard input; close it (Ctrl-D, or `< /dev/null`) to go on")
    with os.fdopen(os.dup(source), "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(
            f"standard input is longer than {LARGEST:,} bytes",
            hint="pipe less of it, or add it to your documents with `hermes index add` and ask about it",
        )
    if b"\0" in data[:65536]:
        raise UsageError(
            "standard input is not text", hint="pipe text; add documents with `hermes index add`"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 text (byte {error.start})",
            hint="convert it first, for example with `iconv -t utf-8`",
        ) from error
