"""Figures for Prometheus."""

from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.services import Services

TEXT = "text/plain; version=0.0.4; charset=utf-8"


async def _show(_request: Request, services: Services) -> Response:
    text = services.metrics.text(len(services.runs), services.room.inside)
    return Response(text, headers={"content-type": TEXT})


ENDPOINT = Endpoint(
    path="/metrics",
    methods={"GET": Operation(handle=_show, summary="Figures for Prometheus.", gives_text="text/plain")},
)
