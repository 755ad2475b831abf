"""What scout does next, decided from the conversation alone: search, read, or answer."""

from typing import Any

import msgspec

from hermes.providers.scout.answer import Reply, answer
from hermes.providers.scout.conversation import Conversation, Source, Turn
from hermes.providers.scout.plan import choose, is_weak, queries, resolve

_MOST_SEARCHES = 3
_READ_WHOLE = 100_000


class Call(msgspec.Struct, frozen=True):
    """A tool to call."""

    name: str
    arguments: dict[str, Any]


def next_step(asked: Conversation) -> Reply | list[Call]:
    """Search until there are results, read the best of them, and answer from what was read."""
    turn = asked.turn
    question = resolve(turn.text, asked.earlier)
    again = _another_search(question, asked)
    if again and (
        not turn.rows or (is_weak(question, turn.rows) and len(turn.queries) == 1 and not turn.read)
    ):
        return again
    unread = choose(question, turn.rows, turn.read) if "web_extract" in asked.tools else []
    if unread and not turn.sources and not turn.read:
        return _reading(unread)
    sources = turn.sources or tuple(Source(row.title, row.url, row.description) for row in turn.rows)
    reply = answer(question, sources)
    if not reply.marks:
        return again or _nothing(turn, asked.tools)
    if reply.doubtful and len(turn.queries) == 1 and again:
        return again
    if reply.doubtful and unread and len(turn.queries) > 1 and len(turn.read) <= 4:
        return _reading(unread)
    return reply


def _another_search(question: str, asked: Conversation) -> list[Call]:
    tried = asked.turn.queries
    fresh = [query for query in queries(question) if query not in tried]
    if "web_search" not in asked.tools or not fresh or len(tried) >= _MOST_SEARCHES:
        return []
    return [Call("web_search", {"query": fresh[0]})]


def _reading(urls: list[str]) -> list[Call]:
    """One call per page: a tool's result is capped as a whole, and a long page needs all of it."""
    return [Call("web_extract", {"urls": [url], "char_limit": _READ_WHOLE}) for url in urls]


_MORE = (
    "Add documents with `hermes index add PATH`, "
    "or choose a web backend with `hermes config set web.backend NAME`."
)


def _nothing(turn: Turn, tools: frozenset[str]) -> Reply:
    """Says what was not possible and what would help, as an answer like any other."""
    if "web_search" not in tools:
        said = "I can only answer from sources, and no search tool was offered to me. "
        return Reply((said, "Allow the web tools with `--tools web`, or choose another model with `-m`."))
    if turn.errors:
        why = "; ".join(turn.errors[:2]).strip().rstrip(".")[:400]
        return Reply((f"I could not search or read anything: {why}. ", _MORE))
    return Reply(("I found nothing about this. ", _MORE))
