"""What is kept of a conversation, and what of it a model is sent."""

import pytest

from hermes.agent.conversation import Conversation
from hermes.messages import Message


class Log:
    def __init__(self):
        self.kept = []

    async def append(self, _session_id, messages):
        self.kept += messages

    async def summarise(self, _session_id, summary, _known):
        self.kept.append(summary)


def said(*words):
    return [Message(role="user", content=word) for word in words]


def sent(conversation):
    return [message.content.partition("]\n\n")[2] or message.content for message in conversation.messages[1:]]


@pytest.fixture
def log():
    return Log()


async def test_a_summary_takes_the_place_of_what_it_stands_for(log):
    talk = Conversation("s", said("a", "b", "c"), log)
    await talk.add(*said("d"))
    await talk.summarise(3, "a and b")
    assert sent(talk) == ["a and b", "c", "d"]
    await talk.add(*said("e", "f"))
    await talk.summarise(4, "a to d")
    assert sent(talk) == ["a to d", "e", "f"]
    assert [message.content for message in talk.history if not message.replaces] == list("abcdef")
    assert log.kept == list(talk.history[3:])


async def test_a_conversation_that_is_taken_up_again_sends_the_same(log):
    talk = Conversation("s", said(*"abcd"), log)
    await talk.summarise(3, "a and b")
    await talk.add(*said("e"))
    assert Conversation("s", talk.history, log).messages == talk.messages
    await talk.summarise(3, "a to c")
    await talk.add(*said("f"))
    again = Conversation("s", talk.history, log)
    assert again.messages == talk.messages
    await again.add(*said("g"))
    await again.summarise(4, "a to e")
    assert sent(again) == ["a to e", "f", "g"]


async def test_what_is_shortened_stays_in_the_history(log):
    talk = Conversation("s", said("long", "b"), log)
    talk.shorten(said("l", "b"))
    await talk.add(*said("c"))
    assert sent(talk) == ["l", "b", "c"]
    assert [message.content for message in talk.history] == ["long", "b", "c"]
