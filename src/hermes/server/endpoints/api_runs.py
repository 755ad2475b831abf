"""Questions of the page: each begins a run that goes on whoever watches it."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.errors import UsageError
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.services import Services


class Question(msgspec.Struct, frozen=True):
    question: str
    session_id: str | None = None
    """The session to go on with; without one, a new one is begun."""
    model: str = ""
    """Who answers, as `PROVIDER/MODEL`; empty is what the settings say."""


class Begun(msgspec.Struct, frozen=True):
    run_id: str
    session_id: str


async def _begin(request: Request, services: Services) -> Response:
    asked = await read_json(request, Question)
    if not asked.question.strip():
        raise UsageError("the question is empty", hint="say what you want to know")
    await services.check_model(asked.model)
    run = await services.page_runs.start(asked.question.strip(), asked.session_id or "", asked.model)
    return json_response(Begun(run.id, run.session_id), status=201)


ENDPOINT = Endpoint(
    path="/api/runs",
    described=False,
    methods={"POST": Operation(handle=_begin, summary="Ask a question.", takes=Question, gives=Begun)},
)
