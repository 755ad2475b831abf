"""A search, with the configured backend."""

from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.errors import RequestFault, WebError
from hermes.protocols import Freshness, Topic
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.services import Services
from hermes.server.streams import unless_left
from hermes.tools.web.filters import judged
from hermes.tools.web_search import search_payload


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for, narrowed by filters."""

    query: Annotated[str, msgspec.Meta(min_length=1)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5
    freshness: Freshness | None = None
    after: str | None = None
    before: str | None = None
    include_domains: tuple[str, ...] | None = None
    exclude_domains: tuple[str, ...] | None = None
    language: str | None = None
    region: str | None = None
    topic: Topic | None = None


class WebRow(msgspec.Struct, frozen=True):
    title: str
    url: str
    description: str
    position: int
    date: str = ""


class SearchData(msgspec.Struct, frozen=True):
    web: tuple[WebRow, ...]
    served_by: str = ""


class SearchReply(msgspec.Struct, frozen=True):
    """The results, best first; `notes` say what the reader should know of them."""

    success: bool
    data: SearchData
    notes: tuple[str, ...] = ()


async def _search(request: Request, services: Services) -> Response:
    wanted = await read_json(request, SearchRequest)
    filters: dict[str, Any] = msgspec.to_builtins(wanted)
    query, limit = filters.pop("query"), filters.pop("limit")
    try:
        judged(query, limit, filters)
    except WebError as error:
        raise RequestFault(str(error), hint=error.hint) from None
    search = services.runtime.services.web.search(query, limit, filters)
    outcome = await unless_left(request.receive, services.runs, search)
    return json_response(services.cleaned(search_payload(outcome)))


ENDPOINT = Endpoint(
    path="/v1/search",
    methods={
        "POST": Operation(handle=_search, summary="Search the web.", takes=SearchRequest, gives=SearchReply)
    },
)
