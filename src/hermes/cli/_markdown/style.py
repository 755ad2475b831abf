"""What a terminal can show: attributes, links, letters beyond ASCII."""

from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import quote, urlsplit

import msgspec

from hermes.cli._terminal import has_attributes, takes_links

Mark = Literal["strong", "em", "s", "code", "link", "dim"]

_CODES: Mapping[Mark, str] = {"strong": "1", "dim": "2", "em": "3", "link": "4", "s": "9", "code": "36"}
_WRITTEN: Mapping[Mark, str] = {"strong": "**", "em": "*", "s": "~~", "code": "`"}
_ADDRESS_LETTERS = "%/:?#[]@!$&'()*+,;=~"


class Run(msgspec.Struct, frozen=True):
    """Text with the marks it carries, and where it leads when it is a link."""

    text: str
    marks: tuple[Mark, ...] = ()
    address: str = ""


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How text is shown. Without `attributes` the marks of Markdown stay as they were written."""

    attributes: bool = False
    links: bool = False
    """Whether a link can be put behind words (OSC 8)."""
    wide_letters: bool = True
    """Whether bullets and rules may be drawn with letters beyond ASCII."""

    @property
    def bullet(self) -> str:
        return "•" if self.wide_letters else "-"

    @property
    def bar(self) -> str:
        return self.dim("│" if self.wide_letters else "|")

    @property
    def dash(self) -> str:
        return "─" if self.wide_letters else "-"

    def dim(self, text: str) -> str:
        return self.paint(Run(text, ("dim",)))

    def shown(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs with their marks written out, where they cannot be shown in another way."""
        return runs if self.attributes else [Run(_written(run)) for run in runs]

    def paint(self, run: Run) -> str:
        """The run as it is written to the terminal."""
        if not self.attributes:
            return run.text
        codes = ";".join(_CODES[mark] for mark in run.marks)
        text = f"\x1b[{codes}m{run.text}\x1b[0m" if codes else run.text
        return f"\x1b]8;;{run.address}\x1b\\{text}\x1b]8;;\x1b\\" if run.address and self.links else text


def _written(run: Run) -> str:
    around = "".join(_WRITTEN.get(mark, "") for mark in run.marks)
    return f"{around}{run.text}{around[::-1]}"


def style_for(environment: Mapping[str, str], encoding: str = "utf-8") -> Style:
    """What the terminal that these variables describe can show."""
    return Style(
        attributes=has_attributes(environment),
        links=takes_links(environment),
        wide_letters=encoding.lower().replace("-", "").startswith("utf"),
    )


def strong(run: Run) -> Run:
    """The run in bold."""
    return Run(run.text, ("strong", *(mark for mark in run.marks if mark != "strong")), run.address)


def web_address(address: str) -> str:
    """An address that may stand behind words, in ASCII; empty for what is none of the web's."""
    written = quote(address, safe=_ADDRESS_LETTERS)
    return written if written.lower().startswith(("http://", "https://")) else ""


def host(address: str) -> str:
    """The host of an address as a reader wants to see it; empty where there is none."""
    try:
        return urlsplit(address).netloc.rpartition("@")[2].removeprefix("www.")
    except ValueError:
        return ""
