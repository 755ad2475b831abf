"""What provider files say in `refine`: the same endpoint with some facts changed, or on another wire."""

from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from hermes.errors import ConfigError
from hermes.protocols import Endpoint

MESSAGES_HEADERS = {"anthropic-version": "2023-06-01"}
"""What every server that speaks the Messages wire asks for."""


def changed(endpoint: Endpoint, **facts: Any) -> Endpoint:
    """The endpoint with these facts about its provider changed."""
    return msgspec.structs.replace(endpoint, provider=msgspec.structs.replace(endpoint.provider, **facts))


def moved(endpoint: Endpoint, base_url: str) -> Endpoint:
    """The endpoint at another address."""
    return msgspec.structs.replace(endpoint, base_url=base_url)


def over_messages(endpoint: Endpoint, **facts: Any) -> Endpoint:
    """The endpoint over the Messages wire; what its provider says of the chat wire does not hold there."""
    headers = {**endpoint.provider.headers, **MESSAGES_HEADERS}
    path = "/models" if endpoint.base_url.rstrip("/").endswith("/v1") else "/v1/models"
    unsaid = {"quirks": None, "prepare": None, "dialect": None, "echoes": (), "caches": False}
    wire = {"api_mode": "anthropic_messages", "auth_style": "x-api-key", "headers": headers}
    return changed(endpoint, **{**wire, "models_path": path, **unsaid, **facts})


def speaks_messages(base_url: str) -> bool:
    """Whether the address is one of those under which many servers offer the Messages wire."""
    return address(base_url).path.rstrip("/").removesuffix("/v1").endswith("/anthropic")


def address(base_url: str) -> SplitResult:
    """The parts of an address; raises `ConfigError` when it is none."""
    try:
        parts = urlsplit(base_url)
        _ = parts.port
    except ValueError as error:
        raise ConfigError(
            f"the address `{base_url}` cannot be read: {error}",
            hint="give the address up to `/v1`, such as `http://127.0.0.1:8080/v1`",
        ) from error
    return parts


def tail(model: str) -> str:
    """The model's own name in lower case, without what routes to it."""
    return model.rpartition("/")[2].lower()
