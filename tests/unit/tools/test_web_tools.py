"""The web tools: their shapes are exact, and their words are a stranger's."""

import json

from hermes.errors import WebError
from hermes.protocols import SearchRow
from hermes.tools.toolbox import Toolbox, select
from hermes.tools.web.kernel import ExtractOutcome, ReadPage, SearchOutcome


class Web:
    def __init__(self, outcome):
        self.outcome, self.asked = outcome, []

    async def search(self, query, limit, filters):
        self.asked.append((query, limit, {name: value for name, value in filters.items() if value}))
        return self._answer()

    async def extract(self, items, char_limit, *, in_all):
        self.asked.append((items, char_limit, in_all))
        return self._answer()

    def _answer(self):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Services:
    def __init__(self, outcome):
        self.web = Web(outcome)


async def call(name, outcome, **arguments):
    services = Services(outcome)
    return await Toolbox(select([name]), services).call(name, arguments), services.web


async def test_web_search_prints_the_exact_shape():
    outcome = SearchOutcome(rows=(SearchRow("Köln", "https://k/", "d"),), served_by="x")
    result, web = await call("web_search", outcome, query="q", limit="7")
    assert web.asked == [("q", 7, {})]
    assert json.loads(result.text) == {
        "success": True,
        "data": {"web": [{"title": "Köln", "url": "https://k/", "description": "d", "position": 1}]},
    }
    assert "Köln" in result.text
    assert (result.served_by, result.sources[0].url, result.is_error) == ("x", "https://k/", False)


async def test_a_failed_search_is_an_error_in_its_shape():
    result, _ = await call("web_search", WebError("down"), query="q")
    assert json.loads(result.text) == {"success": False, "error": "down"}
    assert result.is_error


async def test_web_extract_prints_the_exact_shape():
    pages = (ReadPage("https://a/", "A", "text", None), ReadPage("https://b/", "", "", "gone"))
    result, web = await call("web_extract", ExtractOutcome(pages, "x"), urls="https://a/", char_limit="9000")
    assert web.asked == [(["https://a/"], 9000, 90_000)]
    assert json.loads(result.text) == {
        "results": [
            {"url": "https://a/", "title": "A", "content": "text", "error": None},
            {"url": "https://b/", "title": "", "content": "", "error": "gone"},
        ]
    }
    assert [source.url for source in result.sources] == ["https://a/"]
    assert not result.is_error


async def test_a_failed_extract_is_an_error_in_its_shape():
    result, _ = await call("web_extract", WebError("down"), urls=[])
    assert json.loads(result.text) == {"error": "Error extracting content: down"}
    assert result.is_error


async def test_what_comes_from_the_web_is_not_trusted():
    found, _ = await call("web_search", SearchOutcome(rows=(), served_by="x"), query="q")
    read, _ = await call("web_extract", ExtractOutcome((), "x"), urls=["https://a/"])
    assert (found.trusted, read.trusted) == (False, False)


async def test_the_kernel_makes_its_own_sense_of_odd_values():
    _, web = await call("web_search", SearchOutcome(rows=(), served_by="x"), query="q", limit="abc")
    assert web.asked == [("q", "abc", {})]
    rows = [{"url": "https://a/"}]
    _, web = await call("web_extract", ExtractOutcome((), "x"), urls=rows, char_limit="many")
    assert web.asked == [(rows, "many", 90_000)]
