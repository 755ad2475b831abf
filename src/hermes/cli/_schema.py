"""A JSON Schema from a file."""

from typing import Any

import msgspec

from hermes.errors import UsageError
from hermes.messages import NOT_JSON


def read_schema(path: str) -> dict[str, Any]:
    """The schema in a file; raises `UsageError` when there is none in it."""
    try:
        with open(path, "rb") as file:
            schema = msgspec.json.decode(file.read())
    except OSError as error:
        raise UsageError(
            f"cannot read `{path}`: {error.strerror}", hint="name a file that is there"
        ) from error
    except NOT_JSON as error:
        raise UsageError(f"`{path}` is not JSON: {error}", hint="a schema is a JSON object") from error
    if not isinstance(schema, dict):
        raise UsageError(f"`{path}` is not a JSON object", hint='begin with `{"type": "object"}`')
    return schema
