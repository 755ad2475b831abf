"""Providers that a plugin brings: blocking or async, with errors as values or raised."""

import asyncio
import time

import pytest

from hermes.errors import BackendDown, WebError
from hermes.protocols import Query
from hermes.threads import in_thread
from hermes.tools.web import foreign
from hermes.tools.web.select import Backends

ROWS = {
    "success": True,
    "data": {"web": [{"title": "T", "url": "https://a/", "description": "d", "position": 1}]},
}


class Provider:
    name = "Mine"
    display_name = "My search"

    def __init__(self, reply=ROWS, error=None):
        self.reply, self.error, self.asked = reply, error, []

    def is_available(self):
        return True

    def search(self, query, limit):
        self.asked.append((query, limit))
        if self.error:
            raise self.error
        return self.reply

    def extract(self, urls, format="html"):
        self.asked.append((urls, format))
        return [
            {"url": url, "content": "short", "raw_content": "whole", "metadata": {"sourceURL": url}}
            for url in urls
        ]


class Async(Provider):
    async def search(self, query, limit):
        return super().search(query, limit)

    async def extract(self, urls):
        return {"results": [{"url": url, "error": "gone"} for url in urls]}


def connected(provider):
    backends = Backends()
    backends.register(provider)
    return backends.load("mine").connect(None)


@pytest.mark.parametrize("kind", [Provider, Async])
async def test_it_searches(kind):
    provider = kind()
    found = await connected(provider).search(Query(text="q", limit=3))
    assert [(row.title, row.url, row.description) for row in found.rows] == [("T", "https://a/", "d")]
    assert provider.asked == [("q", 3)]


async def test_it_reads_pages():
    provider = Provider()
    [page] = await connected(provider).extract(["https://a/"])
    assert (page.content, page.final_url, page.error) == ("whole", "https://a/", None)
    assert provider.asked == [(["https://a/"], "markdown")]
    [page] = await connected(Async()).extract(["https://a/"])
    assert page.error == "gone"


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (Provider({"success": False, "error": "no credit"}), "no credit"),
        (Provider({"error": "broken"}), "broken"),
        (Provider(error=RuntimeError("boom")), "RuntimeError: boom"),
        (Async(error=KeyError("x")), "KeyError"),
    ],
)
async def test_its_failure_is_a_web_error(provider, words):
    with pytest.raises(WebError, match=words):
        await connected(provider).search(Query(text="q"))


async def test_one_that_hangs_is_left_behind(monkeypatch):
    monkeypatch.setattr(foreign, "WITHIN", 0.05)
    slow = Provider()
    slow.search = lambda query, limit: time.sleep(0.2)
    began = asyncio.get_running_loop().time()
    with pytest.raises(BackendDown, match=r"within 0\.05 s"):
        await connected(slow).search(Query(text="q"))
    assert asyncio.get_running_loop().time() - began < 0.19


def test_what_it_says_of_itself_is_believed():
    class Quiet(Provider):
        def supports_extract(self):
            return False

        def is_available(self):
            return False

    backends = Backends()
    backends.register(Quiet())
    backend = backends.load("MINE")
    assert (backend.title, backend.searches, backend.extracts, backend.is_ready()) == (
        "My search",
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("value", "kind"), [(object(), TypeError), (type("N", (), {"name": "x"})(), TypeError)]
)
def test_what_is_no_provider_is_refused(value, kind):
    with pytest.raises(kind):
        Backends().register(value)


def test_a_provider_has_a_name():
    nameless = Provider()
    nameless.name = "  "
    with pytest.raises(ValueError, match="name"):
        Backends().register(nameless)


async def test_a_thread_gives_what_it_made_or_what_it_raised():
    assert await in_thread(lambda: 42, 1) == 42
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0, 1)


async def test_whoever_waits_for_a_thread_can_be_cancelled():
    task = asyncio.ensure_future(in_thread(lambda: time.sleep(0.2), 5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
