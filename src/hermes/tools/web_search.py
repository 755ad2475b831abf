"""The tool `web_search`."""

from typing import Annotated, Any, Protocol

import msgspec

from hermes.errors import WebError
from hermes.protocols import Source, ToolResult
from hermes.tools.base import Param, as_json, tool
from hermes.tools.web.kernel import DEFAULT_LIMIT, SearchOutcome


class HasSearch(Protocol):
    async def search(self, query: object, limit: object) -> SearchOutcome: ...


class Services(Protocol):
    @property
    def web(self) -> HasSearch: ...


def search_payload(outcome: SearchOutcome) -> dict[str, Any]:
    """The result in the shape programs rely on."""
    return {"success": True, "data": {"web": [msgspec.structs.asdict(row) for row in outcome.rows]}}


async def web_search(
    services: Services,
    query: Annotated[str, Param("What to look for. Operators such as site: are passed on unchanged.")],
    limit: Annotated[
        int, Param("How many results, 1 to 100.", minimum=1, maximum=100, loose=True)
    ] = DEFAULT_LIMIT,
) -> ToolResult:
    """Search the web. Returns titles, URLs and descriptions; read a page with web_extract."""
    try:
        outcome = await services.web.search(query, limit)
    except WebError as error:
        return ToolResult(text=as_json({"success": False, "error": str(error)}), is_error=True)
    return ToolResult(
        text=as_json(search_payload(outcome)),
        sources=tuple(Source(row.url, row.title, row.description, read=False) for row in outcome.rows),
        served_by=outcome.served_by,
        trusted=False,
    )


TOOL = tool(web_search, toolset="web")
