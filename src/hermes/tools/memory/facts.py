"""Small facts kept across sessions, in a file that a person can read and edit: one `- fact` a line."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hermes.errors import ToolError
from hermes.tools.files import writing

MOST_CHARACTERS = 4_000
LARGEST_FILE = 1 << 16
PATIENCE = 5.0

_POLL = 0.02


class Memory:
    """The facts of one home. Every change is one read and one write under a lock."""

    def __init__(self, path: str, redact: Callable[[str], str]) -> None:
        self._path = path
        self._redact = redact

    def facts(self) -> tuple[str, ...]:
        """What is remembered, in the order of the file; nothing when it cannot be read."""
        try:
            text = self._read()
        except OSError:
            return ()
        return tuple(fact for line in text.split("\n") if (fact := _fact(line)))

    def add(self, text: str) -> bool:
        """Remember a fact; False when it is there already. Raises `ToolError`."""
        fact = self._checked(text)
        with self._locked():
            lines = self._lines()
            if any(_fact(line) == fact for line in lines):
                return False
            self._write([*lines, f"- {fact}"])
        return True

    def remove(self, old: str) -> bool:
        """Forget a fact, given in full or by a part that only it has. Raises `ToolError`."""
        with self._locked():
            lines = self._lines()
            del lines[_position(lines, old)]
            self._write(lines)
        return True

    def replace(self, old: str, text: str) -> bool:
        """Put a fact in another's place; False when that changes nothing. Raises `ToolError`."""
        fact = self._checked(text)
        with self._locked():
            lines = self._lines()
            at = _position(lines, old)
            if _fact(lines[at]) == fact:
                return False
            if any(_fact(line) == fact for line in lines):
                del lines[at]
            else:
                lines[at] = f"- {fact}"
            self._write(lines)
        return True

    def _checked(self, text: str) -> str:
        fact = " ".join(text.split())
        if not fact:
            raise ToolError("`text` is empty; say what to remember")
        if not fact.isprintable():
            raise ToolError("`text` holds control characters; write it as plain text")
        if self._redact(fact) != fact:
            raise ToolError("`text` holds a key or password; secrets are not kept in memory")
        return fact

    def _read(self) -> str:
        try:
            with open(self._path, "rb") as file:
                # What is no UTF-8 is kept as it is: the file is its owner's.
                return file.read(LARGEST_FILE).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        except FileNotFoundError:
            return ""

    def _lines(self) -> list[str]:
        text = self._read()
        if len(text.encode("utf-8", "surrogateescape")) >= LARGEST_FILE:
            raise ToolError(f"`{self._path}` is too large; make it shorter")
        return text.removesuffix("\n").split("\n") if text else []

    def _write(self, lines: list[str]) -> None:
        content = "".join(f"{line}\n" for line in lines)
        if len(content) > MOST_CHARACTERS and len(content) > len(self._read()):
            raise ToolError(
                f"memory is full: {len(content)} of {MOST_CHARACTERS} characters; "
                "remove or shorten what matters least"
            )
        writing.replace(
            os.path.realpath(self._path), content.encode("utf-8", "surrogateescape"), private=True
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone with the file, among all processes; `OSError` as the `ToolError` it means."""
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            handle = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _wait_for(handle)
                yield
            finally:
                os.close(handle)
        except OSError as error:
            reason = (error.strerror or "unknown reason").lower()
            raise ToolError(f"cannot change `{self._path}`: {reason}") from error


def _wait_for(handle: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise ToolError("memory is in use by another process; try again") from None
            time.sleep(_POLL)
        else:
            return


def _fact(line: str) -> str:
    """The fact on a line, empty when it holds none: a heading or a remark of its owner."""
    stripped = line.strip()
    text = stripped[2:].strip() if stripped.startswith(("- ", "* ")) else ""
    return "".join(character for character in text if character.isprintable()).strip()


def _position(lines: list[str], old: str) -> int:
    wanted = " ".join(old.split())
    if not wanted:
        raise ToolError("`old` is empty; say which fact")
    facts = [(at, fact) for at, line in enumerate(lines) if (fact := _fact(line))]
    found = [at for at, fact in facts if fact == wanted] or [
        at for at, fact in facts if wanted.casefold() in fact.casefold()
    ]
    if len(found) == 1 or (found and _fact(lines[found[0]]) == wanted):
        return found[0]
    if found:
        raise ToolError(f"`{wanted}` is in {len(found)} facts; give one of them in full")
    raise ToolError(f"nothing remembered says `{wanted}`; the action `list` shows what is")
