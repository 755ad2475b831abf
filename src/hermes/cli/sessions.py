"""Look at past conversations: list, show, search, export, delete."""

import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import click

from hermes.cli._border import border, is_terminal, one_line
from hermes.cli._documents import FORMATS, Format, document
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._transcript import plain, when
from hermes.errors import HermesError, UsageError
from hermes.messages import Message
from hermes.store import Happening, SessionInfo, Store

T = TypeVar("T")


@click.group()
def command() -> None:
    """Look at past conversations. ID is a session's id, the beginning of one, or a title."""


@command.command("list")
@click.option("-n", "limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many.")
@json_option
def list_sessions(limit: int, as_json: bool) -> None:
    """List the sessions used last, newest first."""
    found = _with_store(_file(), lambda store: store.list(limit))
    if not found:
        border().say("no sessions yet")
    if as_json:
        show_json({"sessions": found})
    for session in () if as_json else found:
        facts = f"{when(session.updated)}  {session.messages:>4}  {session.status:<11}"
        border().show(f"{session.id}  {facts}  {one_line(session.title)}\n")


@command.command()
@click.argument("reference", metavar="ID")
@click.option("--full", is_flag=True, help="Show what tools brought, summaries and events.")
@json_option
def show(reference: str, full: bool, as_json: bool) -> None:
    """Show a session."""
    session, messages, events = _with_store(_file(), lambda store: _read(store, reference))
    if as_json:
        show_json({"session": session, "messages": messages, "events": events})
    else:
        border().show(plain(session, messages, events if full else (), full=full))


@command.command()
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("-n", "limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many.")
@json_option
def search(words: Sequence[str], limit: int, as_json: bool) -> None:
    """Find messages that hold all the words."""
    hits = _with_store(_file(), lambda store: store.search(" ".join(words), limit))
    if not hits:
        border().say("nothing found")
    if as_json:
        show_json({"hits": hits})
    for hit in () if as_json else hits:
        border().show(f"{hit.session_id}  {hit.seq:>4}  {hit.role:<9}  {one_line(hit.snippet, 200)}\n")


@command.command()
@click.argument("reference", metavar="ID")
@click.option("--format", type=click.Choice(FORMATS), default="md", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file; stdout if not given.")
def export(reference: str, format: Format, output: str | None) -> None:
    """Write a session as a document."""
    session, messages, events = _with_store(_file(), lambda store: _read(store, reference))
    text = document(format, session, messages, events)
    if output is None:
        border().show(text)
        return
    try:
        with open(output, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise HermesError(f"cannot write `{output}`: {error.strerror}") from error
    border().say(f"wrote `{output}`")


@command.command()
@click.argument("references", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(references: Sequence[str], yes: bool) -> None:
    """Delete sessions for good. Either all that are named are found, or none is deleted."""
    file = _file()
    found = _with_store(file, lambda store: _find_all(store, references))
    if not yes and not _confirmed(found):
        border().say("nothing was deleted")
        return
    _with_store(file, lambda store: _delete_all(store, found))
    for session in found:
        border().say(f"deleted `{session.id}`")


def _file() -> str:
    return os.path.join(read_settings().home, "sessions.db")


def _with_store(file: str, work: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    """Run `work` on the stored sessions; a file that is not there is not made by looking."""
    store = Store.open(file if os.path.lexists(file) else None)
    for notice in store.notices:
        border().say(f"warning: {notice}")

    async def run() -> T:
        try:
            return await work(store)
        finally:
            await store.close()

    return run_in_loop(run())


async def _read(
    store: Store, reference: str
) -> tuple[SessionInfo, tuple[Message, ...], tuple[Happening, ...]]:
    session = await store.find(reference)
    return session, await store.messages(session.id), await store.events(session.id)


async def _find_all(store: Store, references: Sequence[str]) -> Sequence[SessionInfo]:
    found = [await store.find(reference) for reference in references]
    return list({session.id: session for session in found}.values())


async def _delete_all(store: Store, sessions: Sequence[SessionInfo]) -> None:
    for session in sessions:
        await store.delete(session.id)


def _confirmed(sessions: Sequence[SessionInfo]) -> bool:
    if not is_terminal(sys.stdin):
        raise UsageError(
            "nobody is here to confirm the deletion", hint="add `--yes` to delete without asking"
        )
    for session in sessions:
        border().say(f"{session.id}  {session.messages} messages  {one_line(session.title)}")
    return click.confirm(f"delete {len(sessions)} for good?", err=True)
