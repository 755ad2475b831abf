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
from hermes.server.faults import FAILED, error_response
from hermes.server.reading import once_more

SECONDS = 3_600.0
MOST = 10_000
MOST_BYTES = 64_000_000
LONGEST_KEY = 255
_REPLAYED = (b"idempotent-replayed", b"true")

Name = tuple[str, str, str]


class Known(msgspec.Struct, frozen=True, eq=False):
    """A request that was answered, and its answer."""

    asked: bytes
    until: float
    reply: list[Message]
    size: int


class Idempotent:
    """Stands before an application and answers in its place where the same was asked before."""

    def __init__(self, app: ASGIApp, clock: Callable[[], float]) -> None:
        self._app = app
        self._clock = clock
        self._doing: dict[Name, bytes] = {}
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
        if known is None and name not in self._doing:
            return None
        if digest != (known.asked if known is not None else self._doing[name]):
            raise RequestFault(
                "this key was used for another request",
                status=422,
                code="idempotency_key_reused",
                hint="use a new key for a new request",
            )
        if known is None:
            raise RequestFault(
                "the request with this key is still being answered",
                status=409,
                code="idempotency_in_progress",
                retry_after=1,
            )
        return known.reply

    async def _do(self, name: Name, digest: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        self._doing[name] = digest
        said: list[Message] = []
        size = 0

        async def note(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            if size <= MOST_BYTES:
                said.append(message)
            await send(message)

        try:
            await self._app(scope, receive, note)
            if size <= MOST_BYTES and not scope.get(FAILED) and _is_worth_keeping(said):
                self._keep(name, digest, said)
        finally:
            del self._doing[name]

    def _keep(self, name: Name, digest: bytes, said: list[Message]) -> None:
        start, *bodies = said
        body = b"".join(message.get("body", b"") for message in bodies)
        reply: list[Message] = [
            {**start, "headers": [*start["headers"], _REPLAYED]},
            {"type": "http.response.body", "body": body, "more_body": False},
        ]
        self._known[name] = Known(digest, self._clock() + SECONDS, reply, len(body))
        self._size += len(body)
        self._forget_old()

    def _forget_old(self) -> None:
        """What is over its time goes, and the oldest where there is too much."""
        now = self._clock()
        while self._known:
            name, known = next(iter(self._known.items()))
            if known.until >= now and self._size <= MOST_BYTES and len(self._known) <= MOST:
                return
            self._size -= known.size
            del self._known[name]


def _is_worth_keeping(said: list[Message]) -> bool:
    is_whole = len(said) > 1 and not said[-1].get("more_body", False)
    return is_whole and said[0]["status"] < 400
