"""What happens in a run of the page, as it happens; a reader that comes back goes on where it was."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.run_log import RunLog
from hermes.server.services import Services

_AGAIN = b"retry: 1000\n\n"
_SIGN_OF_LIFE = b":\n\n"
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no", "x-content-type-options": "nosniff"}


async def _follow(request: Request, services: Services) -> Response:
    log = services.page_runs.get(request.path_params["id"]).log
    place = request.headers.get("last-event-id", "")
    return StreamingResponse(_lines(log, place), headers=_HEADERS, media_type="text/event-stream")


async def _lines(log: RunLog, place: str) -> AsyncIterator[bytes]:
    yield _AGAIN
    async for told in log.follow(place):
        yield b"id: %b\ndata: %b\n\n" % (told.place.encode(), told.data) if told.data else _SIGN_OF_LIFE


ENDPOINT = Endpoint(
    path="/api/runs/{id}/events",
    described=False,
    methods={"GET": Operation(handle=_follow, summary="The events of a run.", streams=True)},
)
