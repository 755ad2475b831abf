"""`--json` of every command is one object, and the only thing on stdout."""

import asyncio
import json
from itertools import chain

import click
import pytest

from hermes import discover
from hermes.cli._shell import run
from hermes.store import Session, Store

PLUGIN = "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda **_: None)\n"
CALLS = {
    "chat": ("-q", "What is scout?", "-m", "scout"),
    "config check": (),
    "config get": ("model.default",),
    "config path": (),
    "config set": ("agent.max_turns", "9"),
    "config show": ("--origin",),
    "doctor": ("--offline",),
    "extract": ("hermes://docs/concepts/scout.md",),
    "index add": ("notes.md",),
    "index list": (),
    "index remove": ("notes.md",),
    "index search": ("scout",),
    "mcp forget": ("nobody",),
    "mcp list": (),
    "models": ("--offline",),
    "plugins check": ("mine",),
    "plugins disable": ("mine",),
    "plugins enable": ("mine", "--yes"),
    "plugins list": (),
    "plugins new": ("fresh",),
    "plugins stats": (),
    "plugins trace": (),
    "search": ("scout", "--backend", "local"),
    "sessions delete": ("s1", "--yes"),
    "sessions export": ("s1",),
    "sessions list": (),
    "sessions search": ("weather",),
    "sessions show": ("s1",),
    "setup": ("--model", "scout"),
    "tools": (),
    "tools setup": ("local",),
    "x": ("what is new?",),
}
FAILS = {
    "x": "there is no key",
    "index remove": "there is no such document",
    "mcp forget": "nobody agreed to it",
}
SHELLS_OWN = {"completion"}
"""What prints a script and has no other form."""
SERVERS = {"serve", "mcp"}
STARTS_A_PROGRAM = {"mcp trust"}
"""What needs a server to look at, and is tested with one."""


@pytest.fixture
def furnished(home, monkeypatch):
    """A home with a session and a plugin, beside a document."""
    folder = home / "plugins" / "mine"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: mine\nversion: '1'\n")
    (folder / "__init__.py").write_text(PLUGIN)
    (home.parent / "notes.md").write_text("# Notes\n\nA kettle of iron.\n")
    monkeypatch.chdir(home.parent)

    async def fill():
        store = Store.open(str(home / "sessions.db"))
        await store.create(Session("s1", "the weather", 0, 0, "scout", "scout-1", "/"))
        await store.close()

    asyncio.run(fill())
    return home


@pytest.mark.parametrize("command", CALLS)
def test_json_is_one_object_and_alone(furnished, hermes, command):
    code, out, err = hermes(*command.split(), *CALLS[command], "--json")
    assert isinstance(json.loads(out), dict)
    assert (code == 0) is (command not in FAILS), err


def _with_json():
    """Every command that does something, by its words."""
    for name in discover.names("hermes.cli"):
        command = discover.load("hermes.cli", name, "command").command
        inner = command.commands if isinstance(command, click.Group) else {}
        own = (
            ()
            if isinstance(command, click.Group) and not command.invoke_without_command
            else ((name, command),)
        )
        yield from chain(own, ((f"{name} {word}", child) for word, child in inner.items()))


def test_every_command_has_it():
    commands = dict(_with_json())
    able = {
        words
        for words, one in commands.items()
        if any("--json" in parameter.opts for parameter in one.params)
    }
    assert set(commands) - able == SHELLS_OWN | SERVERS
    assert able - STARTS_A_PROGRAM == set(CALLS)


def test_the_whole_of_stdout_is_empty_when_a_list_is(home, capfd):
    for words in (
        ["sessions", "list"],
        ["sessions", "search", "x"],
        ["plugins", "stats"],
        ["plugins", "trace"],
    ):
        assert run(words) == 0
        out, err = capfd.readouterr()
        assert out == ""
        assert "`hermes " in err, "an empty list says what to do next"
