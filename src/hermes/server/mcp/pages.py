"""The pages that were read lately, as resources: by their own addresses, and never fetched anew."""

from hermes.app import Runtime
from hermes.protocols import Page
from hermes.tools.web.cache import Stored

AT_ONCE = 50
"""How many pages are listed in one answer."""


class Pages:
    """The stored pages of one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._services = runtime.services

    def listed(self, start: int) -> tuple[list[Stored], bool]:
        """So many pages from a position on, the latest first; and whether there are more."""
        kept = self._services.web_parts.kept_pages
        return kept.latest(start, AT_ONCE) if kept is not None else ([], False)

    async def read(self, url: str) -> Page | None:
        """A stored page as Markdown; None when it is not stored. Raises `DocumentError`."""
        kept = self._services.web_parts.kept_pages
        stored = kept.get(url) if kept is not None else None
        return await self._services.reader().read(stored.page) if stored is not None else None
