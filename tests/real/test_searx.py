"""The SearXNG backend against Debian's searx, whose only engine is a server on loopback."""

import asyncio
import http.server
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from hermes.app.services import Services
from hermes.config import load
from hermes.errors import BackendDown

PROGRAM = shutil.which("searx-run")
STARTS_WITHIN = 30.0
SHARE = "/usr/share/python3-searx"

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="searx is not installed: `apt-get install searx`")


class Engine(http.server.BaseHTTPRequestHandler):
    """Twelve rows for any words; none for `nothing`, and a failure for `broken`."""

    def do_GET(self):
        rows = [{"u": f"https://a.example/{n}", "t": f"Row {n}", "c": self.path} for n in range(12)]
        body = json.dumps({"rows": [] if "nothing" in self.path else rows}).encode()
        self.send_response(500 if "broken" in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words):
        pass


def settings(port, engine):
    """All that searx cannot start without; JSON is YAML too."""
    return {
        "general": {"debug": False, "instance_name": "test", "contact_url": False, "enable_stats": False},
        "brand": {},
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "",
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "for-tests-only",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.0",
            "method": "GET",
            "default_http_headers": {},
        },
        "ui": {
            "static_path": f"{SHARE}/static",
            "templates_path": f"{SHARE}/templates",
            "default_theme": "oscar",
            "default_locale": "",
            "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {
            "request_timeout": 5.0,
            "useragent_suffix": "",
            "pool_connections": 4,
            "pool_maxsize": 4,
        },
        "checker": {"off_when_debug": True},
        "locales": {"en": "English"},
        "doi_resolvers": {"none": "https://doi.example/"},
        "default_doi_resolver": "none",
        "engines": [
            {
                "name": "loopback",
                "engine": "json_engine",
                "shortcut": "lo",
                "categories": "general",
                "search_url": f"http://127.0.0.1:{engine}/?q={{query}}",
                "results_query": "rows",
                "url_query": "u",
                "title_query": "t",
                "content_query": "c",
                "enable_http": True,
                "time_range_support": True,
            }
        ],
    }


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def wait_for(url, process):
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("searx does not start")


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searx")
    engine = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=engine.serve_forever)
    thread.start()
    port = free_port()
    (folder / "settings.yml").write_text(json.dumps(settings(port, engine.server_port)))
    process = subprocess.Popen(
        [PROGRAM],
        env={**os.environ, "SEARX_SETTINGS_PATH": str(folder / "settings.yml")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
        engine.shutdown()
        thread.join()
        engine.server_close()


@pytest.fixture
def search(instance, tmp_path):
    def ask(words, limit=5, **filters):
        environ = {
            "HERMES_HOME": str(tmp_path),
            "HERMES_WEB_BACKEND": "searxng",
            "SEARXNG_URL": f"{instance}/",
        }

        async def asked():
            services = Services(load(environ))
            try:
                return await services.web.search(words, limit, filters)
            finally:
                await services.close()

        return asyncio.run(asked())

    return ask


def test_a_real_searx_finds_rows_in_the_order_of_their_scores(search):
    outcome = search("who sings? ü&b", 3)
    assert [(row.title, row.url) for row in outcome.rows] == [
        ("Row 0", "https://a.example/0"),
        ("Row 1", "https://a.example/1"),
        ("Row 2", "https://a.example/2"),
    ]
    assert "q=who+sings%3F+%C3%BC%26b" in outcome.rows[0].description
    assert (outcome.notes, outcome.dropped) == ((), ())


def test_filters_are_understood_by_a_real_searx(search):
    outcome = search("songs", include_domains=["a.example"], language="en", freshness="week")
    assert "site%3Aa.example" in outcome.rows[0].description


def test_nothing_found_is_no_failure_of_a_real_searx(search):
    assert search("nothing").rows == ()


def test_an_engine_that_fails_is_told(search):
    with pytest.raises(BackendDown, match=r"loopback \(HTTP error\)"):
        search("broken")
