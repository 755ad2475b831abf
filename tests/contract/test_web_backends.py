"""Every file under `tools/web/backends/`: declares what it can, and keeps the port's promises."""

import pytest

from hermes.index import Index
from hermes.net.client import Client
from hermes.net.fetch import Fetcher
from hermes.net.guard import Guard
from hermes.tools.web.budget import PageArchive
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.reading.pool import ReadingPool
from hermes.tools.web.select import choose, load, names
from simulators.sentinel import Names


class Services:
    """Nothing is set, the local index is empty, and no host has an address."""

    def __init__(self):
        self._index = Index.open(None)
        self._fetcher = Fetcher(Client(guard=Guard(), resolver=Names({}), environ={}))
        self._reader = ReadingPool(1)

    def fetcher(self):
        return self._fetcher

    def reader(self):
        return self._reader

    async def close(self):
        await self._fetcher.close()
        await self._reader.close()
        self._index.close()

    def index(self):
        return self._index

    def setting(self, name):
        return None


@pytest.fixture
async def services():
    made = Services()
    yield made
    await made.close()


@pytest.mark.parametrize("name", names())
def test_it_declares_itself(name, services):
    backend = load(name)
    assert backend.name == name
    assert backend.title
    assert backend.searches or backend.extracts
    assert isinstance(backend.available(services), bool)


@pytest.mark.parametrize("name", names())
async def test_nothing_found_is_a_success_and_a_page_it_lacks_is_one_error(name, services):
    backend = load(name)
    if not backend.available(services):
        pytest.skip(f"`{name}` needs settings that this suite does not give")
    port = backend.connect(services)
    assert port.name == name
    web = WebKernel(port, port, archive=PageArchive(None))
    if backend.searches:
        assert (await web.search("zzqqxx nowhere to be found")).rows == ()
    if backend.extracts:
        missing = f"{port.schemes[0]}://host.invalid/none"
        [page] = (await web.extract([missing])).pages
        assert page.url == missing
        assert page.error
        assert page.content == ""


def test_with_nothing_chosen_somebody_serves_and_the_local_documents_come_last(services):
    assert choose("search", services).name in names()
    assert load("local").rank == max(load(name).rank for name in names())
