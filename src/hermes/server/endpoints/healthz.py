"""Whether the server is there."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


class Health(msgspec.Struct, frozen=True):
    status: str = "ok"


async def _look(_request: Request, _services: Services) -> Response:
    return json_response(Health())


ENDPOINT = Endpoint(
    path="/healthz",
    open=True,
    methods={"GET": Operation(handle=_look, summary="Whether the server is there.", gives=Health)},
)
