"""The built-in reader: fetches pages itself and makes them readable here. It needs no key and no service."""

import asyncio
from collections.abc import Callable, Sequence

from hermes.errors import DocumentError, HermesError, NetError, WebError
from hermes.protocols import Document, DocumentReader, Filter, Found, PageFetcher, Query
from hermes.tools.web.backends.base import Backend


class PageReader:
    """Reads public pages: HTML, PDF, text, JSON and feeds."""

    name: str = "reader"
    schemes: tuple[str, ...] = ("http", "https")
    filters: frozenset[Filter] = frozenset()

    def __init__(self, fetcher: Callable[[], PageFetcher], reader: Callable[[], DocumentReader]) -> None:
        self._fetcher = fetcher
        self._reader = reader

    async def search(self, query: Query) -> Found:
        raise WebError("the web backend `reader` reads pages and does not search")

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        self._reader().prepare(len(urls))
        return await asyncio.gather(*map(self._read, urls))

    async def _read(self, url: str) -> Document:
        try:
            fetched = await self._fetcher().fetch(url)
            page = await self._reader().read(fetched)
        except NetError as error:
            return Document(url=url, error=_said(str(error), error))
        except DocumentError as error:
            return Document(url=url, error=_said(f"the page {error}", error))
        return Document(
            url=url, title=page.title, content=page.with_notes(fetched.notes), final_url=fetched.url
        )


def _said(message: str, error: HermesError) -> str:
    return f"{message}; {error.hint}" if error.hint else message


BACKEND = Backend(
    name="reader",
    title="Built-in reader",
    rank=90,
    offered_by=(),
    searches=False,
    schemes=PageReader.schemes,
    connect=lambda services: PageReader(services.fetcher, services.reader),
)
