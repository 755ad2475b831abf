"""A piece of a paragraph as markdown-it reads it: texts with their marks."""

import re
from functools import cache
from typing import Any

from hermes import discover
from hermes.cli._markdown.style import Mark, Run, host, web_address
from hermes.cli._unseen import spelt_out

_SPECIAL = re.compile(r"[\\`*_~\[<&!]")
_MARKS: dict[str, Mark] = {"strong_open": "strong", "em_open": "em", "s_open": "s", "link_open": "link"}


def runs(piece: str, *, brief: bool = False) -> list[Run]:
    """A piece as it is read: texts with their marks. Pictures are words.

    After a link stands its address; where it is `brief`, because the words lead there, its host.
    """
    if not _SPECIAL.search(piece):
        return [Run(spelt_out(piece))]
    made = _Runs(brief=brief)
    for token in _reader().parseInline(piece)[0].children:
        made.add(token)
    return made.runs


@cache
def _reader() -> Any:
    made = discover.module("markdown_it").MarkdownIt("commonmark", {"html": False})
    return made.enable("strikethrough").disable(["html_inline"])


class _Runs:
    def __init__(self, *, brief: bool) -> None:
        self.runs: list[Run] = []
        self._brief = brief
        self._marks: list[Mark] = []
        self._address = ""
        self._words = ""

    def add(self, token: Any) -> None:
        match token.type:
            case "text":
                self._say(token.content)
            case "code_inline":
                self._say(token.content, "code")
            case "softbreak" | "hardbreak":
                self.runs.append(Run("\n"))
            case "image":
                where = host(str(token.attrs.get("src", "")))
                self._say(f"(picture: {', '.join(filter(None, (token.content, where))) or 'no name'})")
            case "link_open":
                self._marks.append("link")
                self._address, self._words = str(token.attrs.get("href", "")), ""
            case "link_close":
                self._marks.remove("link")
                self._leave_link()
            case _ if token.type in _MARKS:
                self._marks.append(_MARKS[token.type])
            case _ if token.nesting < 0:
                self._marks.pop()

    def _say(self, text: str, *more: Mark) -> None:
        self._words += text
        self.runs.append(Run(spelt_out(text), (*self._marks, *more), web_address(self._address)))

    def _leave_link(self) -> None:
        """After a link's words, where it leads, unless they say so themselves."""
        address, self._address = self._address, ""
        words = self._words.strip()
        where = host(address) if self._brief else address.removeprefix("mailto:")
        if where and where not in (words, host(words)):
            self.runs += (Run(" ("), Run(spelt_out(where), ("dim",)), Run(")"))
