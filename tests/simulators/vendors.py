"""Provider files as a run has them: the endpoint of a model, refined by its provider and its family."""

import json
from typing import Any

from hermes import discover
from hermes.config.secret import Secret
from hermes.messages import Message
from hermes.protocols import Endpoint, ProviderTransport, Request
from hermes.providers.base import Registry
from hermes.providers.base.families import for_family

load = Registry().load

KEY = "sk-test"


def endpoint_of(name: str, model: str = "", *, base_url: str = "", key: str = KEY) -> Endpoint:
    provider = load(name)
    endpoint = Endpoint(
        provider=provider,
        model=model or provider.default_model or "some-model",
        base_url=base_url or provider.base_url or "http://127.0.0.1:9/v1",
        api_key=Secret(key) if key else None,
    )
    return for_family(provider.refine(endpoint) if provider.refine else endpoint)


def transport_of(endpoint: Endpoint) -> ProviderTransport:
    mode = endpoint.provider.api_mode
    transport: ProviderTransport = discover.load("hermes.transports", mode, "protocol").Transport()
    return transport


def built(
    name: str, model: str = "", *, base_url: str = "", key: str = KEY, **fields: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """The body and the headers that a question to this provider's model makes; `fields` are the request's."""
    endpoint = endpoint_of(name, model, base_url=base_url, key=key)
    asked = {"messages": (Message(role="user", content="why?"),), "stream": False, **fields}
    request = Request(model=endpoint.model, issuer=endpoint.issuer, **asked)
    transport = transport_of(endpoint)
    http = transport.encode(transport.build_kwargs(request, endpoint.provider), endpoint)
    return json.loads(http.body), dict(http.headers)
