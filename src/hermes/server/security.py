"""The gate before every handler: host, origin, token, rate, room, body; in this order.

A page of a stranger can make a browser on this machine send requests to loopback. So the name in `Host`
must be ours (a stranger's name may be made to lead here), a page that asks must be ours, and a token is
needed even so.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hermes.errors import RequestFault
from hermes.server.faults import error_response
from hermes.server.limits import RateLimit, Room
from hermes.server.reading import once_more
from hermes.server.tokens import COOKIE, Tokens

BODY_SECONDS = 30.0
"""How long a caller may take to send a body."""

MOST_OF_STRANGERS = 4_096
"""Bytes of a body at a path that needs no token: enough for a token."""

_READS = ("GET", "HEAD")
_THIRTY_DAYS = 30 * 24 * 3600


class Gate:
    """Lets a request in, with who sent it as `scope["caller"]` and its body read within the limits.

    `is_open` says of a path that it answers without a token. `refused` is told the code of whatever is
    not let in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Iterable[str],
        tokens: Tokens,
        is_open: Callable[[str], bool],
        rate: RateLimit,
        room: Room,
        max_body: int,
        redact: Callable[[str], str] = str,
        refused: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._tokens = tokens
        self._is_open = is_open
        self._rate = rate
        self._room = room
        self._max_body = max_body
        self._redact = redact
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            scope["caller"] = self._admit(scope)
            with self._room.enter() if scope["caller"] else nullcontext():
                most = self._max_body if scope["caller"] else min(self._max_body, MOST_OF_STRANGERS)
                body = await _body(Headers(scope=scope), receive, most)
                await self._app(scope, once_more({"type": "http.request", "body": body}, receive), send)
        except RequestFault as fault:
            self._refused(fault.code)
            response = error_response(fault, self._redact)
            response.headers["connection"] = "close"  # what the caller still sends is not read
            await response(scope, receive, send)

    def _admit(self, scope: Scope) -> str:
        """Who asks; empty where that does not matter."""
        headers = Headers(scope=scope)
        check_host(headers, self._hosts)
        check_origin(headers)
        if self._is_open(scope["path"].removeprefix(scope.get("root_path", ""))):
            return ""
        caller = self._caller(headers, scope["method"])
        self._rate.take(caller)
        return caller

    def _caller(self, headers: Headers, method: str) -> str:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and (owner := self._tokens.owner(token.strip())):
            return owner
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        owner = self._tokens.owner_of_cookie(cookie) if cookie and not token else None
        if owner is None:
            raise RequestFault(
                "the token is wrong" if scheme else "a token is needed",
                status=401,
                code="invalid_api_key",
                hint="send `Authorization: Bearer TOKEN` with the token that `hermes serve` made",
            )
        if method not in _READS and "origin" not in headers:
            # A browser sends one with every such request of a page, so this came from elsewhere.
            raise RequestFault("a cookie alone is not enough here", status=403, code="origin_missing")
        return owner


async def _body(headers: Headers, receive: Receive, most: int) -> bytes:
    """The whole body; a longer one than allowed is refused before it is in memory."""
    told = headers.get("content-length", "0")
    if not (told.isascii() and told.isdecimal()) or int(told) > most:
        raise _too_large(most)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestFault("the caller left", status=408, code="caller_left")
                body += message.get("body", b"")
                if len(body) > most:
                    raise _too_large(most)
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise RequestFault("the body did not arrive in time", status=408, code="request_timeout") from None


def _too_large(most: int) -> RequestFault:
    hint = "raise `server.max_body`" if most > MOST_OF_STRANGERS else None
    return RequestFault(
        f"the body is longer than {most} bytes", status=413, code="request_too_large", hint=hint
    )


def check_host(headers: Headers, allowed: frozenset[str]) -> None:
    """Raise `RequestFault` unless the request names one host, and one that is ours."""
    named = headers.getlist("host")
    if len(named) == 1 and _host(named[0]) in allowed:
        return
    raise RequestFault(
        "this host is not served here",
        status=421,
        code="host_not_allowed",
        hint="allow its name with `--allow-host` or `server.allow_hosts`",
    )


def check_origin(headers: Headers) -> None:
    """Raise `RequestFault` when a page asks that did not come from this very server."""
    origins = headers.getlist("origin")
    if not origins:
        return
    if origins not in ([f"http://{headers['host']}"], [f"https://{headers['host']}"]):
        raise RequestFault("pages of other origins may not ask", status=403, code="origin_not_allowed")


def _host(netloc: str) -> str:
    """The name in a `Host` header, without its port; empty where it is no name."""
    try:
        split = urlsplit(f"//{netloc}")
    except ValueError:
        return ""
    return split.hostname or "" if split.netloc == netloc and "@" not in netloc else ""


def sign_in(response: Response, tokens: Tokens, token: str) -> None:
    """Give a browser the cookie for a token that its user showed; raises `RequestFault` for a wrong one."""
    value = tokens.cookie(token)
    if value is None:
        raise RequestFault("the token is wrong", status=401, code="invalid_api_key")
    response.set_cookie(COOKIE, value, max_age=_THIRTY_DAYS, httponly=True, samesite="strict", path="/")
