"""A backend that has a server: its pure functions with the wire between them, and its failures told."""

import asyncio
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from hermes.errors import (
    BackendDown,
    BackendRefused,
    BackendSpent,
    ConfigError,
    HttpStatus,
    NetError,
    TooLarge,
    WebError,
)
from hermes.events import RetryWaiting
from hermes.protocols import Deadlines, Document, Found, HttpRequest, Query
from hermes.tools.web.backends.base import SEARCHES_WITHIN, Backend, Sent, Services, Site
from hermes.tools.web.options import site_of
from hermes.transports.base.told import Failure, Told, read_told

LONGEST_WAIT = 2.0
"""Seconds that a server may ask a search to wait; a longer wait is told at once."""
REDACTED = "[redacted]"
_REFUSED = frozenset({401, 403})
_SPENT = frozenset({402, 429, 432, 433})
_SERVER_ERROR = 500
_TIMED_OUT = 408
_NO_REPLY = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_decode_any = msgspec.json.Decoder(dict[str, Any] | list[Any]).decode
_UNSET = (Deadlines(), SEARCHES_WITHIN)


class HttpBackend:
    """A `WebBackend` over the functions of a `Backend`."""

    def __init__(self, backend: Backend, site: Site, services: Services) -> None:
        self.name = backend.name
        self.schemes = backend.schemes
        self.filters = backend.filters
        self._backend = backend
        self._site = site
        self._services = services
        self._wire = services.wire()
        columns = backend.columns
        self._decode = msgspec.json.Decoder(columns.reply()).decode if columns else _decode_any

    async def search(self, query: Query) -> Found:
        ask, read = self._backend.search_request, self._backend.read_search
        if ask is None or read is None:
            raise WebError(f"{self._backend.title} does not search")
        try:
            reply = await self._exchange(ask(self._site, query), self._decode)
        except WebError as error:
            if self._says_nothing_found(error.__cause__):
                return Found()
            raise
        try:
            return read(reply, query)
        except WebError as error:
            raise self._told(error) from None

    def _says_nothing_found(self, cause: BaseException | None) -> bool:
        is_empty = self._backend.is_empty
        if is_empty is None or not isinstance(cause, HttpStatus):
            return False
        return is_empty(cause.status, _json_or_text(cause.body.decode(errors="replace")))

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        size = self._backend.extract_batch
        batches = [urls[start : start + size] for start in range(0, len(urls), size)]
        read = await asyncio.gather(*map(self._pages, batches))
        return [document for batch in read for document in batch]

    async def _pages(self, urls: Sequence[str]) -> Sequence[Document]:
        """One batch. Its failure is the failure of its pages, and of no others."""
        ask, read = self._backend.extract_request, self._backend.read_extract
        if ask is None or read is None:
            raise WebError(f"{self._backend.title} reads no pages")
        try:
            return read(await self._exchange(ask(self._site, urls), _decode_any), urls)
        except WebError as error:
            down, told = isinstance(error, BackendDown), str(self._told(error))
            return [Document(url=url, error=told, elsewhere=down) for url in urls]

    async def _exchange(self, request: HttpRequest, decode: Callable[[bytes], Any]) -> Any:
        deadlines = self._backend.deadlines
        if request.deadlines is not deadlines and request.deadlines in _UNSET:
            request = msgspec.structs.replace(request, deadlines=deadlines)
        if "@" in request.url:
            request = self._with_login(request)
        sent, began = self._services.sent, time.monotonic()
        outcome = "cancelled"
        try:
            async with self._wire.open(request, _may_wait) as reply:
                body = await reply.read()
            if sent is not None:
                outcome = f"{reply.status}, {len(body)} bytes"
        except NetError as error:
            failure = self._told(self._failure(error))
            outcome = str(failure)
            raise failure from error
        finally:
            if sent is not None:
                sent.append(self._sent(request, time.monotonic() - began, outcome))
        try:
            return decode(body)
        except _NO_REPLY:
            return self._loosely_decoded(body)

    def _with_login(self, request: HttpRequest) -> HttpRequest:
        """The request with the user name and password of its address in a header, where those belong."""
        parts = urlsplit(request.url)
        login, at, place = parts.netloc.rpartition("@")
        if not at:
            return request
        if any(name.lower() == "authorization" for name in request.headers):
            raise ConfigError(
                f"the address of the web backend `{self.name}` holds a user name or a password beside a key",
                hint="only one of them can be sent: take the other out",
            )
        name, _, password = login.partition(":")
        words = f"{unquote(name)}:{unquote(password)}".encode()
        return msgspec.structs.replace(
            request,
            url=parts._replace(netloc=place).geturl(),
            headers={**request.headers, "Authorization": f"Basic {b64encode(words).decode()}"},
        )

    def _loosely_decoded(self, body: bytes) -> Any:
        """A reply that is not as documented: what can be read of it is read."""
        try:
            return _decode_any(body)
        except _NO_REPLY:
            raise BackendDown(
                f"{self._backend.title} answered with something that is not JSON",
                hint=f"check the address that is set for `{self.name}`",
            ) from None

    def _failure(self, error: NetError) -> WebError:
        title = self._backend.title
        if not isinstance(error, HttpStatus):
            kind = WebError if isinstance(error, TooLarge) else BackendDown
            return kind(f"{title} gave no answer: {error}", hint=error.hint)
        said = self._redacted(error.body.decode(errors="replace"))
        if self._backend.read_error is not None:
            own = self._backend.read_error(error.status, _json_or_text(said))
            if own is not None:
                return own
        return self._by_status(error, said)

    def _by_status(self, error: HttpStatus, said: str) -> WebError:
        title, status = self._backend.title, error.status
        failure = Failure(status, _read_told(said), error.retry_after)
        if status in _REFUSED:
            return self._refused(failure)
        if status in _SPENT:
            lead = f"{title} is asked too often, or its plan is used up"
            return BackendSpent(failure.message(lead), retry_after=error.retry_after)
        if status >= _SERVER_ERROR or status == _TIMED_OUT:
            return BackendDown(failure.message(f"{title} is in trouble"))
        return WebError(failure.message(f"{title} rejects the request"), hint=error.hint)

    def _refused(self, failure: Failure) -> WebError:
        variables = " or ".join(
            f"`{name}`" for option in self._backend.options if option.secret for name in option.env
        )
        if not variables:
            return BackendRefused(failure.message(f"{self._backend.title} refuses the request"))
        if self._site.key is None:
            lead = f"{self._backend.title} wants a key"
            return BackendRefused(failure.message(lead), hint=f"set {variables}")
        lead = f"{self._backend.title} refuses the key"
        return BackendRefused(failure.message(lead), hint=f"check {variables}")

    def _told(self, error: WebError) -> WebError:
        """The error without the key, which a vendor's words may repeat."""
        error.args = (self._redacted(str(error)),)
        return error

    def _redacted(self, words: str) -> str:
        secret = self._site.key.reveal() if self._site.key else ""
        return self._services.redact(words.replace(secret, REDACTED) if secret else words)

    def _shown(self, value: str) -> str:
        """The value of a header without what is secret of it."""
        return f"Basic {REDACTED}" if value.startswith("Basic ") else self._redacted(value)

    def _sent(self, request: HttpRequest, seconds: float, outcome: str) -> Sent:
        return Sent(
            backend=self.name,
            method=request.method,
            url=self._redacted(request.url),
            headers={name: self._shown(value) for name, value in request.headers.items()},
            body=self._redacted(request.body.decode(errors="replace")),
            seconds=seconds,
            outcome=outcome,
        )


def connect(backend: Backend, services: Services) -> HttpBackend:
    """The backend with its server; raises `ConfigError` for what it lacks."""
    site = site_of(backend, services)
    refined = backend if backend.refine is None else backend.refine(site)
    return HttpBackend(refined, site, services)


def _may_wait(_error: NetError, waiting: RetryWaiting) -> bool:
    return waiting.seconds <= LONGEST_WAIT


def _json_or_text(body: str) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return body


def _read_told(body: str) -> Told:
    """What an error body says; a page for people says nothing here."""
    return read_told(b"{}" if body.lstrip().startswith("<") else body.encode())
