"""The models that can be asked for."""

from contextlib import suppress
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes import discover
from hermes.errors import ConfigError, UsageError
from hermes.server.asked import OWN_MODEL
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.services import Services


class ModelEntry(msgspec.Struct, frozen=True):
    id: str
    owned_by: str
    object: Literal["model"] = "model"
    created: int = 0


class ModelList(msgspec.Struct, frozen=True):
    """`hermes` is what the settings choose; the others are named `PROVIDER/MODEL`."""

    data: tuple[ModelEntry, ...]
    object: Literal["list"] = "list"


async def _list(_request: Request, services: Services) -> Response:
    chooser = services.runtime.chooser
    offers = await discover.module("hermes.app.survey").survey(chooser, live=False)
    usable = (chooser.registry.load(offer.name) for offer in offers if offer.usable)
    named = (
        f"{provider.name}/{model}"
        for provider in usable
        for model in dict.fromkeys((*filter(None, [provider.default_model]), *provider.models))
    )
    names = dict.fromkeys((*_chosen(services), *named))
    listed = (ModelEntry(name, name.partition("/")[0]) for name in names)
    return json_response(ModelList((ModelEntry(OWN_MODEL, OWN_MODEL), *listed)))


def _chosen(services: Services) -> list[str]:
    """What `hermes` stands for; nothing where the settings do not say it."""
    with suppress(ConfigError, UsageError):
        endpoint = services.runtime.choose_model().endpoint
        return [f"{endpoint.provider.name}/{endpoint.model}"]
    return []


ENDPOINT = Endpoint(
    path="/v1/models",
    methods={"GET": Operation(handle=_list, summary="The models that can be asked for.", gives=ModelList)},
)
