"""`hermes serve`: what it refuses before it listens, and what it says."""

import asyncio
import json
import socket

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from hermes import discover
from hermes.cli._shell import run
from hermes.config import load
from hermes.errors import NotConfigured, UnknownName
from hermes.server import create_app
from hermes.server.services import Services
from hermes.server.tokens import Tokens


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_the_extra_it_says_how_to_install_it(home, monkeypatch, capsys):
    monkeypatch.setattr(discover, "is_installed", lambda name: name != "starlette")
    assert run(["serve"]) == 2
    assert 'pip install "hermes[server]"' in capsys.readouterr().err
    assert not (home / "server-token").exists()
    with pytest.raises(NotConfigured, match="not installed"):
        create_app(load({"HERMES_HOME": str(home)}))


def test_other_machines_are_let_in_only_under_a_name(home, capsys):
    assert run(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "--allow-host NAME" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(home, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert run(["serve", "--port", port]) == 2
        assert run(["serve", "--port", port, "--host", "0.0.0.0", "--allow-host", "here.example"]) == 2
    said = capsys.readouterr().err
    assert f"port {port}" in said
    assert "nothing is encrypted" in said


async def test_a_program_can_mount_the_application(home):
    served = create_app(load({"HERMES_HOME": str(home)}), token_file=str(home / "tokens"))
    mounting = Starlette(routes=[Mount("/hermes", served)], lifespan=served.lifespan)
    token = (home / "tokens").read_text().strip()
    async with mounting.router.lifespan_context(mounting):
        assert await _status(mounting, "/hermes/healthz") == 200
        assert await _status(mounting, "/hermes/v1/models") == 401
        assert await _status(mounting, "/hermes/v1/models", token) == 200
        assert await _status(mounting, "/hermes/v1/nothing", token) == 404
        described = await _body(mounting, "/hermes/openapi.json", token)
        assert json.loads(described)["servers"] == [{"url": "/hermes"}]
        asked = b'{"model": "hermes", "messages": [{"role": "user", "content": "What is scout?"}]}'
        path = "/hermes/v1/chat/completions"
        assert await _status(mounting, path, token, asked) == 200
    assert await _status(mounting, path, token, asked) == 503


async def _status(app, path, token="", body=b""):
    return (await _said(app, path, token, body))[0]["status"]


async def _body(app, path, token):
    return b"".join(message.get("body", b"") for message in await _said(app, path, token))


async def _said(app, path, token, body=b""):
    said = []
    asked = iter([{"type": "http.request", "body": body}])

    async def receive():
        return next(asked, None) or await asyncio.Event().wait()

    async def send(message):
        said.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
    method = "POST" if body else "GET"
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    await app(scope, receive, send)
    return said


def test_settings_that_allow_no_answer_are_said_before_anybody_asks(home):
    config = load({"HERMES_HOME": str(home), "HERMES_SERVER_TOOLS": "nonsense"})
    with pytest.raises(UnknownName, match="nonsense"):
        Services(config, Tokens([])).prepare()
