"""The pages of the bench: always the same, like those that people read, and served as they are."""

import urllib.request

from bench import pages, reading

from hermes.tools.web.reader.html import read_html


def test_a_page_is_always_the_same_and_unlike_the_next():
    first = pages.page(1)
    pages.page.cache_clear()
    assert pages.page(1) == first != pages.page(2)
    assert 40_000 < len(first) < 90_000
    read = read_html(first)
    assert read.title
    assert len(read.markdown) > 20_000


def test_the_server_gives_pages_away():
    with pages.running() as server, urllib.request.urlopen(f"{server}/7") as reply:
        assert reply.read() == pages.page(7)


async def test_both_sides_read_every_page():
    assert reading._read_some(range(0, 6, 2)) == 3
    with pages.running() as server:
        reader = await reading._connected(server)
        assert await reader.read() > 0
        await reader.close()
