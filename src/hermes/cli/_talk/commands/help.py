"""Show this list."""

from hermes.cli._table import table
from hermes.cli._talk.talk import Talk

_KEYS = """
Enter asks; Alt-Enter, or a backslash before Enter, goes on in the next line
Ctrl-C stops an answer, and leaves where nothing is typed; Ctrl-D leaves
Tab completes commands, models, sessions and files; the arrows bring back what was typed before
`@FILE` attaches a text file or a picture; the path of a picture does so without the `@`
"""


async def run(talk: Talk, _words: str) -> None:
    talk.border.show(table([(offer.text, offer.about) for offer in talk.commands()]) + _KEYS)
