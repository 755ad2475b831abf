"""What a file of `endpoints` holds: a path, what can be done there, and who may."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from hermes.server.services import Services

Handler = Callable[[Request, Services], Awaitable[Response]]
"""Answers a request. A `HermesError` that it raises becomes an answer in the shape of OpenAI's errors."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One method of a path. The types are what `/openapi.json` tells of it."""

    handle: Handler
    summary: str
    takes: Any = None
    """The type of the JSON body; None where there is none."""
    gives: Any = None
    """The type of the JSON answer; None where it is no JSON."""
    streams: bool = False
    """Whether it can answer with an event stream."""
    gives_text: str = ""
    """The media type of an answer that is no JSON."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One path. Everybody who comes in has shown a token, unless it is `open`."""

    path: str
    """As Starlette writes it: `/v1/responses/{id}`, `/files/{path:path}`."""
    methods: Mapping[str, Operation] = {}
    app: Callable[[Services], ASGIApp] | None = None
    """Makes an application that has the whole path to itself, with every method."""
    lifespan: Callable[[Services], AbstractAsyncContextManager[None]] | None = None
    """What has to run as long as the server does."""
    open: bool = False
    """Whether it answers without a token; host and origin are checked all the same."""
    described: bool = True
    """Whether `/openapi.json` tells of it."""
