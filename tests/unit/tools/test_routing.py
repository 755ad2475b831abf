"""Several backends as one: each reads the addresses it knows, and its name is on what it read."""

import pytest

from hermes.protocols import Document, SearchRow
from hermes.tools.web.budget import PageArchive
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.routing import ByScheme


class Reads:
    def __init__(self, name, *schemes):
        self.name, self.schemes = name, schemes
        self.asked = []

    async def search(self, query, limit):
        return [SearchRow(self.name, f"{self.schemes[0]}://x", query)]

    async def extract(self, urls):
        self.asked.append(list(urls))
        return [Document(url=url, content=f"{self.name} read it") for url in urls]


@pytest.fixture
def backends():
    return Reads("web", "http", "https"), Reads("local", "file", "hermes", "http")


async def test_each_address_goes_to_the_first_that_knows_its_scheme(backends):
    web, local = backends
    both = ByScheme(*backends)
    assert (both.name, both.schemes) == ("web", ("http", "https", "file", "hermes"))
    documents = await both.extract(["file:///a", "HTTP://b/", "hermes://c", "https://d/", "odd:e"])
    assert web.asked == [["HTTP://b/", "https://d/", "odd:e"]]
    assert local.asked == [["file:///a", "hermes://c"]]
    assert {document.url: document.served_by for document in documents} == {
        "HTTP://b/": "web",
        "https://d/": "web",
        "odd:e": "web",
        "file:///a": "local",
        "hermes://c": "local",
    }


async def test_who_has_nothing_to_read_is_not_asked(backends):
    web, local = backends
    await ByScheme(*backends).extract(["file:///a"])
    assert (web.asked, local.asked) == ([], [["file:///a"]])


async def test_the_first_searches(backends):
    assert [row.title for row in await ByScheme(*backends).search("q", 5)] == ["web"]


@pytest.mark.parametrize(
    ("urls", "served_by"),
    [(["file:///a"], "local"), (["http://a/"], "web"), (["file:///a", "http://a/"], "local, web")],
)
async def test_an_outcome_says_who_read(urls, served_by, backends):
    both = ByScheme(*backends)
    outcome = await WebKernel(both, both, archive=PageArchive(None)).extract(urls)
    assert outcome.served_by == served_by
