"""The local documents: Hermes' own manual, and what `hermes index add` has read."""

from collections.abc import Callable, Sequence

from hermes.protocols import Document, DocumentIndex, SearchRow
from hermes.tools.web.backends.base import Backend


class LocalDocuments:
    """Serves what the index holds. It opens no file, so a page cannot make it read one."""

    name: str = "local"
    schemes: tuple[str, ...] = ("file", "hermes")

    def __init__(self, index: Callable[[], DocumentIndex]) -> None:
        self._index = index

    async def search(self, query: str, limit: int) -> Sequence[SearchRow]:
        return [
            SearchRow(title=found.title, url=found.url, description=found.passage)
            for found in self._index().search(query, limit)
        ]

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        return [self._read(url) for url in urls]

    def _read(self, url: str) -> Document:
        found = self._index().get(url)
        if found is None:
            return Document(url=url, error="this document is not in the local index")
        return Document(url=url, title=found.title, content=found.text)


BACKEND = Backend(
    name="local",
    title="Local documents",
    connect=lambda services: LocalDocuments(services.index),
    available=lambda _services: True,
    rank=100,
)
