"""The line where questions are typed, with history and completion, by prompt_toolkit."""

import os
from collections.abc import AsyncGenerator, Iterable
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.vt100 import Vt100_Output

from hermes.cli._border import Border, storable, visible
from hermes.cli._talk.completion import Completions
from hermes.cli._talk.past import Past
from hermes.cli._talk.plain import PROMPT
from hermes.cli._width import USUAL, columns
from hermes.errors import Interrupted

USUAL_HEIGHT = 24


class PromptReader:
    """Reads a question with all that a good terminal, `screen`, offers."""

    def __init__(
        self, border: Border, past: Past, completions: Completions, stdin: TextIO, screen: TextIO
    ) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=_History(past, border),
            completer=_Completer(completions),
            complete_while_typing=False,
            multiline=True,
            prompt_continuation="… ",
            key_bindings=_keys(),
            interrupt_exception=Interrupted,
            input=create_input(stdin),
            output=_output(screen),
        )

    async def read(self) -> str:
        """The next question; raises `EOFError` when there is none, and `Interrupted` when somebody leaves."""
        return storable(await self._session.prompt_async(PROMPT)).strip()


def _output(screen: TextIO) -> Vt100_Output:
    """The screen as prompt_toolkit writes to it, without asking where the cursor is: not all answer that."""

    def size() -> Size:
        try:
            rows, wide = os.get_terminal_size(screen.fileno()).lines, columns(screen)
        except OSError:
            rows, wide = 0, USUAL
        return Size(rows=rows or USUAL_HEIGHT, columns=wide)

    return Vt100_Output(screen, size, term=os.environ.get("TERM"), enable_cpr=False)


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Ask; after a backslash, go on in the next line."""
        buffer = event.current_buffer
        if buffer.document.char_before_cursor == "\\":
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        elif buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        """Go on in the next line."""
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        """Give up what is typed; leave where nothing is."""
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=Interrupted("interrupted"))

    return keys


class _History(History):
    """The history of the prompt, kept in a file. One that cannot be written is said once."""

    def __init__(self, past: Past, border: Border) -> None:
        super().__init__()
        self._past = past
        self._border = border
        self._is_kept = True

    def load_history_strings(self) -> Iterable[str]:
        return self._past.newest_first()

    def store_string(self, string: str) -> None:
        if self._is_kept and string.strip():
            try:
                self._past.add(string)
            except OSError as error:
                self._is_kept = False
                self._border.say(f"note: what is typed is not remembered: {error.strerror}")


class _Completer(Completer):
    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        typed, found = await self._completions.of(document.text_before_cursor)
        for offer in found:
            yield Completion(offer.text, -len(typed), visible(offer.text), visible(offer.about))
