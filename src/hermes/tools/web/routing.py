"""Several backends as one: each address is read by the first that knows its scheme."""

import asyncio
from collections.abc import Sequence

import msgspec

from hermes.protocols import Document, SearchRow, WebBackend


class ByScheme:
    """A `WebBackend` named like the first, which also searches; the others read what it cannot."""

    def __init__(self, first: WebBackend, *others: WebBackend) -> None:
        self._first = first
        self._all = (first, *others)
        self.name = first.name
        self.schemes = tuple(dict.fromkeys(scheme for backend in self._all for scheme in backend.schemes))

    async def search(self, query: str, limit: int) -> Sequence[SearchRow]:
        return await self._first.search(query, limit)

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        shares: dict[str, list[str]] = {backend.name: [] for backend in self._all}
        for url in urls:
            shares[self._for(url).name].append(url)
        answers = await asyncio.gather(
            *(_read(backend, shares[backend.name]) for backend in self._all if shares[backend.name])
        )
        return [document for answer in answers for document in answer]

    def _for(self, url: str) -> WebBackend:
        scheme = url.partition(":")[0].lower()
        return next((backend for backend in self._all if scheme in backend.schemes), self._first)


async def _read(backend: WebBackend, urls: Sequence[str]) -> list[Document]:
    """What a backend reads, with its name on it."""
    return [
        msgspec.structs.replace(document, served_by=document.served_by or backend.name)
        for document in await backend.extract(urls)
    ]
