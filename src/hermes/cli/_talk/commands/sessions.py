"""List past sessions, or go on with one: `/sessions ID`."""

from collections.abc import Sequence

import msgspec

from hermes.cli._border import one_line
from hermes.cli._table import Column, Table, show_table
from hermes.cli._talk.completion import Offer
from hermes.cli._talk.talk import Talk
from hermes.cli._transcript import when

LISTED = 15
OFFERED = 50


async def run(talk: Talk, words: str) -> None:
    store = talk.runtime.store()
    if not words:
        found = await store.list(LISTED)
        if found:
            rows = [(one.id, when(one.updated), one_line(one.title)) for one in found]
            show_table(Table((Column("id"), Column("last"), Column("title", 12)), rows))
        talk.border.say("go on with one: `/sessions ID`" if found else "no sessions yet")
        return
    session = await store.find(words)
    history = await store.messages(session.id)
    await talk.leave_session(
        msgspec.structs.replace(talk.terms, session=session, history=history, agreed=frozenset())
    )
    talk.border.say(f"going on with `{session.id}`: {one_line(session.title)} ({len(history)} messages)")


async def offers(talk: Talk) -> Sequence[Offer]:
    return [Offer(one.id, one_line(one.title, 40)) for one in await talk.runtime.store().list(OFFERED)]
