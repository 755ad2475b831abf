"""Run as a program: takes a session up, says or sums up what its input tells it, and answers with `ok`.

`say WORD` adds a message. `sum N` lets a summary, made of their words, stand for the first N messages.
"""

import asyncio
import sys

from hermes.agent.compaction import SUMMARY
from hermes.agent.conversation import Conversation
from hermes.app.dialogue import Journal
from hermes.config import load
from hermes.messages import Message
from hermes.store import Store


def words(messages):
    """All that these messages hold, in order: a summary holds what it was made of."""
    return " ".join(message.content.removeprefix(SUMMARY) for message in messages).split()


async def act(conversation, line):
    match line.split():
        case ["say", word]:
            await conversation.add(Message("user", word))
        case ["sum", count]:
            before = int(count) + 1
            await conversation.summarise(before, " ".join(words(conversation.messages[1:before])))


async def take_up(store, redact):
    return Conversation("s", await store.messages("s"), Journal(store, redact, []))


async def main(path):
    store = Store.open(path)
    conversation = await take_up(store, load({}).redactor())
    print("ok", flush=True)
    for line in sys.stdin:
        await act(conversation, line)
        print("ok", flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
