"""A request held against the vendor's own types, which ignore what they do not know and read lists late."""

from typing import Any


def misfit(types: Any, request: dict[str, Any]) -> str | None:
    """What these types (a pydantic `TypeAdapter`) refuse, change or do not know; None when all of it fits."""
    try:
        known = _read_out(types.validate_python(request))
    except ValueError as error:
        return f"the vendor's types refuse it: {error}"
    odd = {key: request[key] for key in request if key not in known or known[key] != request[key]}
    return f"the vendor's types do not know all of {odd}" if odd else None


def _read_out(value: Any) -> Any:
    """Validated data with its lazy lists read, which is when pydantic checks what is in them."""
    if isinstance(value, dict):
        return {key: _read_out(entry) for key, entry in value.items()}
    if isinstance(value, str | int | float | None):
        return value
    return [_read_out(entry) for entry in value]
