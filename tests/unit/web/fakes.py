"""Backends that do what a test says."""

import asyncio

from hypothesis import strategies as st

from hermes.protocols import Document, Found, SearchRow

SCHEMES = ("https://", "http://", "https://www.", "HTTPS://", "https:/", "https:", "ftp://", " https://", "")
HOSTS = (
    "a.example", "a.example", "b.example", "A.example", "www.a.example", "www.", "www", "a.example.",
    "a.example:443", "a.example:8080", "a.example:x", "you@a.example", "[::1]", "[", "1.2.3.4", "ä.example",
    "a_b", "",
)  # fmt: skip
PATHS = (
    "", "/", "//", "/x", "/x/", "/x//", "//x", "/x|y", "/x%7Cy", "/é", "/%C3%A9", "/x y", "/x%20y", "/x;y",
    "/[x]", "/\\x", "/x\t", "/X",
)  # fmt: skip
TAILS = (
    "", "", "?", "#", "?q=1", "?q=é", "?utm_source=n", "?b=2&a=1", "?a=1&b=2", "#part", "#/one", "?q=1#/one",
    " ", "\n", "|", "\nhttps://b.example/",
)  # fmt: skip
odd_addresses = st.one_of(
    st.tuples(*map(st.sampled_from, (SCHEMES, HOSTS, PATHS, TAILS))).map("".join),
    st.tuples(st.just("https://a.example/"), st.text(max_size=5)).map("".join),
)
"""Addresses in all the ways that two of them can be one page, or none at all."""


def row(url, title="T", description="D", **more):
    return SearchRow(title=title, url=url, description=description, **more)


class Fake:
    """Answers what it is told, raises what it is told, and remembers what it was asked."""

    schemes = ("http", "https")
    filters = frozenset()

    def __init__(self, name, rows=(), error=None, pages=None, wait=None, **more):
        self.name, self.rows, self.error, self.wait = name, rows, error, wait
        self.pages = pages or {}
        self.asked = []
        self.was_cancelled = False
        for key, value in more.items():
            setattr(self, key, value)

    async def search(self, query):
        self.asked.append(query)
        await self._pause()
        if self.error:
            raise self.error
        return Found(rows=tuple(self.rows), answer=getattr(self, "answer", ""))

    async def extract(self, urls):
        self.asked.append(tuple(urls))
        await self._pause()
        if self.error:
            raise self.error
        given = [self.pages.get(url, "missing") for url in urls]
        return [
            each if isinstance(each, Document) else Document(url=url, content=each)
            for url, each in zip(urls, given, strict=True)
        ]

    async def _pause(self):
        try:
            if self.wait is not None:
                await self.wait.wait() if isinstance(self.wait, asyncio.Event) else await asyncio.sleep(
                    self.wait
                )
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


class Notes:
    """A notebook in memory."""

    def __init__(self):
        self.kept = {}

    def read(self, topic, key):
        return self.kept.get((topic, key), (None,))[0]

    def write(self, topic, key, value, seconds=None):
        self.kept[topic, key] = (value, seconds)

    def entries(self, topic):
        return {}

    def forget(self, topic, key):
        self.kept.pop((topic, key), None)
