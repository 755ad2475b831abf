"""Search the web, or your documents."""

import click

from hermes.app import web_search
from hermes.cli._border import border, one_line, storable
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings

WIDEST = 300


@click.command()
@click.argument("query")
@click.option("-n", "--limit", default=5, show_default=True, help="How many results, 1 to 100.")
@click.option("--backend", default="", help="Which web backend to ask.")
@json_option
def command(query: str, limit: int, backend: str, as_json: bool) -> None:
    """Search with the configured backend and print titles, addresses and descriptions."""
    config = read_settings({"web.search_backend": backend or None})
    outcome = run_in_loop(web_search(storable(query), limit, config))
    if as_json:
        show_json(outcome)
        return
    rows = outcome["data"]["web"]
    for row in rows:
        description = one_line(row["description"], WIDEST)
        border().show(f"{row['position']}. {row['title']}\n   {row['url']}\n   {description}\n\n")
    if not rows:
        border().say("nothing found")
