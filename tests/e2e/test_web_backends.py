"""`hermes search` and `hermes extract` with vendors on loopback, as a user calls them."""

import json
from pathlib import Path

from simulators.scripted import ScriptedServer, http_reply
from simulators.web import brave_free, firecrawl
from simulators.web.base import KEY, answers, reads

PACKAGES = Path(__file__).parents[1] / "simulators" / "packages"


async def test_the_package_ddgs_searches_without_a_key(hermes):
    rows = [{"title": "T", "href": "https://a.example/", "body": "B"}]
    async with ScriptedServer(http_reply(200, json.dumps(rows).encode())) as server:
        outcome = await hermes(
            "search", "who sings?", "--json", PYTHONPATH=str(PACKAGES), FAKE_DDGS_URL=server.url
        )
    assert outcome.code == 0
    [row] = outcome.json()["data"]["web"]
    assert (row["title"], row["url"], row["description"]) == ("T", "https://a.example/", "B")


async def test_with_the_package_and_no_network_the_manual_still_answers(hermes):
    nowhere = {"PYTHONPATH": str(PACKAGES), "FAKE_DDGS_URL": "http://127.0.0.1:1"}
    outcome = await hermes("chat", "-q", "How do I add a web search backend?", "--json", **nowhere)
    assert outcome.code == 0
    assert "guides/add-a-web-backend" in outcome.json()["citations"][0]["url"]


async def test_an_alias_names_a_backend_and_its_key_is_in_no_output(hermes):
    async with brave_free.VENDOR(answers([("T", "https://a.example/", "D")])) as vendor:
        outcome = await hermes("search", "who sings?", "--backend", "brave", **vendor.environ())
    assert (outcome.code, vendor.refusals) == (0, [])
    assert "https://a.example/" in outcome.out
    assert KEY not in outcome.out + outcome.err


async def test_a_page_is_read_by_a_server_of_ones_own(hermes):
    page = "https://a.example/page"
    async with firecrawl.VENDOR(reads({page: "Text of the page."})) as vendor:
        outcome = await hermes("extract", page, "--json", FIRECRAWL_API_URL=vendor.url)
    assert (outcome.code, vendor.refusals) == (0, [])
    assert outcome.json()["results"][0]["content"] == "Text of the page."
    assert "authorization" not in vendor.asked[0].headers
