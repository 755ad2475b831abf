"""Answers that are data: read as JSON, and held against the schema that was asked for."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import msgspec

from hermes.errors import UsageError
from hermes.messages import NOT_JSON
from hermes.protocols import Mismatch


class SchemaExpectation:
    """A JSON Schema that answers must keep."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        try:
            self._validator = jsonschema_rs.validator_for(dict(schema), retriever=_stay_here)
        except (ValueError, TypeError) as error:
            words = str(error).partition("\n")[0]
            raise UsageError(f"this is no JSON Schema: {words}", hint="see json-schema.org") from error

    def read(self, text: str) -> Any | Mismatch:
        """The value in an answer, or what is wrong with it. A code fence round the JSON is no fault."""
        try:
            value = msgspec.json.decode(_unfenced(text))
        except NOT_JSON as error:
            return Mismatch(f"it is not JSON: {error}")
        fault = next(iter(self._validator.iter_errors(value)), None)
        if fault is None:
            return value
        place = "/".join(map(str, fault.instance_path))
        return Mismatch(f"{fault.message} (at `/{place}`)")


def _stay_here(address: str) -> Any:
    """A `$ref` to a file or a server is not followed: the schema may be a stranger's."""
    raise ValueError(f"`{address}` is outside of the schema")


def _unfenced(text: str) -> str:
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare.strip("`").removeprefix("json")
    return bare
