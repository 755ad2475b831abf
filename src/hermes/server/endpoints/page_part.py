"""What the page is made of: its modules, its style, its icon."""

from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.page_files import file_response
from hermes.server.services import Services


async def _show(request: Request, _services: Services) -> Response:
    return file_response(request.path_params["name"], request.headers.get("if-none-match", ""))


ENDPOINT = Endpoint(
    path="/page/{name}",
    open=True,
    described=False,
    methods={"GET": Operation(handle=_show, summary="A part of the page.", gives_text="text/javascript")},
)
