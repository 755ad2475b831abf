"""Who would answer now, and who would search and read."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes import __version__
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


class Status(msgspec.Struct, frozen=True):
    version: str
    provider: str
    model: str
    reason: str
    """Why this model answers."""
    backends: tuple[str, ...]
    runs: int
    """How many questions are being answered."""


async def _tell(_request: Request, services: Services) -> Response:
    runtime = services.runtime
    await services.check_model("")
    choice = runtime.choose_model()
    return json_response(
        Status(
            version=__version__,
            provider=choice.endpoint.provider.name,
            model=choice.endpoint.model,
            reason=choice.reason,
            backends=runtime.services.web_names(),
            runs=len(services.runs),
        )
    )


ENDPOINT = Endpoint(
    path="/api/status",
    described=False,
    methods={"GET": Operation(handle=_tell, summary="Who answers and who searches.", gives=Status)},
)
