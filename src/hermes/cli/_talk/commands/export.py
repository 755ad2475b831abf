"""Write this session to a file: `/export FILE`, as `.md`, `.html` or `.json`."""

import os

from hermes.cli._documents import FORMATS, document
from hermes.cli._talk.talk import Talk
from hermes.errors import UsageError


async def run(talk: Talk, words: str) -> None:
    session = talk.terms.session
    if session is None:
        raise UsageError("there is nothing to export yet", hint="ask something first")
    path = words or f"hermes-{session.id}.md"
    format = path.rpartition(".")[2].lower()
    if format not in FORMATS:
        raise UsageError(f"`{path}` has no known ending", hint="end it in `.md`, `.html` or `.json`")
    store = talk.runtime.store()
    found, messages = await store.find(session.id), await store.messages(session.id)
    text = document(format, found, messages, await store.events(session.id))
    _write(path, text)
    talk.border.say(f"wrote `{path}`")


def _write(path: str, text: str) -> None:
    """Write a new file; one that is there is not written over."""
    try:
        with open(os.path.expanduser(path), "x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"`{path}` is there already", hint="give another name") from error
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror}", hint="give another path") from error
