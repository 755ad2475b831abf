"""A response that was kept: read again, or removed."""

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.responses.reply import ResponseObject
from hermes.server.services import Services


class Removed(msgspec.Struct, frozen=True):
    id: str
    object: Literal["response"] = "response"
    deleted: bool = True


async def _show(request: Request, services: Services) -> Response:
    return json_response((await services.responses.find(request.path_params["id"])).response)


async def _remove(request: Request, services: Services) -> Response:
    await services.responses.remove(request.path_params["id"])
    return json_response(Removed(request.path_params["id"]))


ENDPOINT = Endpoint(
    path="/v1/responses/{id}",
    methods={
        "GET": Operation(handle=_show, summary="A response that was kept.", gives=ResponseObject),
        "DELETE": Operation(handle=_remove, summary="Forget a response.", gives=Removed),
    },
)
