"""Show this list."""

from hermes.cli._table import Column, Table, show_table
from hermes.cli._talk.talk import Talk
from hermes.cli._width import columns, folded

_KEYS = """
Enter asks; Alt-Enter, or a backslash before Enter, goes on in the next line
Ctrl-C stops an answer, and leaves where nothing is typed; Ctrl-D leaves
Tab completes commands, models, sessions and files; the arrows bring back what was typed before
`@FILE` attaches a text file or a picture; the path of a picture does so without the `@`
"""


async def run(talk: Talk, _words: str) -> None:
    rows = [(offer.text, offer.about) for offer in talk.commands()]
    show_table(Table((Column("word"), Column("does", 12, wraps=True)), rows))
    talk.border.show(folded(_KEYS, columns(talk.border.stdout)))
