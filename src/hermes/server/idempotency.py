"""A request that is sent again with its `Idempotency-Key` is not done again: its answer is.

Answers are kept in memory, for an hour and within bounds. A request that failed, or whose caller left,
may be sent again with the same key, and is done.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hermes.errors import RequestFault
from hermes.server.faults import error_response
from hermes.server.reading import once_more

SECONDS = 3_600.0
MOST = 10_000
MOST_BYTES = 64_000_000
LONGEST_KEY = 255
_REPLAYED = (b"idempotent-replayed", b"true")

Name = tuple[str, str, str]


class Known(msgspec.Struct, eq=False):
    """A request that was seen, and its answer once that is whole."""

    body: bytes
    until: float
    reply: list[Message] | None = None
    size: int = 0


class Idempotent:
    """Stands before an application and answers in its place where the same was asked before."""

    def __init__(self, app: ASGIApp, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._known: OrderedDict[Name, Known] = OrderedDict()
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get("idempotency-key") if scope["type"] == "http" else None
        if not key or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        asked = await receive()
        name = (scope["caller"], scope["path"], key)
        digest = hashlib.sha256(asked.get("body", b"")).digest()
        try:
            known = self._seen(name, digest)
        except RequestFault as fault:
            await error_response(fault)(scope, receive, send)
            return
        if known is None:
            await self._do(name, digest, scope, once_more(asked, receive), send)
            return
        for message in known:
            await send(message)

    def _seen(self, name: Name, digest: bytes) -> list[Message] | None:
        """The answer to the same request; raises `RequestFault` for another one with the same key."""
        self._forget_old()
        known = self._known.get(name)
        if len(name[2]) > LONGEST_KEY:
            raise RequestFault(f"a key has {LONGEST_KEY} characters at most", param="Idempotency-Key")
        if known is None:
            return None
        if known.body != digest:
            raise RequestFault(
                "this key was used for another request",
                status=422,
                code="idempotency_key_reused",
                hint="use a new key for a new request",
            )
        if known.reply is None:
            raise RequestFault(
                "the request with this key is still being answered",
                status=409,
                code="idempotency_in_progress",
                retry_after=1,
            )
        return known.reply

    async def _do(self, name: Name, digest: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        known = Known(digest, self._clock() + SECONDS)
        self._known[name] = known
        said: list[Message] = []

        async def note(message: Message) -> None:
            said.append(message)
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            if not _is_worth_keeping(said) or not self._keep(known, said):
                self._known.pop(name, None)

    def _keep(self, known: Known, said: list[Message]) -> bool:
        start, *bodies = said
        body = b"".join(message.get("body", b"") for message in bodies)
        if len(body) > MOST_BYTES:
            return False
        known.reply = [
            {**start, "headers": [*start["headers"], _REPLAYED]},
            {"type": "http.response.body", "body": body, "more_body": False},
        ]
        known.size = len(body)
        self._size += known.size
        self._forget_old()
        return True

    def _forget_old(self) -> None:
        """What is over its time goes, and the oldest where there is too much."""
        now = self._clock()
        while self._known:
            name, known = next(iter(self._known.items()))
            has_room = self._size <= MOST_BYTES and len(self._known) <= MOST
            if known.reply is None or (known.until >= now and has_room):
                return
            self._size -= known.size
            del self._known[name]


def _is_worth_keeping(said: list[Message]) -> bool:
    is_whole = len(said) > 1 and not said[-1].get("more_body", False)
    return is_whole and said[0]["status"] < 400
