"""Leave the conversation."""

from hermes.cli._talk.talk import Talk


async def run(talk: Talk, _words: str) -> None:
    talk.is_over = True
