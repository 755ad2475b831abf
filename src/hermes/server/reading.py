"""What callers send, read into typed values."""

from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.types import Message, Receive

from hermes.errors import RequestFault
from hermes.messages import Image

T = TypeVar("T")


def once_more(message: Message, receive: Receive) -> Receive:
    """A way to receive what was received already, and then whatever else the caller does."""
    unread = True

    async def replay() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return message
        return await receive()

    return replay


async def read_json(request: Request, kind: type[T]) -> T:
    """The body as a value of this kind; raises `RequestFault` that says what is wrong with it, and where."""
    return decode(await request.body(), kind)


def decode(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at ")
        raise RequestFault(f"{words[:1].lower()}{words[1:]}", param=_param(place)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestFault(f"the body is not JSON: {error}", code="invalid_json") from None


def _param(place: str) -> str | None:
    """A place as callers write it: `messages[0].role` for `$.messages[0].role`."""
    return place.strip("`").removeprefix("$").removeprefix(".") or None


def picture(url: Any, param: str) -> Image:
    """A picture from its address, or from the data in a `data:` address."""
    if isinstance(url, str) and url.startswith(("https://", "http://")):
        return Image(url=url)
    head, comma, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    kind, _, encoding = head.removeprefix("data:").partition(";")
    if not (comma and head.startswith("data:image/") and encoding == "base64" and data):
        raise RequestFault("a picture is given by its address, or as `data:image/…;base64,…`", param=param)
    return Image(media_type=kind, data=data)
