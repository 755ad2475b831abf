"""What a shell is offered when a line is completed: names from files, and never a word of complaint."""

import asyncio
import os
import shlex

import pytest

from hermes.cli._shell import run
from hermes.store import Session, Store
from hermes.store.notebook import Notebook


@pytest.fixture
def complete(home, monkeypatch, capfd):
    """The completions of a line whose last word is begun, as `shell` gets them."""

    def call(line, shell="bash"):
        words = shlex.split(line) + ([""] if line.endswith(" ") else [])
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
        monkeypatch.setenv("_HERMES_COMPLETE", f"{shell}_complete")
        run([])
        out, err = capfd.readouterr()
        assert err == ""
        return [row.partition(",")[2] if shell != "zsh" else row for row in out.splitlines()]

    return call


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("hermes ch", ["chat"]),
        ("hermes config s", ["set", "show"]),
        ("hermes chat --ma", ["--max-turns"]),
        ("hermes chat -m sco", ["scout/scout-1"]),
        ("hermes chat -m open", ["openai", "openrouter"]),
        ("hermes models scout/", ["scout/scout-1"]),
        ("hermes chat --tools web,te", ["web,terminal"]),
        ("hermes chat --effort h", ["high"]),
        ("hermes search --backend ta", ["tavily"]),
        ("hermes tools setup se", ["searxng", "serper"]),
        ("hermes setup --web-backend ex", ["exa"]),
        ("hermes config set model.d", ["model.default"]),
        ("hermes config get web.ba", ["web.backend"]),
        ("hermes config set web.backend ta", ["tavily"]),
        ("hermes config set model.default sco", ["scout/scout-1"]),
        ("hermes plugins enable bu", ["budget"]),
        ("hermes completion z", ["zsh"]),
    ],
)
def test_what_is_begun_is_completed(complete, line, some):
    begun = line.rpartition(" ")[2]
    found = complete(line)
    assert set(some) <= set(found)
    assert all(word.startswith(begun) for word in found)


def test_sessions_are_completed_with_their_titles(complete, home):
    async def fill():
        store = Store.open(str(home / "sessions.db"))
        await store.create(Session("20261115-142530-a1b2c3", "the weather\x1b[2J", 0, 0, "scout", "s", "/"))
        await store.close()

    asyncio.run(fill())
    assert complete("hermes chat -r ") == ["20261115-142530-a1b2c3"]
    assert complete("hermes sessions show 2026") == ["20261115-142530-a1b2c3"]
    assert complete("hermes sessions delete ", "zsh") == [
        "plain",
        "20261115-142530-a1b2c3",
        "the weather\\u001b[2J",
    ]
    assert complete("hermes sessions export ", "fish")[0].startswith("20261115-142530-a1b2c3\t")


def test_models_that_a_server_listed_lately_are_completed(complete, home):
    notes = Notebook(str(home / "notes.db"))
    notes.write("models", "ollama http://127.0.0.1:11434/v1", [{"id": "llama3.2"}])
    notes.close()
    assert complete("hermes chat -m ollama/") == ["ollama/llama3.2"]


@pytest.mark.parametrize(
    "line", ["hermes nonsense ", "hermes chat -m nobody/", "hermes config set nowhere x", "hermes '"]
)
def test_what_makes_no_sense_is_met_with_silence(complete, line, monkeypatch):
    if line.endswith("'"):
        monkeypatch.setattr("shlex.split", lambda text: text.split(" "))
    assert all("error" not in word for word in complete(line))


def test_a_broken_home_is_met_with_silence(complete, home):
    (home / "config.yaml").write_text("[")
    (home / "sessions.db").write_bytes(b"no database" * 100)
    (home / "providers").mkdir()
    (home / "providers" / "broken.py").write_text("nonsense(")
    for line in ("hermes plugins enable ", "hermes chat -m broken/", "hermes chat -m anth"):
        complete(line)
    assert complete("hermes sessions show ") == []


def test_nothing_of_a_plugin_runs_to_complete_a_line(complete, home):
    folder = home / "plugins" / "loud"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: loud\n")
    (folder / "__init__.py").write_text(f"open({str(home / 'ran')!r}, 'w')\ndef register(ctx): pass\n")
    (home / "config.yaml").write_text("plugins:\n  enabled: [loud]\n")
    for line in ("hermes plugins disable lo", "hermes loud ", "hermes lo"):
        complete(line)
    assert not os.path.exists(home / "ran")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_hermes_by_its_variable(hermes, shell):
    code, out, err = hermes("completion", shell)
    assert (code, err) == (0, "")
    assert f"_HERMES_COMPLETE={shell}_complete" in out


def test_an_unknown_shell_is_an_error_that_names_the_known_ones(hermes):
    code, out, err = hermes("completion", "csh")
    assert (code, out) == (2, "")
    assert all(shell in err for shell in ("bash", "zsh", "fish"))
