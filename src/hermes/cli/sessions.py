"""Look at past conversations: list, show, search, export, delete."""

import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import click

from hermes.cli import _complete
from hermes.cli._border import border, is_terminal, one_line
from hermes.cli._documents import FORMATS, Format, document
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.cli._transcript import plain, when
from hermes.errors import HermesError, UsageError
from hermes.messages import Message
from hermes.store import Happening, SearchHit, SessionInfo, Store

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
    if as_json:
        show_json({"sessions": found})
    elif found:
        show_table(session_table(found))
    else:
        border().say('no sessions yet; begin one with `hermes chat -q "…"`')


def session_table(sessions: Sequence[SessionInfo]) -> Table:
    """Sessions as a list."""
    columns = (
        Column("id"),
        Column("updated"),
        Column("messages", right=True),
        Column("status"),
        Column("title", least=14),
    )
    return Table(columns, [_session_cells(session) for session in sessions])


def _session_cells(session: SessionInfo) -> list[str]:
    return [session.id, when(session.updated), str(session.messages), session.status, session.title]


@command.command()
@click.argument("reference", metavar="ID", shell_complete=_complete.sessions)
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
    if as_json:
        show_json({"hits": hits})
    elif hits:
        show_table(hit_table(hits))
    else:
        border().say("nothing found; fewer words find more, and `hermes sessions list` lists all")


def hit_table(hits: Sequence[SearchHit]) -> Table:
    """Messages that were found, by the session they are in."""
    columns = (Column("session"), Column("message", right=True), Column("role"), Column("text", least=24))
    return Table(columns, [[hit.session_id, str(hit.seq), hit.role, hit.snippet] for hit in hits])


@command.command()
@click.argument("reference", metavar="ID", shell_complete=_complete.sessions)
@click.option("--format", type=click.Choice(FORMATS), default="md", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file; stdout if not given.")
@click.option("--json", "format", flag_value="json", help="The same as `--format json`.")
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
        raise HermesError(
            f"cannot write `{output}`: {error.strerror}", hint="name another file with `--output`"
        ) from error
    border().say(f"wrote `{output}`")


@command.command()
@click.argument("references", nargs=-1, required=True, metavar="ID...", shell_complete=_complete.sessions)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(references: Sequence[str], yes: bool, as_json: bool) -> None:
    """Delete sessions for good. Either all that are named are found, or none is deleted."""
    file = _file()
    found = _with_store(file, lambda store: _find_all(store, references))
    agreed = yes or _confirmed(found)
    if agreed:
        _with_store(file, lambda store: _delete_all(store, found))
    if as_json:
        show_json({"deleted": [session.id for session in found] if agreed else []})
    elif not agreed:
        border().say("nothing was deleted")
    for session in found if agreed and not as_json else ():
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
