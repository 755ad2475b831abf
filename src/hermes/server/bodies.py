"""What callers send, as typed values."""

from typing import TypeVar

import msgspec
from starlette.requests import Request

from hermes.errors import UsageError

T = TypeVar("T")


async def read_body(request: Request, kind: type[T]) -> T:
    """The JSON body of a request; raises `UsageError` when it is not what is wanted."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the body is not what is expected here: {error}") from error
