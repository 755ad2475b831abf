"""Take back the last question and its answer, for good."""

from hermes.cli._border import one_line
from hermes.cli._talk.talk import Talk


async def run(talk: Talk, _words: str) -> None:
    question = await talk.take_back()
    talk.border.say(f"taken back: {one_line(question.content or 'a picture')}")
