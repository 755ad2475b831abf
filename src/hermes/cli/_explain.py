"""How the page reader saw a page: for `hermes extract --explain`."""

import os
from typing import TYPE_CHECKING

from hermes import discover
from hermes.app.api import fetch_page
from hermes.cli._border import border, storable
from hermes.cli._json import show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.errors import UsageError

if TYPE_CHECKING:
    from hermes.tools.web.reader.html import Reading

MOST_SHOWN = 40
MOST_LETTERS = 100


def explain(places: tuple[str, ...], as_json: bool) -> int:
    """Print kind, route, confidence and what was left out, for each page: an address or an HTML file."""
    examine = discover.module("hermes.tools.web.reader.html").examine
    for place in places:
        html, url = _source(place)
        reading = examine(html, url)
        if as_json:
            show_json(reading)
        else:
            border().show(_told(place, reading))
    return 0


def _source(place: str) -> tuple[bytes | str, str]:
    """The HTML of a page and its address; a file has none."""
    if place.lower().startswith(("http://", "https://")):
        fetched = run_in_loop(fetch_page(storable(place), read_settings({})))
        told = discover.module("hermes.tools.web.reading.kinds").charset_of(fetched.content_type)
        decode = discover.module("hermes.tools.web.reader.charset").decode
        return decode(fetched.body, declared=True, told=told), fetched.url
    if not os.path.isfile(place):
        raise UsageError(
            f"`{place}` is not a file and not an address", hint="give an HTML file or an `https://` address"
        )
    with open(place, "rb") as file:
        return file.read(), ""


def _told(path: str, reading: "Reading") -> str:
    likeliest = sorted(reading.dropped, reverse=True)[:MOST_SHOWN]
    lines = [
        f"{path}: {reading.page.title}",
        f"kind        {reading.kind or '-'}",
        f"route       {reading.route}",
        f"confidence  {reading.confidence:.2f}",
        *[f"note        {note}" for note in reading.page.notes],
        f"kept        {_counted(reading.kept)}",
        f"left out    {len(reading.dropped)} runs, the likeliest first:",
        *[f"  {odd:.2f}  {text[:MOST_LETTERS]}" for odd, text in likeliest],
        f"unread      {_counted(reading.frames)} of menus and footers",
        *[f"        {text[:MOST_LETTERS]}" for text in reading.frames[:MOST_SHOWN]],
    ]
    return "\n".join(lines) + "\n"


def _counted(texts: tuple[str, ...]) -> str:
    return f"{len(texts)} runs, {sum(len(text.split()) for text in texts)} words"
