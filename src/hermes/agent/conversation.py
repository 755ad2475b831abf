"""One session's messages: all that was said, and what of it a model is sent."""

from collections.abc import Sequence

from hermes.agent.compaction import SUMMARY
from hermes.agent.prompt import SYSTEM
from hermes.messages import Message
from hermes.protocols import SessionLog


class Conversation:
    """What was said so far, and what the running turn adds.

    Nothing is ever taken out of `history`. A model is sent `messages`: after a summary was made, that
    summary in the place of what it stands for.
    """

    def __init__(
        self, session_id: str, history: Sequence[Message], log: SessionLog, system: str = SYSTEM
    ) -> None:
        self.session_id = session_id
        self._log = log
        self._history = list(history)
        self._system = Message(role="system", content=system)
        self._places = _visible(history)
        self._sent = [self._system, *(history[place] for place in self._places)]

    @property
    def history(self) -> tuple[Message, ...]:
        return tuple(self._history)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._sent)

    async def add(self, *messages: Message) -> None:
        """Keep messages; they are in the log when this returns, and on their way to it when it is stopped."""
        for message in messages:
            self._places.append(len(self._history))
            self._history.append(message)
            self._sent.append(message)
        await self._log.append(self.session_id, messages)

    async def summarise(self, before: int, summary: str) -> None:
        """Let a summary stand for the messages before this place in `messages`, the system's apart."""
        known, kept = self.history, self._places[before - 1 :]
        replaced = {at for at, message in enumerate(known) if not message.replaces}.difference(kept)
        end = max(replaced) + 1
        besides = tuple(at for at in kept if at < end)
        note = Message(role="user", content=SUMMARY + summary, replaces=end, besides=besides)
        self._places = [len(self._history), *kept]
        self._history.append(note)
        self._sent = [self._system, note, *self._sent[before:]]
        await self._log.summarise(self.session_id, note, known)

    def show_last(self, message: Message) -> None:
        """Send this in the place of what was said last; what was said stays as it was."""
        self._sent[-1] = message

    def shorten(self, messages: Sequence[Message]) -> None:
        """Send these in the place of the same messages; what was said stays as it was."""
        self._sent = [self._system, *messages]


def _visible(history: Sequence[Message]) -> list[int]:
    """The places of what is sent: the last summary, then all that it does not stand for but the summaries."""
    last = next((at for at in range(len(history) - 1, -1, -1) if history[at].replaces), None)
    if last is None:
        return list(range(len(history)))
    summary = history[last]
    kept = (*summary.besides, *range(summary.replaces, len(history)))
    return [last, *(at for at in kept if at < len(history) and not history[at].replaces)]
