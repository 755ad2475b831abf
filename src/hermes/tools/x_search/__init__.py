"""The tool `x_search`: X through xAI's Responses API.

account   the key and the address, or what is missing
query     the arguments, judged
reply     the answer, or a failure in words
search    the call
"""

from typing import Annotated, Any, Protocol

import msgspec

from hermes import discover
from hermes.errors import ConfigError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, tool
from hermes.tools.x_search.account import Account


class Services(Protocol):
    def x_account(self) -> Account: ...


async def x_search(
    services: Services,
    query: Annotated[str, Param("What to look for on X, in plain words.")],
    allowed_x_handles: Annotated[
        list[str] | None, Param("Only posts of these handles, at most 10.", max_items=10)
    ] = None,
    excluded_x_handles: Annotated[
        list[str] | None,
        Param("No posts of these handles, at most 10; not beside allowed_x_handles.", max_items=10),
    ] = None,
    from_date: Annotated[str | None, Param("Only posts from this day on, YYYY-MM-DD.")] = None,
    to_date: Annotated[str | None, Param("Only posts up to this day, YYYY-MM-DD.")] = None,
    enable_image_understanding: Annotated[bool, Param("Whether to look at pictures in posts.")] = False,
    enable_video_understanding: Annotated[bool, Param("Whether to look at videos in posts.")] = False,
    output_schema: Annotated[
        dict[str, Any] | None, Param("A JSON Schema; the answer is data that keeps it, in structured_output.")
    ] = None,
    instructions: Annotated[
        str | None, Param("How to answer: language, length, style. Ignored with previous_response_id.")
    ] = None,
    previous_response_id: Annotated[
        str | None, Param("The response_id of an earlier search with store=true, to go on from it.")
    ] = None,
    store: Annotated[bool, Param("Whether xAI keeps the answer, for a later search to go on from.")] = False,
) -> ToolResult:
    """Search X (Twitter) and get an answer with citations, as prose or as data. Narrow it by handles or
    dates, and follow up on a stored answer.
    """
    # Loaded on use: it reads a wire protocol, and most runs never search X.
    late = discover.module("hermes.tools.x_search.search")
    given = late.Given(
        query=query,
        allowed_x_handles=allowed_x_handles,
        excluded_x_handles=excluded_x_handles,
        from_date=from_date,
        to_date=to_date,
        enable_image_understanding=enable_image_understanding,
        enable_video_understanding=enable_video_understanding,
        output_schema=output_schema,
        instructions=instructions,
        previous_response_id=previous_response_id,
        store=store,
    )
    outcome = await late.search(services, given)
    return ToolResult(
        text=msgspec.json.encode(outcome.payload).decode(),
        is_error=outcome.error is not None,
        sources=outcome.cited,
        served_by="xai",
        trusted=not outcome.quotes_stranger,
    )


def _missing(services: Services) -> str | None:
    try:
        services.x_account()
    except ConfigError as error:
        return f"{error}; {error.hint}" if error.hint else str(error)
    return None


TOOL = tool(x_search, toolset="x_search", missing=_missing)
