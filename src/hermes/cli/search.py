"""Search the web, or your documents."""

from typing import Any, get_args

import click

from hermes.app.services import Services
from hermes.cli import _complete
from hermes.cli._border import border, storable
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._results import show_result
from hermes.cli._settings import read_settings
from hermes.config import Config
from hermes.errors import HermesError
from hermes.protocols import Freshness, Topic
from hermes.tools.web.kernel import SearchOutcome
from hermes.tools.web_search import search_payload


@click.command()
@click.argument("query")
@click.option("-n", "--limit", default=5, show_default=True, help="How many results, 1 to 100.")
@click.option("--backend", default="", shell_complete=_complete.backends, help="Which web backend to ask.")
@click.option("--freshness", type=click.Choice(get_args(Freshness)), help="How old a result may be.")
@click.option("--after", metavar="DATE", help="Only results from this day on, as YYYY-MM-DD.")
@click.option("--before", metavar="DATE", help="Only results up to this day.")
@click.option("--domain", "include_domains", multiple=True, help="Only results from this domain; repeatable.")
@click.option("--not-domain", "exclude_domains", multiple=True, help="None from this domain; repeatable.")
@click.option("--language", metavar="CODE", help="The language of results, such as `en`.")
@click.option("--region", metavar="CODE", help="The country to search from, such as `US`.")
@click.option("--topic", type=click.Choice(get_args(Topic)), help="What kind of pages to search.")
@click.option("--fresh", is_flag=True, help="Do not answer from what was found lately.")
@click.option(
    "--explain", is_flag=True, help="Say who was asked and why, what was sent, and what was dropped."
)
@json_option
def command(
    query: str, limit: int, backend: str, fresh: bool, explain: bool, as_json: bool, **filters: Any
) -> None:
    """Search with the configured backend and print titles, addresses and descriptions."""
    flags = {"web.search_backend": backend or None, "web.cache_enabled": "false" if fresh else None}
    config = read_settings(flags)
    try:
        outcome = run_in_loop(_search(config, storable(query), limit, filters, explain=explain))
    except HermesError as error:
        if as_json:
            show_json({"success": False, "error": str(error)})
        raise
    if as_json:
        show_json(search_payload(outcome))
        return
    for position, row in enumerate(outcome.rows, start=1):
        show_result(position, row.title, row.url, row.description)
    for note in outcome.notes:
        border().say(f"note: {note}")
    if not outcome.rows:
        border().say("nothing found")


async def _search(
    config: Config, query: str, limit: int, filters: dict[str, Any], *, explain: bool
) -> SearchOutcome:
    services = Services(config)
    services.sent = [] if explain else None
    try:
        outcome = await services.web.search(query, limit, filters)
    except HermesError:
        if explain:
            _explain(services, None)
        raise
    else:
        if explain:
            _explain(services, outcome)
        return outcome
    finally:
        for notice in services.notices:
            border().say(f"warning: {notice.message}")
        await services.close()


def _explain(services: Services, outcome: SearchOutcome | None) -> None:
    chosen = services.web_parts.choice("search")
    border().say(f"asked: {chosen.name} ({chosen.reason})")
    for sent in services.sent or ():
        border().say(f"sent by {sent.backend}: {sent.method} {sent.url}")
        for name, value in sent.headers.items():
            border().say(f"  {name}: {value}")
        if sent.body:
            border().say(f"  {sent.body}")
        border().say(f"  after {sent.seconds:.2f} s: {sent.outcome}")
    if outcome is not None:
        if not services.sent:
            border().say("nothing was sent to a server")
        border().say(
            f"served by: {outcome.served_by}; rows: {len(outcome.rows)}, dropped: {len(outcome.dropped)}"
        )
        for reason in dict.fromkeys(outcome.dropped):
            border().say(f"  dropped: {reason} ({outcome.dropped.count(reason)})")
