"""What every simulated search vendor does: takes requests, refuses what its API would, answers by its script.

A file here is named like the backend it stands in for and holds its subclass of `Vendor`, as `VENDOR`. The
suite over all backends (`tests/contract/test_web_backends.py`) finds it by that name.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

import msgspec

from simulators.scripted import Exchange, Received, ScriptedServer, http_reply

KEY = "test-key-0123456789abcdef"

Reply = Callable[["Vendor", "Asked"], bytes]


class Asked(msgspec.Struct, frozen=True):
    """A request as a vendor reads it; `body` is decoded JSON, None when there is none."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: Any


class Vendor:
    """One vendor. A subclass describes its API; the server part is here.

    `problem_with` says why the real one would refuse a request: an unknown path, parameter or header, a
    missing field. What was refused is listed in `refusals`, and a test that ends with any has failed.
    """

    searches: ClassVar[bool] = True
    extracts: ClassVar[bool] = True
    has_key: ClassVar[bool] = True
    most: ClassVar[int] = 100
    """How many results one request may ask for."""
    url_key: ClassVar[str] = "url"
    """Under which name a row holds its URL."""

    def __init__(self, reply: Reply | None = None) -> None:
        self.asked: list[Asked] = []
        self.refusals: list[str] = []
        self.left = asyncio.Event()
        self._reply = reply
        self._server = ScriptedServer(self._serve)

    @property
    def url(self) -> str:
        return self._server.url

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.__aexit__(*error)

    def environ(self) -> dict[str, str]:
        """The variables that lead the backend here, with the key `KEY`."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """What config.yaml must say below `web.` for it, when variables are not enough."""
        return {}

    def problem_with(self, asked: Asked) -> str | None:
        raise NotImplementedError

    def is_authorized(self, asked: Asked) -> bool:
        """Whether the request carries `KEY` where the vendor wants it."""
        raise NotImplementedError

    def refused(self, status: int, words: str) -> bytes:
        """The body of an error as this vendor words it."""
        return msgspec.json.encode({"error": words})

    def row(self, title: str, url: str, description: str) -> dict[str, Any]:
        """One result in the vendor's form, with every field that it documents."""
        raise NotImplementedError

    def found(self, rows: Sequence[Any], asked: Asked) -> Any:
        """The reply to a search that gave these rows."""
        raise NotImplementedError

    def limit(self, asked: Asked) -> int | None:
        """How many results the request asks for; None when the vendor has no such parameter."""
        raise NotImplementedError

    def query(self, asked: Asked) -> str:
        """The words that the request looks for."""
        raise NotImplementedError

    def pages(self, read: Mapping[str, str | None], asked: Asked) -> Any:
        """The reply to a request for pages: the text of each by URL, None for one that cannot be read."""
        raise NotImplementedError

    def urls(self, asked: Asked) -> list[str]:
        """The pages that the request is for; empty when it is a search."""
        return []

    async def _serve(self, exchange: Exchange) -> None:
        assert exchange.request is not None
        asked = _asked(exchange.request)
        self.asked.append(asked)
        reply = self._answer(asked)
        if reply is None:
            await exchange.client_left()
            self.left.set()
        else:
            await exchange.send(reply)
        exchange.close()

    def _answer(self, asked: Asked) -> bytes | None:
        """The whole reply; None to wait until the client leaves."""
        problem = self.problem_with(asked)
        if problem is not None:
            self.refusals.append(problem)
            return http_reply(400, self.refused(400, problem), content_type="application/json")
        if self._reply is silence:
            return None
        if self._reply is not None:
            return self._reply(self, asked)
        if not self.is_authorized(asked):
            return http_reply(401, self.refused(401, "wrong key"), content_type="application/json")
        return answers([])(self, asked)


def silence(_vendor: Vendor, _asked: Asked) -> bytes:
    """A reply that never comes."""
    return b""


def answers(rows: Iterable[tuple[str, str, str] | Any]) -> Reply:
    """The reply to a search: rows as (title, url, description), or as the vendor writes them."""

    def reply(vendor: Vendor, asked: Asked) -> bytes:
        written = [vendor.row(*row) if isinstance(row, tuple) else row for row in rows]
        return as_json(vendor.found(written, asked))

    return reply


def reads(pages: Mapping[str, str | None]) -> Reply:
    """The reply to a request for pages."""

    def reply(vendor: Vendor, asked: Asked) -> bytes:
        return as_json(vendor.pages({url: pages.get(url) for url in vendor.urls(asked)}, asked))

    return reply


def fails(status: int, words: str = "no", **headers: object) -> Reply:
    """An error as the vendor words it."""

    def reply(vendor: Vendor, _asked: Asked) -> bytes:
        return http_reply(status, vendor.refused(status, words), content_type="application/json", **headers)

    return reply


def raw(body: bytes, status: int = 200, content_type: str = "text/html") -> Reply:
    return lambda _vendor, _asked: http_reply(status, body, content_type=content_type)


def as_json(value: object) -> bytes:
    return http_reply(200, msgspec.json.encode(value), content_type="application/json")


def only(given: Iterable[str], known: Iterable[str], what: str) -> str | None:
    """The complaint about the first name that is not known."""
    unknown = sorted(set(given) - set(known))
    return f"unknown {what} {unknown[0]}" if unknown else None


def unknown_headers(asked: Asked, *known: str) -> str | None:
    """The complaint about a header that neither HTTP nor the vendor knows."""
    usual = (
        "host",
        "accept",
        "accept-encoding",
        "user-agent",
        "content-type",
        "content-length",
        "connection",
    )
    return only(asked.headers, (*usual, *known), "header")


def _asked(request: Received) -> Asked:
    parts = urlsplit(request.path)
    return Asked(
        method=request.method,
        path=parts.path,
        params=dict(parse_qsl(parts.query, keep_blank_values=True)),
        headers=request.headers,
        body=msgspec.json.decode(request.body) if request.body else None,
    )
