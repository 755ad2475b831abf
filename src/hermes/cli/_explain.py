"""How the page reader saw a page: for `hermes extract --explain`."""

import os
from typing import TYPE_CHECKING

from hermes import discover
from hermes.cli._border import border
from hermes.cli._json import show_json
from hermes.errors import UsageError

if TYPE_CHECKING:
    from hermes.tools.web.reader.html import Reading

MOST_SHOWN = 40
MOST_LETTERS = 100


def explain(paths: tuple[str, ...], as_json: bool) -> int:
    """Print kind, route, confidence and what was left out, for each HTML file."""
    examine = discover.module("hermes.tools.web.reader.html").examine
    for path in paths:
        if not os.path.isfile(path):
            raise UsageError(
                f"`{path}` is not a file", hint="save the page and give the path of its HTML file"
            )
        with open(path, "rb") as file:
            reading = examine(file.read())
        if as_json:
            show_json(reading)
        else:
            border().show(_told(path, reading))
    return 0


def _told(path: str, reading: "Reading") -> str:
    likeliest = sorted(reading.dropped, reverse=True)[:MOST_SHOWN]
    lines = [
        f"{path}: {reading.page.title}",
        f"kind        {reading.kind or '-'}",
        f"route       {reading.route}",
        f"confidence  {reading.confidence:.2f}",
        *[f"note        {note}" for note in reading.page.notes],
        f"kept        {len(reading.kept)} runs, {sum(len(text.split()) for text in reading.kept)} words",
        f"left out    {len(reading.dropped)} runs, the likeliest first:",
        *[f"  {odd:.2f}  {text[:MOST_LETTERS]}" for odd, text in likeliest],
    ]
    return "\n".join(lines) + "\n"
