"""Start a new session."""

import msgspec

from hermes.cli._talk.talk import Talk


async def run(talk: Talk, _words: str) -> None:
    await talk.leave_session(
        msgspec.structs.replace(talk.terms, session=None, history=(), agreed=frozenset())
    )
    talk.border.say("a new session")
