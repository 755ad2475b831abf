"""Keeps a conversation within the window of its model, without losing a word of what was said."""

from collections.abc import Awaitable, Callable, Sequence

from hermes.agent import compaction
from hermes.agent.conversation import Conversation
from hermes.agent.send import Emit
from hermes.errors import HermesError
from hermes.events import Compacted
from hermes.messages import Message, Usage

Summarise = Callable[[tuple[Message, ...]], Awaitable[str]]


class Room:
    """Makes a conversation shorter when it has to be: old tool results first, then a summary.

    Tokens that a provider counted are believed; what came after is estimated.
    """

    def __init__(self, conversation: Conversation, summarise: Summarise, emit: Emit) -> None:
        self._conversation = conversation
        self._summarise = summarise
        self._emit = emit
        self._counted = 0
        self._seen = 0

    def count(self, usage: Usage | None) -> None:
        """Take note of what the provider counted for the messages it was just sent."""
        if usage is not None and usage.prompt_tokens:
            self._counted, self._seen = usage.prompt_tokens, len(self._conversation.messages)

    def tokens(self) -> int:
        return self._counted + compaction.estimate(self._conversation.messages[self._seen :])

    async def make(self, window: int | None, output_limit: int | None) -> None:
        """Before a call: shorten the conversation when it nears the end of the window."""
        if window is None:
            return
        limit = compaction.threshold(window, output_limit)
        if self.tokens() > limit:
            await self._shorten(limit)

    async def shrink(self) -> bool:
        """After a call that was too long: shorten by half; false when there is nothing left to go."""
        return await self._shorten(max(self.tokens() // 2, 1))

    async def _shorten(self, limit: int) -> bool:
        before, counted = self.tokens(), self._counted
        keep = compaction.kept_tokens(limit)
        if not self._clear(keep, limit) and not await self._sum_up(keep) and not self._clip(limit):
            return False
        self._counted = self._seen = 0
        self._emit(Compacted(before, self.tokens(), counted))
        return True

    def _clear(self, keep: int, limit: int) -> bool:
        """Leave long results out where that alone is enough, or where nothing else can go."""
        said = self._conversation.messages[1:]
        shorter = compaction.cleared(said, keep)
        if shorter == said:
            return False
        is_enough = compaction.estimate(shorter) <= limit * 3 // 4
        if is_enough or compaction.cut(said, keep) < 2:
            self._conversation.shorten(shorter)
            return True
        return False

    async def _sum_up(self, keep: int) -> bool:
        said = self._conversation.messages
        place = 1 + compaction.cut(said[1:], keep)
        if place < 3:
            return False
        await self._conversation.summarise(place, await self._words_for(said[1:place]))
        return True

    def _clip(self, limit: int) -> bool:
        """Cut what was just brought in, where it is too long by itself."""
        said = self._conversation.messages[1:]
        shorter = compaction.clipped(said, limit)
        self._conversation.shorten(shorter)
        return shorter != said

    async def _words_for(self, messages: Sequence[Message]) -> str:
        """A summary by a model; where that fails, what was asked and answered, cut short."""
        asked = Message(role="user", content=compaction.SUMMARISE)
        try:
            return await self._summarise((*messages, asked))
        except HermesError:
            return compaction.digest(messages)
