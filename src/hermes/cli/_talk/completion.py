"""What a half-typed word may become: a word with a slash, what belongs after it, or a file after `@`."""

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress

import msgspec

MOST = 50


class Offer(msgspec.Struct, frozen=True):
    """A whole word for a half-typed one, and a few words about it."""

    text: str
    about: str = ""


class Completions:
    """Completes what is typed; `commands` are the words with a slash, `arguments` gives what one may take."""

    def __init__(
        self, commands: Callable[[], Sequence[Offer]], arguments: Callable[[str], Awaitable[Sequence[Offer]]]
    ) -> None:
        self._commands = commands
        self._arguments = arguments

    async def of(self, before: str) -> tuple[str, list[Offer]]:
        """The half-typed word at the end of `before`, and what it may become."""
        typed = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
        command, blank, _ = before.partition(" ")
        if typed.startswith("@"):
            return typed, [Offer(f"@{path}") for path in paths(typed[1:])]
        if not before.startswith("/"):
            return typed, []
        offers = await self._arguments(command[1:]) if blank else self._commands()
        return typed, [offer for offer in offers if offer.text.startswith(typed)][:MOST]


def paths(typed: str) -> Iterator[str]:
    """The files and folders whose path begins so."""
    folder, name = os.path.split(typed)
    found: list[str] = []
    with suppress(OSError):
        found = sorted(os.listdir(os.path.expanduser(folder) or "."))
    for entry in found:
        if entry.startswith(name) and (name or not entry.startswith(".")) and _is_plain(entry):
            path = os.path.join(folder, entry)
            yield f"{path}/" if os.path.isdir(os.path.expanduser(path)) else path


def _is_plain(name: str) -> bool:
    """Whether a name can stand in a question without quotes, and looks like what it is."""
    return name.isprintable() and " " not in name
