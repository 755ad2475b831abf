"""One run of the page: stop it."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


class Stopped(msgspec.Struct, frozen=True):
    run_id: str


async def _stop(request: Request, services: Services) -> Response:
    run = services.page_runs.get(request.path_params["id"])
    await run.stop()
    return json_response(Stopped(run.id))


ENDPOINT = Endpoint(
    path="/api/runs/{id}",
    described=False,
    methods={"DELETE": Operation(handle=_stop, summary="Stop a run; what was said is kept.", gives=Stopped)},
)
