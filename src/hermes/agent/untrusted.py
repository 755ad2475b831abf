"""Strangers' words: fenced where they enter, and what may still be done once they are in."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from hermes.agent.approvals import call_text
from hermes.agent.prompt import is_reminder
from hermes.messages import NOT_JSON, Message
from hermes.protocols import Concern, Effect, ToolResult

_INVISIBLE = dict.fromkeys(
    (
        *range(0xE0000, 0xE0200),  # tags and variation selectors: letters that nobody sees
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        0x200B,
        0x2060,
        0xFEFF,
    )
)
_FENCE = re.compile(r"<untrusted ([0-9a-f]+)>\n(.*)\n</untrusted \1>", re.DOTALL)
_URL = re.compile(r"\bhttps?://[^\s\"'<>\\^`{|}]+", re.IGNORECASE)
_TRAILING = ".,;:!?)]"
_SEARCHES = ("web_search", "x_search")
"""The tools whose results give addresses. What another tool brought only looks like such a result."""


def fenced(text: str, nonce: str) -> str:
    """Text that only whoever knows the nonce can end, without characters that nobody can see."""
    return f"<untrusted {nonce}>\n{text.translate(_INVISIBLE)}\n</untrusted {nonce}>"


def unfenced(text: str) -> str:
    """What stands inside a fence; a text without one is given back as it is."""
    found = _FENCE.fullmatch(text)
    return found[2] if found else text


class Guard:
    """What a conversation may do. Freely, until a stranger's words are in it; then some things are asked.

    `holds_secret` says whether a text repeats a secret that is known here.
    """

    def __init__(self, holds_secret: Callable[[str], bool]) -> None:
        self._holds_secret = holds_secret
        self._given: set[str] = set()
        self._is_tainted = False

    def hear(self, messages: Iterable[Message]) -> None:
        """Take note of what was said: the addresses the user gave, and strangers' words among the results.

        A summary and a reminder stand where the user speaks, but no person wrote them.
        """
        tools: dict[str | None, str] = {}
        for message in messages:
            tools.update((call.id, call.name) for call in message.tool_calls)
            if message.role == "user":
                if message.replaces or is_reminder(message):
                    continue
                self._given.update(map(_canonical, _urls(message.content or "")))
            elif message.role == "tool" and _FENCE.fullmatch(message.content or ""):
                self._is_tainted = True
                if tools.get(message.tool_call_id) in _SEARCHES:
                    self._given.update(map(_canonical, _found(unfenced(message.content or ""))))

    def note(self, result: ToolResult) -> None:
        """Take note of a result: the addresses a search found are given, those inside pages are not."""
        self._is_tainted = self._is_tainted or not result.trusted
        self._given.update(_canonical(source.url) for source in result.sources if not source.read)

    def concern(self, tool: str, arguments: Mapping[str, Any], effect: Effect) -> Concern | None:
        """What speaks against a call for what was heard before it.

        A secret is given away once at most; a change after strangers' words is never allowed for good.
        """
        given = list(texts(arguments))
        urls = [url for text in given for url in _urls(text)]
        ask = partial(Concern, kind="ask", action=call_text(tool, arguments))
        # What is looked up may leave this machine, with an address in it or without.
        if any(map(self._holds_secret, given if effect == "reads" else urls)):
            return ask(reason="it repeats a secret", rules=("untrusted.secret",), keep="once")
        if self._is_tainted and effect == "changes":
            reason = "text from the web has been read, and this changes something"
            return ask(reason=reason, rules=(f"untrusted.changes {tool}",), keep="session")
        strangers = self._strangers(urls)
        if not strangers:
            return None
        reason = f"neither you nor a search result gave the address `{strangers[0]}`"
        return ask(reason=reason, rules=tuple(f"untrusted.address {url}" for url in strangers))

    def _strangers(self, urls: Iterable[str]) -> list[str]:
        if not self._is_tainted:
            return []
        found = dict.fromkeys(map(_canonical, urls))
        return [url for url in found if url not in self._given]


def _urls(text: str) -> Iterator[str]:
    return (found[0].rstrip(_TRAILING) for found in _URL.finditer(text))


def _canonical(url: str) -> str:
    return url.partition("#")[0].rstrip("/" + _TRAILING)


def texts(value: object) -> Iterator[str]:
    """Every text in a value as JSON has it, however deep it stands."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from texts(item)
        case list() | tuple():
            for item in value:
                yield from texts(item)


class _Payload(msgspec.Struct, frozen=True):
    """Of the result of a search, what holds addresses."""

    data: Any = None
    citations: Any = None
    inline_citations: Any = None


_decode = msgspec.json.Decoder(_Payload).decode


def _found(payload: str) -> Iterator[str]:
    """The addresses in the result of an earlier search. It is one line; a warning may stand beneath it."""
    try:
        read = _decode(payload.partition("\n")[0])
    except NOT_JSON:
        return
    rows = read.data.get("web") if isinstance(read.data, dict) else None
    for part in (rows, read.citations, read.inline_citations):
        for row in part if isinstance(part, list) else ():
            url = row.get("url") if isinstance(row, dict) else row
            if isinstance(url, str) and url:
                yield url
