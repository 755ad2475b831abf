"""Every file under `providers/`: a value that is whole, unique, and speaks a protocol we have."""

import pytest

from hermes import discover
from hermes.protocols import Endpoint, Message, Provider, Request
from hermes.providers.base import Registry

load = Registry().load
ALL = Registry().names()


@pytest.mark.parametrize("name", ALL)
def test_the_value_is_whole(name):
    provider = load(name)
    assert isinstance(provider, Provider)
    assert provider.name == name
    assert provider.title
    assert provider.engine or provider.base_url_env, "a server's address can always be overridden"
    assert not provider.key_required or provider.key_env
    assert (
        not provider.base_url or provider.base_url.startswith("https://") or "127.0.0.1" in provider.base_url
    )
    assert provider.default_model in ("", *provider.models)


@pytest.mark.parametrize("name", ALL)
def test_its_protocol_builds_a_request_for_it(name):
    provider = load(name)
    transport = discover.load("hermes.transports", provider.api_mode, "protocol").Transport()
    request = Request(model="m", messages=(Message(role="user", content="hi"),))
    endpoint = Endpoint(provider=provider, model="m", base_url=provider.base_url or "http://127.0.0.1/v1")
    http = transport.encode(transport.build_kwargs(request, provider), endpoint)
    assert http.method == "POST"
    assert http.body


def test_names_and_aliases_and_variables_have_one_owner():
    providers = [load(name) for name in ALL]
    words = [word for provider in providers for word in (provider.name, *provider.aliases)]
    assert len(words) == len(set(words))
    assert not Registry().problems
    variables = [name for provider in providers for name in provider.base_url_env]
    assert len(variables) == len(set(variables))
