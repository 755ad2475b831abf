"""The tool `web_search`."""

from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from hermes.errors import ConfigError, UsageError, WebError
from hermes.protocols import Freshness, SearchRow, Source, ToolResult, Topic
from hermes.tools.base import Param, as_json, told, tool
from hermes.tools.web.kernel import DEFAULT_LIMIT, SearchOutcome


class HasSearch(Protocol):
    async def search(
        self, query: object, limit: object, filters: Mapping[str, object] | None
    ) -> SearchOutcome: ...


class Services(Protocol):
    @property
    def web(self) -> HasSearch: ...


def search_payload(outcome: SearchOutcome) -> dict[str, Any]:
    """The result in the shape programs rely on.

    `served_by` is there when others could have served it, `notes` when there is something to know.
    """
    data: dict[str, Any] = {"web": [_row(row, place) for place, row in enumerate(outcome.rows, start=1)]}
    if outcome.among_several:
        data["served_by"] = outcome.served_by
    payload: dict[str, Any] = {"success": True, "data": data}
    return payload | ({"notes": list(outcome.notes)} if outcome.notes else {})


def _row(row: SearchRow, position: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "title": row.title,
        "url": row.url,
        "description": row.description,
        "position": position,
    }
    return shown | ({"date": row.date} if row.date else {})


async def web_search(
    services: Services,
    query: Annotated[str, Param("What to look for. Operators such as site: are passed on unchanged.")],
    limit: Annotated[
        int, Param("How many results, 1 to 100.", minimum=1, maximum=100, loose=True)
    ] = DEFAULT_LIMIT,
    freshness: Annotated[Freshness | None, Param("How old a result may be.")] = None,
    after: Annotated[str | None, Param("Only results from this day on, as YYYY-MM-DD.")] = None,
    before: Annotated[str | None, Param("Only results up to this day, as YYYY-MM-DD.")] = None,
    include_domains: Annotated[list[str] | None, Param("Only results from these domains.")] = None,
    exclude_domains: Annotated[list[str] | None, Param("No results from these domains.")] = None,
    language: Annotated[str | None, Param("The language of results, such as en.")] = None,
    region: Annotated[str | None, Param("The country to search from, such as US.")] = None,
    topic: Annotated[Topic | None, Param("What kind of pages to search.")] = None,
) -> ToolResult:
    """Search the web. Returns titles, URLs and descriptions; read a page with web_extract."""
    filters = {
        "freshness": freshness,
        "after": after,
        "before": before,
        "include_domains": include_domains,
        "exclude_domains": exclude_domains,
        "language": language,
        "region": region,
        "topic": topic,
    }
    try:
        outcome = await services.web.search(query, limit, filters)
    except (WebError, ConfigError, UsageError) as error:
        return ToolResult(text=as_json({"success": False, "error": told(error)}), is_error=True)
    return ToolResult(
        text=as_json(search_payload(outcome)),
        sources=tuple(
            Source(row.url, row.title, row.description, read=False) for row in outcome.rows if row.url
        ),
        served_by=outcome.served_by,
        trusted=False,
    )


TOOL = tool(web_search, toolset="web")
