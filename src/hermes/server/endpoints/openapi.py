"""What the server offers, as OpenAPI tells it."""

from starlette.requests import Request
from starlette.responses import Response

from hermes.server.described import describe
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


async def _show(request: Request, _services: Services) -> Response:
    return json_response(describe(request.app.state.endpoints, request.scope.get("root_path", "")))


ENDPOINT = Endpoint(
    path="/openapi.json",
    methods={"GET": Operation(handle=_show, summary="This description.")},
    described=False,
)
