"""Models that can be had right now: what servers list, and which servers run on this machine."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec

from hermes import discover
from hermes.app import windows
from hermes.errors import HermesError, InvalidResponse
from hermes.protocols import Endpoint, Notebook, Wire
from hermes.providers.base import LocalServer
from hermes.providers.base.listing import ModelInfo, list_request, parse_models, whose

LISTED_WITHIN = 8.0
ANSWERED_WITHIN = 1.0
"""Seconds that a server on this machine has for its list, once it listens."""
LIST_KEPT = 3600.0
SERVERS_KEPT = 60.0

T = TypeVar("T")


class Listing(msgspec.Struct, frozen=True):
    """The models of a provider, and who says so; `problem` is why its server did not."""

    models: tuple[ModelInfo, ...]
    source: Literal["live", "cached", "static"]
    problem: HermesError | None = None


class Catalog:
    """Asks servers for their models, under a deadline, and remembers the answer for a while."""

    def __init__(self, notes: Notebook, wire: Callable[[], Wire]) -> None:
        self._notes = notes
        self._wire = wire

    async def models(
        self, endpoint: Endpoint, *, fresh: bool = False, live: bool = True, seconds: float = LISTED_WITHIN
    ) -> Listing:
        """The models of an endpoint: as noted within the hour, as its server says, or as its file says."""
        key = f"{endpoint.provider.name} {endpoint.base_url}"
        noted = None if fresh else _noted(self._notes.read("models", key), tuple[ModelInfo, ...])
        if noted:
            return Listing(noted, "cached")
        static = Listing(tuple(ModelInfo(id=id) for id in endpoint.provider.models), "static")
        if not live or not _can_be_asked(endpoint):
            return static
        try:
            models = await self._ask(endpoint, seconds)
        except HermesError as error:
            return msgspec.structs.replace(static, problem=error)
        self._notes.write("models", key, msgspec.to_builtins(models), LIST_KEPT)
        told = {model.id: model.context_window for model in models if model.context_window}
        windows.note(self._notes, endpoint, told)
        return Listing(models, "live")

    async def servers(self, endpoints: Sequence[Endpoint]) -> tuple[LocalServer, ...]:
        """Those of the endpoints where a model server answers, in their order."""
        key = " ".join(sorted(endpoint.base_url for endpoint in endpoints))
        if noted := _noted(self._notes.read("local servers", key), tuple[LocalServer, ...]):
            return noted
        by_url: dict[str, list[Endpoint]] = {}
        for endpoint in endpoints:
            by_url.setdefault(endpoint.base_url, []).append(endpoint)
        asked = await asyncio.gather(*(self._identify(group) for group in by_url.values()))
        found = tuple(server for server in asked if server is not None)
        if found:
            self._notes.write("local servers", key, msgspec.to_builtins(found), SERVERS_KEPT)
        return found

    async def _ask(self, endpoint: Endpoint, seconds: float) -> tuple[ModelInfo, ...]:
        async with self._wire().open(list_request(endpoint, seconds), lambda *_: False) as reply:
            models = parse_models(await reply.read())
        if not models:
            raise InvalidResponse("the server lists no models")
        return models

    async def _identify(self, candidates: Sequence[Endpoint]) -> LocalServer | None:
        """The server at one address, which several providers may have as theirs. No key is shown to it."""
        first = msgspec.structs.replace(candidates[0], api_key=None, spare_keys=())
        request = list_request(first, ANSWERED_WITHIN)
        try:
            async with self._wire().open(request, lambda *_: False) as reply:
                models, server = parse_models(await reply.read()), reply.headers.get("server", "")
        except HermesError:
            return None
        able = tuple(model.id for model in models if model.answers)
        names = {one.provider.name: (one.provider.name, *one.provider.aliases) for one in candidates}
        name = whose(names, server, models) or first.provider.name
        return LocalServer(name, first.base_url, able) if able else None


def completed(models: Sequence[ModelInfo], provider: str) -> tuple[ModelInfo, ...]:
    """The models with what a price list knows of them, where their server says nothing."""
    facts = discover.module("hermes.agent.cost").facts
    return tuple(_complete(model, *facts(provider, model.id)) for model in models)


def _complete(model: ModelInfo, window: int | None, asked: float | None, told: float | None) -> ModelInfo:
    return msgspec.structs.replace(
        model,
        context_window=model.context_window or window,
        input_price=asked if model.input_price is None else model.input_price,
        output_price=told if model.output_price is None else model.output_price,
    )


def _can_be_asked(endpoint: Endpoint) -> bool:
    """A list needs an address, a server, and a key where requests would else have to be signed."""
    provider = endpoint.provider
    is_signed = provider.sign is not None and endpoint.api_key is None
    return bool(provider.models_path and endpoint.base_url) and provider.engine is None and not is_signed


def _noted(value: object, kind: type[T]) -> T | None:
    """A note in the form it had; None when it has another, as an older version may have left it."""
    if value is None:
        return None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
