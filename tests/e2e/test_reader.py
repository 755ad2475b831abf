"""Web pages without a key: the real command, a real server, and the guard between them."""

from simulators.scripted import Exchange, ScriptedServer, http_reply

PAGE = b"""<!doctype html><title>Pears</title><main><h1>Pears</h1>
<p>The pear tree was planted by <a href="/tom">Tom Vale</a>.</p></main>"""
HERE = {"HERMES_SECURITY_ALLOW_NETWORKS": "127.0.0.0/8"}


async def site(exchange: Exchange) -> None:
    replies = {
        "/page": http_reply(200, PAGE, content_type="text/html"),
        "/moved": http_reply(302, location="/page"),
        "/away": http_reply(302, location="http://169.254.169.254/latest/meta-data/"),
        "/data": http_reply(200, b'{"pears": 3}', content_type="application/json"),
        "/picture": http_reply(200, b"\x89PNG\r\n\x1a\n" + bytes(50), content_type="image/png"),
    }
    await exchange.send(replies.get(exchange.request.path, http_reply(404)))
    exchange.close()


async def test_pages_are_read_and_each_failure_is_its_own(hermes):
    async with ScriptedServer(site) as server:
        paths = ("/page", "/moved", "/away", "/data", "/picture")
        outcome = await hermes("extract", *(server.url + path for path in paths), "--json", **HERE)
    page, moved, away, data, picture = outcome.json()["results"]
    assert page["title"] == moved["title"] == "Pears"
    assert (moved["final_url"], "final_url" in page) == (f"{server.url}/page", False)
    assert f"planted by [Tom Vale]({server.url}/tom)" in page["content"]
    assert "clouds keep the keys" in away["error"]
    assert '"pears": 3' in data["content"]
    assert picture["error"] == "the page is a PNG picture, not text"


async def test_the_reading_of_a_page_is_explained(hermes):
    async with ScriptedServer(site) as server:
        told = await hermes("extract", "--explain", f"{server.url}/moved", "--json", **HERE)
        refused = await hermes("extract", "--explain", f"{server.url}/page")
    assert f"[Tom Vale]({server.url}/tom)" in told.json()["page"]["markdown"]
    assert (refused.code, "this machine itself" in refused.err) == (1, True)


async def test_files_are_read_as_pages_are(hermes, tmp_path):
    file = tmp_path / "pears.html"
    file.write_bytes(PAGE)
    (tmp_path / "picture.html").write_bytes(b"\x89PNG" + bytes(50))
    places = (str(file), "/no/such.html", "hermes://docs/index.md", str(tmp_path / "picture.html"))
    outcome = await hermes("extract", *places, "--json")
    page, missing, manual, picture = outcome.json()["results"]
    assert (page["title"], page["error"]) == ("Pears", None)
    assert "planted by" in page["content"]
    assert missing["error"] == "this is not an address, and no file that is there"
    assert manual["content"].startswith("# The manual")
    assert picture["error"] == "the file is binary data, not text"
    alone = await hermes("extract", str(file))
    assert (alone.code, alone.out.startswith("# Pears")) == (0, True)


async def test_local_documents_and_pages_are_read_side_by_side(hermes):
    async with ScriptedServer(site) as server:
        urls = ("hermes://docs/concepts/scout.md", f"{server.url}/page")
        manual, page = (await hermes("extract", *urls, "--json", **HERE)).json()["results"]
    assert "scout" in manual["content"]
    assert "Tom Vale" in page["content"]


async def test_a_page_on_this_machine_is_refused_unless_it_is_opened(hermes):
    async with ScriptedServer(site) as server:
        outcome = await hermes("extract", f"{server.url}/page", "--json")
    [page] = outcome.json()["results"]
    assert "this machine itself" in page["error"]
    assert "security.allow_networks" in page["error"]
    assert server.connections == 0


async def test_who_chose_another_backend_is_not_served_by_this_one(hermes):
    async with ScriptedServer(site) as server:
        url = f"{server.url}/page"
        outcome = await hermes("extract", url, "--json", HERMES_WEB_EXTRACT_BACKEND="local", **HERE)
    assert "the backend `local` reads only" in outcome.json()["results"][0]["error"]
    assert server.connections == 0


async def test_a_network_that_is_none_is_an_error_of_the_settings(hermes):
    outcome = await hermes("extract", "https://example.com/", HERMES_SECURITY_ALLOW_NETWORKS="10.0.0.0/99")
    assert outcome.code == 2
    assert "`10.0.0.0/99` is no network" in outcome.err
    assert "10.0.0.0/8" in outcome.err


async def test_robots_are_heeded_when_that_is_set(hermes):
    async def strict(exchange: Exchange) -> None:
        await exchange.send(http_reply(200, b"User-agent: *\nDisallow: /", content_type="text/plain"))
        exchange.close()

    async with ScriptedServer(strict) as server:
        outcome = await hermes("extract", f"{server.url}/x", "--json", HERMES_WEB_ROBOTS="true", **HERE)
    assert "does not want robots" in outcome.json()["results"][0]["error"]
