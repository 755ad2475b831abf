"""Read pages as Markdown."""

import click

from hermes.app.api import web_extract
from hermes.cli import _complete
from hermes.cli._border import border, storable
from hermes.cli._explain import explain
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.tools.web.kernel import MOST_URLS


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--backend", default="", shell_complete=_complete.backends, help="Which web backend to read with."
)
@click.option("--char-limit", type=int, help="Characters of each page, 2000 to 500000.")
@click.option("--explain", "is_explained", is_flag=True, help="Show how HTML is read, and why so.")
@json_option
def command(
    urls: tuple[str, ...], backend: str, char_limit: int | None, is_explained: bool, as_json: bool
) -> int:
    """Read pages with the configured backend and print them as Markdown."""
    if is_explained:
        return explain(urls, as_json)
    if len(urls) > MOST_URLS:
        left = len(urls) - MOST_URLS
        border().say(f"warning: {MOST_URLS} pages are read at a time: the other {left} were not")
    config = read_settings({"web.extract_backend": backend or None})
    outcome = run_in_loop(web_extract([storable(url) for url in urls], char_limit, config))
    pages = outcome["results"]
    if as_json:
        show_json(outcome)
    for page in () if as_json else pages:
        if "final_url" in page:
            border().say(f"note: `{page['url']}` led to `{page['final_url']}`")
        if page["error"] is None:
            border().show(f"{page['content']}\n")
        else:
            border().say(f"error: {page['url']}: {page['error']}")
    return 1 if all(page["error"] is not None for page in pages) else 0
