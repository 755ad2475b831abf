"""A token for a cookie, so that a browser need not keep the token."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.security import sign_in
from hermes.server.services import Services


class SignIn(msgspec.Struct, frozen=True):
    token: str


class SignedIn(msgspec.Struct, frozen=True):
    signed_in: bool = True


async def _sign_in(request: Request, services: Services) -> Response:
    asked = await read_json(request, SignIn)
    response = json_response(SignedIn())
    sign_in(response, services.tokens, asked.token)
    return response


ENDPOINT = Endpoint(
    path="/api/sign-in",
    open=True,
    described=False,
    methods={"POST": Operation(handle=_sign_in, summary="Sign in.", takes=SignIn, gives=SignedIn)},
)
