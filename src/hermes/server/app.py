"""The application: every file of `endpoints`, behind the gate."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from hermes import discover
from hermes.config import Config
from hermes.errors import HermesError, RequestFault
from hermes.server import tokens as token_file
from hermes.server.endpoint import Endpoint, Handler
from hermes.server.faults import error_response
from hermes.server.hosts import LOOPBACK
from hermes.server.idempotency import Idempotent
from hermes.server.limits import RateLimit
from hermes.server.metrics import PATH, Measured
from hermes.server.security import Gate
from hermes.server.services import Services

PACKAGE = "hermes.server.endpoints"


def open_services(config: Config, path: str = "") -> Services:
    """What the application works with, and the tokens of a file or of the one in the Hermes home."""
    tokens, _ = token_file.read_or_make(path or os.path.join(config.home, token_file.FILE))
    return Services(config, tokens)


def endpoints() -> tuple[Endpoint, ...]:
    """What every file holds, by name."""
    return tuple(discover.load(PACKAGE, name, "endpoint").ENDPOINT for name in discover.names(PACKAGE))


def assemble(services: Services, found: Sequence[Endpoint] | None = None) -> "Application":
    """The application over these services, with these endpoints or with all of them."""
    served = endpoints() if found is None else found
    inner = Starlette(
        routes=[route for endpoint in served for route in _routes(endpoint, services)],
        exception_handlers={HTTPException: _unrouted, Exception: _broken},
        lifespan=lambda _app: _running(served, services),
    )
    inner.state.endpoints = served
    settings = services.settings
    gate = Gate(
        Idempotent(inner, services.clock),
        hosts=(*LOOPBACK, *settings.allow_hosts),
        tokens=services.tokens,
        is_open=_is_open(served),
        rate=RateLimit(settings.requests_per_minute, services.clock),
        room=services.room,
        max_body=settings.max_body,
        redact=services.redact,
        refused=services.metrics.rejected,
    )
    return Application(gate, services, served)


class Application(Measured):
    """The whole of it. A mounted application is not told when it begins and ends: `lifespan` is for that."""

    def __init__(self, gate: Gate, services: Services, served: Sequence[Endpoint]) -> None:
        super().__init__(gate, services.metrics, services.clock)
        self._services = services
        self._served = served

    def lifespan(self, _app: object = None) -> AbstractAsyncContextManager[None]:
        """To be open as long as the application that mounts this one runs."""
        return _running(self._served, self._services)


def _routes(endpoint: Endpoint, services: Services) -> list[Route]:
    if endpoint.app is not None:
        return [Route(endpoint.path, _Whole(endpoint.app(services)))]
    return [
        Route(endpoint.path, _handler(endpoint.path, operation.handle, services), methods=[method])
        for method, operation in endpoint.methods.items()
    ]


class _Whole:
    """An application that has a path to itself; a function would be taken for a handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _handler(path: str, handle: Handler, services: Services) -> Callable[[Request], object]:
    async def answer(request: Request) -> Response:
        request.scope[PATH] = path
        try:
            return await handle(request, services)
        except HermesError as error:
            return error_response(error, services.redact)

    return answer


def _is_open(served: Sequence[Endpoint]) -> Callable[[str], bool]:
    patterns = [compile_path(endpoint.path)[0] for endpoint in served if endpoint.open]
    return lambda path: any(pattern.match(path) for pattern in patterns)


@asynccontextmanager
async def _running(served: Sequence[Endpoint], services: Services) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        stack.push_async_callback(services.close)
        for endpoint in served:
            if endpoint.lifespan is not None:
                await stack.enter_async_context(endpoint.lifespan(services))
        yield


async def _broken(_request: Request, error: Exception) -> Response:
    """A fault of our own; the server tells where, and the caller that it was none of theirs."""
    return error_response(HermesError(f"something in Hermes broke: {type(error).__name__}"))


async def _unrouted(_request: Request, error: Exception) -> Response:
    """A path or a method that is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, words = ("not_found", "there is nothing at this path")
    if status == 405:
        code, words = "method_not_allowed", "this method is not known at this path"
    response = error_response(RequestFault(words, status=status, code=code))
    for name, value in (getattr(error, "headers", None) or {}).items():
        response.headers[name] = value
    return response
