"""Read pages as Markdown."""

import os
from typing import Any

import click

from hermes import discover
from hermes.app.api import web_extract
from hermes.cli import _complete
from hermes.cli._border import border, storable
from hermes.cli._explain import explain
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.errors import DocumentError
from hermes.tools.web.budget import fit
from hermes.tools.web.kernel import MOST_URLS, clamp_budget


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL|FILE...")
@click.option(
    "--backend", default="", shell_complete=_complete.backends, help="Which web backend to read with."
)
@click.option("--char-limit", type=int, help="Characters of each page, 2000 to 500000.")
@click.option("--explain", "is_explained", is_flag=True, help="Show how HTML is read, and why so.")
@json_option
def command(
    urls: tuple[str, ...], backend: str, char_limit: int | None, is_explained: bool, as_json: bool
) -> int:
    """Read pages with the configured backend, or files, and print them as Markdown."""
    if is_explained:
        return explain(urls, as_json)
    pages = {place: _file(place, char_limit) for place in urls if os.path.isfile(place)}
    pages |= _read([url for url in urls if url not in pages], backend, char_limit)
    found = [pages[url] for url in urls if url in pages]
    if as_json:
        show_json({"results": found})
    else:
        _show(found)
    return 1 if all(page["error"] is not None for page in found) else 0


def _file(path: str, char_limit: int | None) -> dict[str, Any]:
    """A file of this machine, read as a page of it would be; whole, unless a limit is given."""
    try:
        page = discover.module("hermes.tools.web.reader.files").read_file(path)
    except DocumentError as error:
        return {"url": path, "title": "", "content": "", "error": f"the file {error}"}
    content = page.with_notes().strip()
    if char_limit is not None:
        content = fit(content, clamp_budget(char_limit), lambda _text: None)
    return {"url": path, "title": page.title, "content": content, "error": None}


def _read(urls: list[str], backend: str, char_limit: int | None) -> dict[str, dict[str, Any]]:
    """The pages of some addresses, as many as are read at a time."""
    if not urls:
        return {}
    if len(urls) > MOST_URLS:
        left = len(urls) - MOST_URLS
        border().say(f"warning: {MOST_URLS} pages are read at a time: the other {left} were not")
    config = read_settings({"web.extract_backend": backend or None})
    outcome = run_in_loop(web_extract([storable(url) for url in urls], char_limit, config))
    return dict(zip(urls, outcome["results"], strict=False))


def _show(pages: list[dict[str, Any]]) -> None:
    for page in pages:
        if "final_url" in page:
            border().say(f"note: `{page['url']}` led to `{page['final_url']}`")
        if page["error"] is None:
            border().show(f"{page['content']}\n")
        else:
            border().say(f"error: {page['url']}: {page['error']}")
