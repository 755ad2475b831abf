"""The tool `web_extract`."""

from typing import Annotated, Any, Protocol

import msgspec

from hermes.errors import ConfigError, UsageError, WebError
from hermes.protocols import Source, ToolResult
from hermes.tools.base import Param, as_json, told, tool
from hermes.tools.web.kernel import MOST_URLS, ExtractOutcome, ReadPage

MOST_CHARACTERS = 90_000
"""Of all pages together: a tool result holds 100,000, and JSON needs some of it."""


class HasExtract(Protocol):
    async def extract(self, items: object, char_limit: object, *, in_all: int | None) -> ExtractOutcome: ...


class Services(Protocol):
    @property
    def web(self) -> HasExtract: ...


def extract_payload(outcome: ExtractOutcome) -> dict[str, Any]:
    """The result in the shape programs rely on; `final_url` is there for a page that was somewhere else."""
    return {"results": list(map(_page, outcome.pages))}


def _page(page: ReadPage) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "url": page.url,
        "title": page.title,
        "content": page.content,
        "error": page.error,
    }
    if page.final_url:
        shown["final_url"] = page.final_url
    return shown | ({"blocked_by_policy": msgspec.structs.asdict(page.blocked)} if page.blocked else {})


async def web_extract(
    services: Services,
    urls: Annotated[list[str], Param("The pages to read, at most 5.", max_items=MOST_URLS, loose=True)],
    char_limit: Annotated[
        int | None,
        Param(
            "How many characters of each page to return, 2000 or more; 15000 if not given.",
            minimum=2000,
            loose=True,
        ),
    ] = None,
) -> ToolResult:
    """Read web pages as Markdown. A long page is given as its beginning and end, and stored whole."""
    try:
        outcome = await services.web.extract(urls, char_limit, in_all=MOST_CHARACTERS)
    except (WebError, ConfigError, UsageError) as error:
        return ToolResult(text=as_json({"error": f"Error extracting content: {told(error)}"}), is_error=True)
    return ToolResult(
        text=as_json(extract_payload(outcome)),
        is_error=all(page.error is not None for page in outcome.pages),
        sources=tuple(
            Source(url=page.url, title=page.title, text=page.content)
            for page in outcome.pages
            if page.error is None
        ),
        served_by=outcome.served_by,
        trusted=False,
    )


TOOL = tool(web_extract, toolset="web")
