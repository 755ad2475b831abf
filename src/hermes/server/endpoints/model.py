"""One model that can be asked for."""

from starlette.requests import Request
from starlette.responses import Response

from hermes.server.asked import model_name
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.endpoints.models import ModelEntry
from hermes.server.faults import json_response
from hermes.server.services import Services


async def _show(request: Request, services: Services) -> Response:
    name: str = request.path_params["id"]
    await services.check_model(model_name(name))
    return json_response(ModelEntry(name, name.partition("/")[0]))


ENDPOINT = Endpoint(
    path="/v1/models/{id:path}",
    methods={"GET": Operation(handle=_show, summary="Whether a model can be asked for.", gives=ModelEntry)},
)
