"""The sources under an answer on a terminal: number, title, host and day, with a link behind them."""

import msgspec

from hermes.agent.untrusted import unfenced
from hermes.cli._border import one_line, visible
from hermes.cli._markdown.style import Run, Style, host, web_address
from hermes.messages import Citation

_LONGEST_DATE = 10
"""A day, without its hour: 2026-05-04."""


class _Row(msgspec.Struct):
    url: str = ""
    date: str = ""


class _Rows(msgspec.Struct):
    web: tuple[_Row, ...] = ()


class _Found(msgspec.Struct):
    """Of the result of a search, what says when a page was written."""

    data: _Rows = msgspec.field(default_factory=_Rows)


_found = msgspec.json.Decoder(_Found)


def dates_of(result: str) -> dict[str, str]:
    """When the pages that a search found were written, by their addresses."""
    try:
        rows = _found.decode(unfenced(result)).data.web
    except msgspec.DecodeError:
        return {}
    return {row.url: row.date[:_LONGEST_DATE] for row in rows if row.date}


def listed(cited: Citation, date: str, style: Style) -> str:
    """A source as it stands under an answer. Where no link can be behind its title, its address follows."""
    if not cited.url:
        return f"[{cited.n}] no source has this number  (not verified)"
    title = visible(one_line(cited.title or cited.url))
    behind = web_address(cited.url) if style.links else ""
    where = host(cited.url) if behind else cited.url
    facts = [fact for fact in (visible(where), visible(date)) if fact and fact != title]
    doubt = "" if cited.verified else "  (not verified)"
    shown = style.paint(Run(title, ("link",) if behind else (), behind))
    return f"[{cited.n}] {shown}" + "".join(f"  {style.dim(fact)}" for fact in facts) + doubt
