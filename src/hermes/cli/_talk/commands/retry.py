"""Ask the last question again, in the place of the answer it had."""

from hermes.cli._talk.talk import Talk


async def run(talk: Talk, _words: str) -> None:
    question = await talk.take_back()
    await talk.ask(question.content or "", question.images)
