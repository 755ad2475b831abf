"""The stored text of a page that an answer cites. Nothing is fetched for it."""

from collections.abc import AsyncIterator
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.agent.past import seen
from hermes.errors import DocumentError, RequestFault, StoreError, UnknownName, UsageError
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


class StoredPage(msgspec.Struct, frozen=True, rename={"origin": "from"}):
    """A page as it was read. `from` says where its text was kept: what a search found is not the page."""

    url: str
    title: str
    text: str
    origin: Literal["session", "index", "cache", "search"]


async def _show(request: Request, services: Services) -> Response:
    url = request.query_params.get("url", "")
    if not url:
        raise UsageError("no address is given", hint="name the page as `url`")
    async for page in _kept(url, request.query_params.get("session_id", ""), services):
        return json_response(services.cleaned(page))
    raise RequestFault(
        "the text of this page is not kept any more",
        status=404,
        code="page_not_found",
        hint="open its address",
    )


async def _kept(url: str, session_id: str, services: Services) -> AsyncIterator[StoredPage]:
    """The page from wherever it is kept; first as the answer that cites it knew it."""
    met = await _met(url, session_id, services)
    for page in met:
        if page.origin == "session":
            yield page
    runtime = services.runtime
    document = runtime.services.index().get(url)
    if document is not None:
        yield StoredPage(url, document.title, document.text, "index")
    pages = runtime.services.web_parts.kept_pages
    kept = pages.get(url) if pages is not None else None
    if kept is not None:
        try:
            read = await runtime.services.reader().read(kept.page)
        except DocumentError:
            pass  # it is not shown, and neither could the answer have read it
        else:
            yield StoredPage(url, read.title, read.markdown, "cache")
    for page in met:
        yield page


async def _met(url: str, session_id: str, services: Services) -> list[StoredPage]:
    """What a session holds of a page, what was seen last first; of some calls only what a search found."""
    if not session_id:
        return []
    try:
        messages = await services.runtime.store().messages(session_id)
    except (UnknownName, StoreError):
        return []
    return [
        StoredPage(url, source.title, source.text, "session" if source.read else "search")
        for source in reversed(list(seen(messages)))
        if source.url == url
    ]


ENDPOINT = Endpoint(
    path="/api/page",
    described=False,
    methods={"GET": Operation(handle=_show, summary="The stored text of a page.", gives=StoredPage)},
)
