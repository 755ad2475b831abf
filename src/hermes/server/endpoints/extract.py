"""Pages, read with the configured backend."""

from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.services import Services
from hermes.server.streams import unless_left
from hermes.tools.web.kernel import MOST_URLS
from hermes.tools.web_extract import extract_payload


class ExtractRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The pages to read; a longer one than `char_limit` is given as its beginning and end."""

    urls: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MOST_URLS)]
    char_limit: Annotated[int, msgspec.Meta(ge=2000)] | None = None


class ExtractRow(msgspec.Struct, frozen=True):
    url: str
    title: str
    content: str
    error: str | None
    final_url: str = ""
    blocked_by_policy: dict[str, Any] | None = None


class ExtractReply(msgspec.Struct, frozen=True):
    """The pages, in the order they were asked for; one that cannot be read says why."""

    results: tuple[ExtractRow, ...]


async def _extract(request: Request, services: Services) -> Response:
    wanted = await read_json(request, ExtractRequest)
    services.runtime.shorten_pages()
    read = services.runtime.services.web.extract(list(wanted.urls), wanted.char_limit)
    outcome = await unless_left(request.receive, services.runs, read)
    return json_response(services.cleaned(extract_payload(outcome)))


ENDPOINT = Endpoint(
    path="/v1/extract",
    methods={
        "POST": Operation(
            handle=_extract,
            summary="Read pages as Markdown.",
            takes=ExtractRequest,
            gives=ExtractReply,
        )
    },
)
