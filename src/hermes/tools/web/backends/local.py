"""The local documents: Hermes' own manual, and what `hermes index add` has read."""

from collections.abc import Callable, Sequence

from hermes.protocols import Document, DocumentIndex, Filter, Found, Query, SearchRow
from hermes.tools.web.backends.base import Backend


class LocalDocuments:
    """Serves what the index holds. It opens no file, so a page cannot make it read one."""

    name: str = "local"
    schemes: tuple[str, ...] = ("file", "hermes")
    filters: frozenset[Filter] = frozenset()

    def __init__(self, index: Callable[[], DocumentIndex]) -> None:
        self._index = index

    async def search(self, query: Query) -> Found:
        found = self._index().search(query.text, query.limit)
        return Found(
            rows=tuple(SearchRow(title=each.title, url=each.url, description=each.passage) for each in found)
        )

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
    rank=100,
    offered_by=(),
    schemes=LocalDocuments.schemes,
    connect=lambda services: LocalDocuments(services.index),
)
