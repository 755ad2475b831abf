"""The endpoints as OpenAPI 3.1 tells of them, made from the types that they take and give."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from hermes import __version__
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import ErrorBody

_REFERENCE = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
_JSON = "application/json"
_STREAM = "text/event-stream"


def describe(endpoints: Sequence[Endpoint], root: str = "") -> dict[str, Any]:
    """The description of all endpoints that want to be told of; `root` is where they are mounted."""
    told = [endpoint for endpoint in endpoints if endpoint.described and endpoint.methods]
    types = {
        kind: None
        for endpoint in told
        for operation in endpoint.methods.values()
        for kind in (operation.takes, operation.gives)
        if kind is not None
    }
    schemas, components = msgspec.json.schema_components([*types, ErrorBody], ref_template=_REFERENCE)
    by_type = dict(zip([*types, ErrorBody], schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hermes",
            "version": __version__,
            "description": "Answers with sources, search and pages.",
        },
        "servers": [{"url": root or "/"}],
        "security": [{"token": []}],
        "paths": {
            _PARAMETER.sub(r"{\1}", endpoint.path): {
                method.lower(): _operation(endpoint, operation, by_type)
                for method, operation in endpoint.methods.items()
            }
            for endpoint in told
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    error = {"content": {_JSON: {"schema": schemas[ErrorBody]}}, "description": "What is wrong."}
    told: dict[str, Any] = {
        "summary": operation.summary,
        "responses": {
            "200": {"description": "Done.", "content": _given(operation, schemas)},
            "default": error,
        },
    }
    if endpoint.open:
        told["security"] = []
    parameters = _PARAMETER.findall(endpoint.path)
    if parameters:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in parameters
        ]
    if operation.takes is not None:
        body = {"required": True, "content": {_JSON: {"schema": schemas[operation.takes]}}}
        told["requestBody"] = body
    return told


def _given(operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if operation.gives is not None:
        content[_JSON] = {"schema": schemas[operation.gives]}
    if operation.streams:
        content[_STREAM] = {"schema": {"type": "string"}}
    if operation.gives_text:
        content[operation.gives_text] = {"schema": {"type": "string"}}
    return content
