"""Search X, and read the answer with its citations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from hermes.app import Runtime
from hermes.cli._border import border, storable
from hermes.cli._json import json_option, print_json
from hermes.cli._loop import run_in_loop
from hermes.cli._render import source_line
from hermes.cli._schema import read_schema
from hermes.cli._settings import read_settings
from hermes.messages import Citation
from hermes.protocols import Source, progress
from hermes.tools.x_search.query import Given
from hermes.tools.x_search.search import Outcome, search

_MARK = re.compile(r"\[\[?(\d{1,3})\]?\]\((https?://[^\s)]+)\)")


@click.command()
@click.argument("query")
@click.option("--allow", multiple=True, metavar="HANDLE", help="Only posts of this handle; up to 10.")
@click.option("--exclude", multiple=True, metavar="HANDLE", help="No posts of this handle; up to 10.")
@click.option("--from", "from_date", metavar="DATE", help="Only posts from this day on, YYYY-MM-DD.")
@click.option("--to", "to_date", metavar="DATE", help="Only posts up to this day, YYYY-MM-DD.")
@click.option("--images", is_flag=True, help="Look at pictures in posts.")
@click.option("--videos", is_flag=True, help="Look at videos in posts.")
@click.option("--schema", type=click.Path(dir_okay=False), help="A JSON Schema the answer must keep.")
@click.option("--instructions", metavar="TEXT", help="How to answer: language, length, style.")
@click.option("--previous", metavar="ID", help="Go on from this stored answer.")
@click.option("--store", is_flag=True, help="Let xAI keep the answer, to go on from it later.")
@json_option
def command(as_json: bool, **options: Any) -> None:
    """Search X with xAI's API and print the answer with its citations."""
    config = read_settings()
    asked = _asked(options)
    outcome = run_in_loop(_search(Runtime(config), asked))
    if as_json:
        print_json(border(), msgspec.json.encode(outcome.payload).decode() + "\n")
    if outcome.error is not None:
        raise outcome.error
    if not as_json:
        _show(outcome)
        _remark(outcome.payload, is_kept=asked.store or bool(asked.previous_response_id))


def _asked(options: Mapping[str, Any]) -> Given:
    """What the options of the command ask for."""
    told: dict[str, Any] = {
        name: storable(value) if isinstance(value, str) else value for name, value in options.items()
    }
    return Given(
        query=told["query"],
        allowed_x_handles=_handles(told["allow"]),
        excluded_x_handles=_handles(told["exclude"]),
        from_date=told["from_date"],
        to_date=told["to_date"],
        enable_image_understanding=told["images"],
        enable_video_understanding=told["videos"],
        output_schema=read_schema(options["schema"]) if options["schema"] else None,
        instructions=told["instructions"],
        previous_response_id=told["previous"],
        store=told["store"],
    )


def _handles(given: Sequence[str]) -> list[str]:
    return [storable(handle) for item in given for handle in item.split(",")]


async def _search(runtime: Runtime, asked: Given) -> Outcome:
    progress.set(border().say)
    async with runtime:
        return await search(runtime.services, asked)


def _show(outcome: Outcome) -> None:
    answer = outcome.payload["answer"]
    border().show(f"{answer}\n")
    lines = "".join(map(source_line, _numbered(answer, outcome.referred)))
    if lines:
        border().show(f"\n{lines}")


def _numbered(answer: str, pages: Sequence[Source]) -> Iterator[Citation]:
    """The pages with their numbers: those that the answer gives them, and the next ones for the rest."""
    marked = {url: int(number) for number, url in reversed(_MARK.findall(answer))}
    free = (number for number in range(1, len(pages) + len(marked) + 1) if number not in marked.values())
    numbers = {page.url: marked.get(page.url) or next(free) for page in pages}
    for page in sorted(pages, key=lambda page: numbers[page.url]):
        yield Citation(numbers[page.url], page.url, page.title, "")


def _remark(payload: dict[str, Any], *, is_kept: bool) -> None:
    if payload["degraded"]:
        border().say(f"note: {payload['degraded_reason']}")
    if payload.get("schema_valid") is False:
        border().say("note: the answer does not keep the schema")
    if is_kept and payload["response_id"]:
        border().say(f"to go on from this answer, add `--previous {payload['response_id']}`")
