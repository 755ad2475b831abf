"""The one way to a model. Every call goes through `ModelClient.send`, whoever asks and why."""

import asyncio
from collections.abc import Callable

import msgspec

from hermes.agent.explain import Reason, explain
from hermes.errors import AuthFailed, HttpStatus, IncompleteResponse, ModelError
from hermes.events import Event, RetryWaiting
from hermes.messages import NormalizedResponse
from hermes.protocols import Endpoint, ProviderTransport, Request, Wire

Emit = Callable[[Event], None]


class ModelClient:
    """A model that can be asked: an endpoint, the protocol it speaks, and the wire to it."""

    def __init__(self, endpoint: Endpoint, transport: ProviderTransport, wire: Wire) -> None:
        self.endpoint = endpoint
        self._transport = transport
        self._wire = wire

    async def send(self, request: Request, emit: Emit) -> NormalizedResponse:
        """Ask once and return the whole answer; what arrives on the way is emitted.

        Raises `NetError` or `ModelError`. An answer that breaks off is never returned as whole:
        it raises `IncompleteResponse` after its text was emitted.
        """
        request = self._addressed(request)
        kwargs = self._transport.build_kwargs(request, self.endpoint.provider)
        http = self._transport.encode(kwargs, self.endpoint)
        if self.endpoint.provider.sign is not None and self.endpoint.api_key is None:
            # Credentials may have to be fetched first, from a file or a service.
            http = await asyncio.to_thread(self.endpoint.provider.sign, http)
        assembler = self._transport.assembler([tool.name for tool in request.tools])
        try:
            async with self._wire.open(http, lambda _error, waiting: _told(waiting, emit)) as reply:
                if "json" in reply.headers.get("content-type", "").lower():
                    for delta in assembler.feed_whole(await reply.read()):
                        emit(delta)
                else:
                    async for batch in reply.events():
                        for payload in batch:
                            for delta in assembler.feed(payload):
                                emit(delta)
        except HttpStatus as error:
            raise self._read_error(error) from error
        return _whole(assembler.finish())

    def explain(self, request: Request) -> tuple[Reason, ...]:
        """What `send` would send, field by field, and why. Nothing is sent."""
        return explain(type(self._transport), self._addressed(request), self.endpoint.provider)

    def _addressed(self, request: Request) -> Request:
        return msgspec.structs.replace(request, model=self.endpoint.model, issuer=self.endpoint.issuer)

    def _read_error(self, error: HttpStatus) -> ModelError:
        codes = self.endpoint.provider.codes
        explained = self._transport.read_error(error.status, error.body, error.retry_after, codes)
        if isinstance(explained, AuthFailed) and explained.hint is None:
            keys = " or ".join(f"`{name}`" for name in self.endpoint.provider.key_env)
            explained.hint = f"check the key in {keys}" if keys else "check the key"
        return explained


def _told(waiting: RetryWaiting, emit: Emit) -> bool:
    emit(waiting)
    return True


def _whole(response: NormalizedResponse) -> NormalizedResponse:
    if (response.provider_data or {}).get("partial"):
        raise IncompleteResponse(
            "the answer stopped before its end", hint="ask again; what had arrived is kept in the session"
        )
    return response
