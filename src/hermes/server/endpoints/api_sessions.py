"""Past sessions: those used last, or those that hold some words."""

from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services
from hermes.store import SearchHit, SessionInfo, Store

MOST = 100
_MOST_HITS = 200


class Listed(SessionInfo, frozen=True):
    snippet: str = ""
    """The words around what was searched for."""


class Sessions(msgspec.Struct, frozen=True):
    sessions: Sequence[Listed]


async def _list(request: Request, services: Services) -> Response:
    words = request.query_params.get("q", "").strip()
    store = services.runtime.store()
    found = await _search(store, words) if words else [_listed(each) for each in await store.list(MOST)]
    return json_response(services.cleaned(Sessions(found)))


async def _search(store: Store, words: str) -> list[Listed]:
    """Each session once, with the best of its hits, the best first."""
    best: dict[str, SearchHit] = {}
    for hit in await store.search(words, _MOST_HITS):
        best.setdefault(hit.session_id, hit)
    return [_listed(await store.find(hit.session_id), hit.snippet) for hit in list(best.values())[:MOST]]


def _listed(session: SessionInfo, snippet: str = "") -> Listed:
    return Listed(**msgspec.structs.asdict(session), snippet=snippet)


ENDPOINT = Endpoint(
    path="/api/sessions",
    described=False,
    methods={"GET": Operation(handle=_list, summary="Sessions, or those with some words.", gives=Sessions)},
)
