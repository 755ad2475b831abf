"""Look at past conversations: list, show, search, export, delete."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal, TypeVar

import click
import msgspec

from hermes.cli._settings import read_settings
from hermes.cli._transcript import markdown, one_line, plain, when
from hermes.errors import HermesError, UsageError
from hermes.messages import Message
from hermes.store import SessionInfo, Store

T = TypeVar("T")
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *_BIDI} - {ord("\n"), ord("\t")}
_VISIBLE = {code: f"\\u{code:04x}" for code in _CONTROLS}
_as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group()
def command() -> None:
    """Look at past conversations. ID is a session's id, the beginning of one, or a title."""


@command.command("list")
@click.option("-n", "limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many.")
@_as_json
def list_sessions(limit: int, as_json: bool) -> None:
    """List the sessions used last, newest first."""
    found = _with_store(_file(), lambda store: store.list(limit))
    if not found:
        click.echo("no sessions yet", err=True)
    if as_json:
        _print_json({"sessions": found})
    for session in () if as_json else found:
        facts = f"{when(session.updated)}  {session.messages:>4}  {session.status:<11}"
        _print(f"{session.id}  {facts}  {one_line(session.title)}\n")


@command.command()
@click.argument("reference", metavar="ID")
@click.option("--full", is_flag=True, help="Show the results of tools whole.")
@_as_json
def show(reference: str, full: bool, as_json: bool) -> None:
    """Show a session."""
    session, messages = _with_store(_file(), lambda store: _read(store, reference))
    if as_json:
        _print_json({"session": session, "messages": messages})
    else:
        _print(plain(session, messages, full=full))


@command.command()
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("-n", "limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many.")
@_as_json
def search(words: Sequence[str], limit: int, as_json: bool) -> None:
    """Find messages that hold all the words."""
    hits = _with_store(_file(), lambda store: store.search(" ".join(words), limit))
    if not hits:
        click.echo("nothing found", err=True)
    if as_json:
        _print_json({"hits": hits})
    for hit in () if as_json else hits:
        _print(f"{hit.session_id}  {hit.seq:>4}  {hit.role:<9}  {one_line(hit.snippet, 200)}\n")


@command.command()
@click.argument("reference", metavar="ID")
@click.option("--format", "format", type=click.Choice(["md", "json"]), default="md", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file; stdout if not given.")
def export(reference: str, format: Literal["md", "json"], output: str | None) -> None:
    """Write a session as a document."""
    session, messages = _with_store(_file(), lambda store: _read(store, reference))
    if format == "md":
        text = markdown(session, messages)
    else:
        text = _json({"session": session, "messages": messages})
    if output is None:
        _print(text)
        return
    try:
        with open(output, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise HermesError(f"cannot write `{output}`: {error.strerror}") from error
    click.echo(f"wrote `{output}`", err=True)


@command.command()
@click.argument("references", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(references: Sequence[str], yes: bool) -> None:
    """Delete sessions for good. Either all that are named are found, or none is deleted."""
    file = _file()
    found = _with_store(file, lambda store: _find_all(store, references))
    if not yes and not _confirmed(found):
        click.echo("nothing was deleted", err=True)
        return
    _with_store(file, lambda store: _delete_all(store, found))
    for session in found:
        click.echo(f"deleted `{session.id}`", err=True)


def _file() -> str:
    return os.path.join(read_settings().home, "sessions.db")


def _with_store(file: str, work: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    """Run `work` on the stored sessions; a file that is not there is not made by looking."""
    store = Store.open(file if os.path.lexists(file) else None)
    for notice in store.notices:
        click.echo(f"warning: {notice}", err=True)

    async def run() -> T:
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


async def _read(store: Store, reference: str) -> tuple[SessionInfo, tuple[Message, ...]]:
    session = await store.find(reference)
    return session, await store.messages(session.id)


async def _find_all(store: Store, references: Sequence[str]) -> Sequence[SessionInfo]:
    found = [await store.find(reference) for reference in references]
    return list({session.id: session for session in found}.values())


async def _delete_all(store: Store, sessions: Sequence[SessionInfo]) -> None:
    for session in sessions:
        await store.delete(session.id)


def _confirmed(sessions: Sequence[SessionInfo]) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is here to confirm the deletion", hint="add `--yes` to delete without asking"
        )
    for session in sessions:
        click.echo(
            _visible(f"{session.id}  {session.messages} messages  {one_line(session.title)}"), err=True
        )
    return click.confirm(f"delete {len(sessions)} for good?", err=True)


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def _print_json(value: Any) -> None:
    _print(_json(value))


def _print(text: str) -> None:
    """Write a result: raw to a program, with nothing a terminal would obey to a terminal."""
    sys.stdout.write(_visible(text) if sys.stdout.isatty() else text)


def _visible(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_VISIBLE)
