"""Read pages as Markdown."""

import asyncio

import click

from hermes.app import web_extract
from hermes.cli._question import clean
from hermes.cli._render import print_json
from hermes.cli._settings import read_settings


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--backend", default="", help="Which web backend to read with.")
@click.option("--char-limit", type=int, help="Characters of each page, 2000 to 500000.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(urls: tuple[str, ...], backend: str, char_limit: int | None, as_json: bool) -> int:
    """Read pages with the configured backend and print them as Markdown."""
    config = read_settings({"web.extract_backend": backend or None})
    redact = config.redactor()
    outcome = asyncio.run(web_extract([clean(url) for url in urls], char_limit, config))
    pages = outcome["results"]
    if as_json:
        print_json(outcome, redact)
    else:
        for page in pages:
            if page["error"] is not None:
                click.echo(redact(f"error: {page['url']}: {page['error']}"), err=True)
            else:
                click.echo(redact(page["content"]))
    return 1 if all(page["error"] is not None for page in pages) else 0
