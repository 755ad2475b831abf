"""MCP in both directions with real processes: the official client, and programs that the settings name."""

import asyncio
import json
import os
import re
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from hermes import discover
from hermes.cli._shell import run
from hermes.tools.mcp.pins import Pins
from hermes.tools.mcp.reading import read
from simulators import mcp_program
from simulators.chat_completions import ChatSimulator, calls, says


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


ECHO = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object", "properties": {}}}


@pytest.fixture
def program(hermes, tmp_path):
    """The settings name a program `p`; gives the folder where it is told what to do."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "tools.json").write_text(json.dumps([ECHO, {**ECHO, "name": "hang"}]))
    names(hermes, p={"command": sys.executable, "args": [mcp_program.__file__, str(folder)]})
    return folder


def names(hermes, **servers):
    hermes.home.mkdir(exist_ok=True)
    (hermes.home / "config.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))


def agree(hermes, folder):
    """What `hermes mcp trust p --yes` leaves behind."""
    who = shlex.join([sys.executable, mcp_program.__file__, str(folder)])
    pins = Pins(str(hermes.home / "mcp"), time.time)
    pins.put("p", pins.made(who, read(json.loads((folder / "tools.json").read_text()))))


def starts(folder):
    path = folder / "started"
    return [json.loads(line)["pid"] for line in path.read_text().splitlines()] if path.exists() else []


async def gone(pid):
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        await asyncio.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


async def test_one_hermes_asks_another_and_both_speak_mcp_on_their_pipes(hermes, tmp_path):
    far_home = {"HERMES_HOME": str(tmp_path / "far"), "HERMES_MODEL_LOCAL_SERVERS": "false"}
    names(hermes, far={"command": sys.executable, "args": ["-m", "hermes", "mcp"], "env": far_home})
    agreed = await hermes("mcp", "trust", "far", "--yes")
    assert agreed.code == 0, agreed.err
    assert "- web_search (reads): Search the web." in agreed.out
    script = (calls(("far_web_search", {"query": "what is scout?"})), says("It asked another."))
    async with ChatSimulator(*script) as model:
        environ = hermes.environment(
            CUSTOM_BASE_URL=model.base_url,
            HERMES_MODEL_PROVIDER="custom",
            HERMES_MODEL_DEFAULT="m",
            HERMES_SERVER_TOOLS="mcp-far",
        )
        near = StdioServerParameters(command=sys.executable, args=["-m", "hermes", "mcp"], env=environ)
        told = []

        async def hear(progress, total, message):
            told.append(message)

        async with Client(near) as mcp:
            assert {tool.name for tool in (await mcp.list_tools()).tools} == {
                "web_search",
                "web_extract",
                "ask",
            }
            found = await mcp.call_tool("web_search", {"query": "what is scout?"})
            answer = await mcp.call_tool("ask", {"question": "what is scout?"}, progress_callback=hear)
            assert (await mcp.list_resources()).resources == []
    assert found.structured_content["data"]["web"][0]["url"].startswith("hermes://docs/")
    assert answer.structured_content["answer"] == "It asked another."
    assert any(line.startswith("far_web_search {") for line in told)
    assert "hermes://docs/" in model.bodies[1]["messages"][-1]["content"]


async def test_standard_output_carries_the_protocol_alone_and_its_end_ends_the_program(hermes):
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    said = (
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in said)
    process = await hermes.start("mcp")
    process.stdin.write(f"this is no message\n\n{lines}".encode())
    heard = [json.loads(await asyncio.wait_for(process.stdout.readline(), 30)) for _ in range(2)]
    assert [message["id"] for message in heard] == [1, 2]
    process.stdin.close()
    rest, err = await asyncio.wait_for(process.communicate(), 30)
    assert rest == b""
    assert b"Traceback" not in err
    assert process.returncode == 0


async def test_over_http_a_token_is_needed_and_sigterm_ends_it(hermes):
    process = await hermes.start("mcp", "--http", "--port", "0")
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 30)).decode()
        url = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)[0]
        token = (hermes.home / "server-token").read_text().strip()
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as web:
            assert (await web.post(url, json={})).status_code == 401
            web.headers["authorization"] = f"Bearer {token}"
            async with Client(streamable_http_client(url, http_client=web)) as mcp:
                found = await mcp.call_tool("web_search", {"query": "what is scout?"})
        assert found.structured_content["success"]
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0
    assert b"Traceback" not in err


@pytest.fixture
def command(hermes, program, monkeypatch, capsys):
    """Runs a command in this process; gives its exit code, what it printed and what it said."""
    monkeypatch.setattr(os, "environ", hermes.environment())

    def call(*arguments):
        code = run(arguments)
        return Outcome(code, *capsys.readouterr())

    return call


def test_a_person_looks_agrees_and_takes_it_back(program, command):
    assert command("mcp", "list", "--json").json()["servers"][0]["state"] == "new"
    refused = command("mcp", "trust", "p")
    assert refused.code == 2
    assert "hint: run `hermes mcp trust p --yes`" in refused.err
    assert command("mcp", "trust", "p", "--yes").code == 0
    assert "mcp-p" in command("mcp", "list").out
    tools = {row["name"]: row for row in command("tools", "--json").json()["tools"]}
    assert tools["p_echo"]["toolset"] == "mcp-p"
    assert tools["p_echo"]["offered"]
    (program / "tools.json").write_text(json.dumps([{**ECHO, "description": "Say it\u202e louder."}]))
    checks = {row["check"]: row for row in command("doctor", "--json").json()["checks"]}
    assert checks["MCP servers"]["status"] == "warning"
    assert "hermes mcp trust p" in checks["MCP servers"]["fix"]
    again = command("mcp", "trust", "p", "--yes")
    assert "changed: echo (changes): Say it louder." in again.out
    assert "gone: hang" in again.out
    known = command("mcp", "trust", "p", "--json")
    assert "as it was when you agreed" in known.err
    assert json.loads(known.out)["state"] == "trusted"
    assert "1 tools are offered" in command("doctor", "--offline").out
    assert command("mcp", "forget", "p").code == 0
    assert command("mcp", "forget", "p").code == 1
    assert "nobody has agreed to the MCP server `p`" in command("tools").err


async def test_at_a_terminal_new_tools_are_shown_and_asked_about(program, terminal):
    async with ChatSimulator(calls(("p_echo", {})), says("It said nothing.")) as model:
        screen = terminal("chat", "-q", "echo", "-m", "custom/m", CUSTOM_BASE_URL=model.base_url)
        shown = await asyncio.to_thread(screen.wait_for, "may it be done?")
        assert "echo (changes): Say it again." in shown
        screen.type("o\n")
        await asyncio.to_thread(screen.wait_for, "It said nothing.")
        assert await asyncio.to_thread(screen.leave) == 0
    assert await gone(starts(program)[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_no_program_outlives_us_however_we_end(hermes, program, number):
    agree(hermes, program)
    async with ChatSimulator(calls(("p_hang", {})), says("done")) as model:
        process = await hermes.start("chat", "-q", "hang", "-m", "custom/m", CUSTOM_BASE_URL=model.base_url)
        process.stdin.close()
        async with asyncio.timeout(30):
            while not starts(program):
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        process.send_signal(number)
        await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode in (130, -signal.SIGKILL)
    for pid in starts(program):
        assert await gone(pid)


@pytest.mark.parametrize("arguments", [["mcp"], ["mcp", "--http"], ["mcp", "trust", "p"]])
def test_without_the_extra_it_says_what_to_install(arguments, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(discover, "is_installed", lambda _package: False)
    monkeypatch.setattr(
        os,
        "environ",
        {"HERMES_HOME": str(tmp_path), "HERMES_MCP_SERVERS": '{"p": {"command": "x"}}', "PATH": "/bin"},
    )
    assert run(arguments) == 2
    assert 'pip install "hermes[mcp]"' in capsys.readouterr().err


def test_mcp_is_not_opened_to_other_machines(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert run(["mcp", "--http", "--host", "0.0.0.0"]) == 2
    assert "hermes serve" in capsys.readouterr().err
