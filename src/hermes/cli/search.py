"""Search the web, or your documents."""

import asyncio

import click

from hermes.app import web_search
from hermes.cli._question import clean
from hermes.cli._render import print_json
from hermes.cli._settings import read_settings


@click.command()
@click.argument("query")
@click.option("-n", "--limit", default=5, show_default=True, help="How many results, 1 to 100.")
@click.option("--backend", default="", help="Which web backend to ask.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(query: str, limit: int, backend: str, as_json: bool) -> int:
    """Search with the configured backend and print titles, addresses and descriptions."""
    config = read_settings({"web.search_backend": backend or None})
    redact = config.redactor()
    outcome = asyncio.run(web_search(clean(query), limit, config))
    if as_json:
        print_json(outcome, redact)
        return 0
    rows = outcome["data"]["web"]
    for row in rows:
        click.echo(redact(f"{row['position']}. {row['title']}\n   {row['url']}\n   {row['description']}\n"))
    if not rows:
        click.echo("nothing found", err=True)
    return 0
