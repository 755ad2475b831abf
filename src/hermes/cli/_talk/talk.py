"""The conversation itself: what is asked, and what the words with a slash act on."""

import asyncio
import re
from collections.abc import Callable, Sequence

import msgspec

from hermes import discover
from hermes.app import Dialogue, Runtime, Terms
from hermes.cli._border import Border
from hermes.cli._render import Renderer, View
from hermes.cli._talk.attach import Attached, attach
from hermes.cli._talk.completion import Completions, Offer
from hermes.errors import UnknownName, UsageError
from hermes.events import Answer, Done, Event, Failed, Reasoning, Started
from hermes.messages import Image, Message

COMMANDS = "hermes.cli._talk.commands"
_COMMAND = re.compile(r"(?s)/([A-Za-z][\w-]*)(?:\s+(.*))?")


class Talk:
    """A conversation that is held in `runtime`, on terms that may change while it is held.

    `answers` are those given so far, in whatever session; `thoughts` are those behind the last one.
    """

    def __init__(
        self,
        runtime: Runtime,
        terms: Terms,
        border: Border,
        renderer: Renderer,
        view: View,
        introduce: Callable[[str], None],
    ) -> None:
        self.runtime = runtime
        self.border = border
        self.view = view
        self.answers: list[Answer] = []
        self.thoughts = ""
        self.is_over = False
        self._renderer = renderer
        self._introduce = introduce
        self._terms = terms
        self._looking: asyncio.Task[None] | None = None
        self.dialogue: Dialogue = runtime.converse(terms)

    @property
    def terms(self) -> Terms:
        """On what terms it is held now. A session that holds nothing is none."""
        now = self.dialogue.terms
        return msgspec.structs.replace(
            self._terms,
            session=now.session if now.history else None,
            history=now.history,
            agreed=now.agreed,
        )

    def change(self, terms: Terms) -> None:
        """Go on, on other terms; where they cannot be met, nothing changes."""
        self.dialogue = self.runtime.converse(terms)
        self._terms = terms

    async def leave_session(self, terms: Terms) -> None:
        """Put this session away and go on with another."""
        old = self.dialogue
        self.change(terms)
        await old.end(self.show)

    def introduce(self) -> None:
        """Say who answers."""
        self._introduce(self._terms.model)

    def look_around(self, looking: "asyncio.Task[None]") -> None:
        """Who answers may depend on what is found by the time of the first question."""
        self._looking = looking

    async def hear(self, typed: str, images: Sequence[Image] = (), *, is_person: bool = True) -> None:
        """Do what was typed: run a word with a slash, or ask.

        What a plugin says in a person's place runs no word of ours and attaches no file.
        """
        found = _COMMAND.fullmatch(typed)
        name, words = (found[1].lower(), (found[2] or "").strip()) if found else ("", "")
        if found and is_person:
            await self.run(name, words)
            return
        if name in self.runtime.plugins.commands:
            await self._run_of_plugin(name, words)
            return
        asked = attach(typed, self.border.redact) if is_person else Attached(typed)
        for name in asked.names:
            self.border.aside(f"· with `{name}`")
        for name in asked.missing:
            self.border.aside(f"· without `{name}`: there is no such file here")
        await self.ask(asked.question, (*images, *asked.images))

    async def ask(self, question: str, images: Sequence[Image] = ()) -> None:
        """Answer one question on the screen."""
        if self._looking is not None:
            looking, self._looking = self._looking, None
            await looking
            self.change(self.terms)
            self.introduce()
        await self.dialogue.ask(question, self.show, images)

    async def run(self, name: str, words: str) -> None:
        """Run a word with a slash: one of ours, or a plugin's."""
        if name in discover.names(COMMANDS):
            await discover.load(COMMANDS, name, "command").run(self, words)
        elif name in self.runtime.plugins.commands:
            await self._run_of_plugin(name, words)
        else:
            raise UnknownName("command", f"/{name}", [offer.text for offer in self.commands()])

    async def _run_of_plugin(self, name: str, words: str) -> None:
        with self.dialogue.lend(emit=self.show):
            told = await self.runtime.plugins.run_command(name, words)
        if told:
            self.border.show(f"{told}\n")

    def commands(self) -> list[Offer]:
        """Every word with a slash, with what it does."""
        ours = {name: summary(discover.text(COMMANDS, name)) for name in discover.names(COMMANDS)}
        theirs = {name: command.description for name, command in self.runtime.plugins.commands.items()}
        return [Offer(f"/{name}", about) for name, about in sorted((theirs | ours).items())]

    def completions(self) -> Completions:
        return Completions(self.commands, self._arguments)

    async def _arguments(self, name: str) -> Sequence[Offer]:
        if name not in discover.names(COMMANDS):
            return ()
        command = discover.load(COMMANDS, name, "command")
        offers: Sequence[Offer] = await command.offers(self) if hasattr(command, "offers") else ()
        return offers

    async def take_back(self) -> Message:
        """Take back the last question and all that followed it; raises `UsageError` where there is none."""
        taken = await self.dialogue.take_back()
        if taken is None:
            raise UsageError("nothing has been asked in this session", hint="ask something first")
        question, history = taken
        session = self.dialogue.terms.session if history else None
        self.change(msgspec.structs.replace(self.terms, session=session, history=history))
        return question

    def show(self, event: Event) -> None:
        match event:
            case Started():
                self.thoughts = ""
            case Reasoning(delta):
                self.thoughts += delta
            case Done(answer) | Failed(_, answer):
                self.answers.append(answer)
            case _:
                pass
        self._renderer.show(event)


def summary(source: str) -> str:
    """The first docstring line of a file, read without running it."""
    return source.partition("\n")[0].strip('"')
