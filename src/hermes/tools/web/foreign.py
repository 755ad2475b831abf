"""Providers that a plugin brings: an object with a name, `search(query, limit)` and `extract(urls)`.

Both may be async or blocking, and give errors as values or raise them.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from hermes.errors import BackendDown, WebError
from hermes.protocols import Document, Filter, Found, Query
from hermes.threads import in_thread
from hermes.tools.web.backends.base import Backend, Columns, at, first_text, items, text

_ROWS = Columns(others={"url": ("href",), "description": ("snippet", "content")})
WITHIN = 90.0
"""Seconds that a call of a provider may take."""


def adapted(provider: Any) -> Backend:
    """The provider as a web backend; raises `TypeError` for an object that is none."""
    name = text(getattr(provider, "name", None))
    searches, extracts = _able(provider, "search"), _able(provider, "extract")
    if not hasattr(provider, "name") or not (searches or extracts):
        raise TypeError(
            f"{type(provider).__name__} is no web backend: it needs a name and `search` or `extract`"
        )
    if not name:
        raise ValueError("a web backend has a name")
    is_ready = getattr(provider, "is_available", None)
    return Backend(
        name=name.lower(),
        title=text(getattr(provider, "display_name", None)) or name,
        searches=searches,
        extracts=extracts,
        offered_by=(),
        is_ready=(lambda: bool(is_ready())) if callable(is_ready) else None,
        connect=lambda _services: ForeignBackend(name.lower(), provider),
    )


def _able(provider: Any, capability: str) -> bool:
    """Whether it says that it can, or simply has the method."""
    says = getattr(provider, f"supports_{capability}", None)
    if says is not None:
        return bool(says() if callable(says) else says)
    return callable(getattr(provider, capability, None))


class ForeignBackend:
    """A `WebBackend` over such a provider."""

    schemes: tuple[str, ...] = ("http", "https")
    filters: frozenset[Filter] = frozenset()

    def __init__(self, name: str, provider: Any) -> None:
        self.name = name
        self._provider = provider

    async def search(self, query: Query) -> Found:
        reply = await self._call(self._provider.search, query.text, query.limit)
        if isinstance(reply, dict) and (reply.get("success") is False or set(reply) == {"error"}):
            raise WebError(f"`{self.name}`: {text(reply.get('error')) or 'the search failed'}")
        return Found(rows=_ROWS.rows(at(reply, "data", "web") if isinstance(reply, dict) else reply))

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        extract = self._provider.extract
        options = {"format": "markdown"} if _takes_format(extract) else {}
        reply = await self._call(extract, list(urls), **options)
        if isinstance(reply, dict) and "results" not in reply:
            raise WebError(f"`{self.name}`: {text(reply.get('error')) or 'the pages cannot be read'}")
        return [_document(page) for page in items(reply.get("results") if isinstance(reply, dict) else reply)]

    async def _call(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            if inspect.iscoroutinefunction(function):
                return await function(*arguments, **options)
            given = await in_thread(lambda: function(*arguments, **options), WITHIN)
            return await given if inspect.isawaitable(given) else given
        except TimeoutError:
            raise BackendDown(f"`{self.name}` gave no answer within {WITHIN:g} s") from None
        except WebError:
            raise
        except Exception as error:  # another author's code may raise anything
            raise WebError(f"`{self.name}` failed: {type(error).__name__}: {error}") from error


def _takes_format(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return "format" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _document(page: dict[str, Any]) -> Document:
    return Document(
        url=text(page.get("url")),
        title=text(page.get("title")),
        content=first_text(page, "raw_content", "content"),
        error=text(page.get("error")) or None,
        final_url=text(at(page, "metadata", "sourceURL")),
    )
