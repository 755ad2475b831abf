"""One session of the page: its turns, and the run that is under way in it."""

from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.errors import RequestFault, UnknownName
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.past_turns import PastTurn, past_turns
from hermes.server.services import Services
from hermes.store import SessionInfo


class UnderWay(msgspec.Struct, frozen=True):
    id: str
    question: str


class PastSession(msgspec.Struct, frozen=True):
    """A session. What belongs to the run under way is told by that, and is not among the turns."""

    session: SessionInfo
    turns: Sequence[PastTurn]
    run: UnderWay | None = None


async def _show(request: Request, services: Services) -> Response:
    store, runs = services.runtime.store(), services.page_runs
    try:
        session = await store.find(request.path_params["id"])
    except UnknownName as error:
        raise RequestFault(str(error), status=404, code="session_not_found", hint=error.hint) from error
    run = runs.of_session(session.id)
    messages, events = await store.messages(session.id), await store.events(session.id)
    if run is not None:
        messages, events = messages[: run.before], tuple(each for each in events if each.after <= run.before)
    under_way = UnderWay(run.id, run.question) if run is not None else None
    return json_response(services.cleaned(PastSession(session, past_turns(messages, events), under_way)))


ENDPOINT = Endpoint(
    path="/api/sessions/{id}",
    described=False,
    methods={"GET": Operation(handle=_show, summary="A session.", gives=PastSession)},
)
