"""Show the tools that are offered, or choose others with `/tools NAME,NAME` (`none`, `all`)."""

from collections.abc import Sequence

import msgspec

from hermes.cli._border import one_line
from hermes.cli._table import Column, Table, show_table
from hermes.cli._talk.completion import Offer
from hermes.cli._talk.talk import Talk
from hermes.tools.toolbox import ALL, NONE, select


async def run(talk: Talk, words: str) -> None:
    if words:
        names = tuple(words.replace(",", " ").split())
        talk.change(msgspec.structs.replace(talk.terms, tools=names))
    offered = talk.dialogue.tools
    if offered:
        rows = [(tool.name, one_line(tool.description.partition(". ")[0])) for tool in offered]
        show_table(Table((Column("tool"), Column("does", 12)), rows))
    else:
        talk.border.say("no tool is offered")


async def offers(talk: Talk) -> Sequence[Offer]:
    tools = select([ALL], talk.runtime.plugins.tools)
    sets = sorted({tool.toolset for tool in tools})
    return [*map(Offer, (ALL, NONE, *sets)), *(Offer(tool.spec.name, tool.toolset) for tool in tools)]
