"""`hermes index`: results on stdout, everything else on stderr, exit codes that mean something."""

import json
import os
import pty
import subprocess
import sys

import pytest

from hermes.cli._shell import run


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def own(out):
    return [line for line in out.splitlines() if line.startswith("file://")]


def test_add_list_search_remove(folder, home, capsys):
    (folder / "page.html").write_text("<title>Boilers</title><h1>Boilers</h1><p>A kettle of iron.</p>")
    assert run(["index", "add", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "added 4, updated 0, unchanged 0, removed 0, failed 0\n"
    assert home.stat().st_mode & 0o777 == 0o700

    assert run(["index", "list"]) == 0
    assert own(capsys.readouterr().out) == [
        f"file://{folder}/deep/net.md\tNetworks",
        f"file://{folder}/normans.md\tNormans",
        f"file://{folder}/page.html\tBoilers",
        f"file://{folder}/steam.md\tSteam",
    ]

    assert run(["index", "search", "kettle iron", "-n", "1"]) == 0
    assert capsys.readouterr().out == f"1. Boilers\n   file://{folder}/page.html\n   A kettle of iron.\n\n"

    assert run(["index", "remove", str(folder)]) == 0
    assert capsys.readouterr().err == "removed 4\n"
    assert run(["index", "remove", str(folder)]) == 1
    capsys.readouterr()
    assert run(["index", "list"]) == 0
    assert own(capsys.readouterr().out) == []


def test_json_is_one_object(folder, capsys):
    run(["index", "add", str(folder)])
    capsys.readouterr()
    assert run(["index", "search", "Who swore fealty?", "--json", "-n", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "success": True,
        "data": {
            "web": [
                {
                    "title": "Normans",
                    "url": f"file://{folder}/normans.md",
                    "description": "Rollo swore fealty to the king.",
                    "position": 1,
                }
            ]
        },
    }
    assert run(["index", "list", "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)["documents"]
    assert {"url": f"file://{folder}/steam.md", "title": "Steam", "characters": 47} in documents


def test_nothing_found_is_said_on_stderr(capsys):
    assert run(["index", "search", "xyzzyplugh"]) == 0
    assert capsys.readouterr() == ("", "nothing found; add documents with `hermes index add PATH`\n")
    assert run(["index", "search", "xyzzyplugh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"success": True, "data": {"web": []}}


def test_failures_are_told_one_by_one(folder, capsys):
    (folder / "bad.pdf").write_bytes(b"no pdf at all")
    assert run(["index", "add", str(folder)]) == 0
    err = capsys.readouterr().err.splitlines()
    assert err == [
        f"warning: {folder}/bad.pdf: is not a PDF",
        "added 3, updated 0, unchanged 0, removed 0, failed 1",
    ]
    assert run(["index", "add", str(folder / "bad.pdf")]) == 1


def test_a_path_that_does_not_exist_is_a_usage_error_and_nothing_is_added(folder, capsys):
    assert run(["index", "add", str(folder), "nowhere"]) == 2
    assert "`nowhere` does not exist" in capsys.readouterr().err
    run(["index", "list"])
    assert own(capsys.readouterr().out) == []


@pytest.mark.parametrize("arguments", [["add"], ["search"], ["remove"], ["search", "x", "-n", "0"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    assert run(["index", *arguments]) == 2
    assert capsys.readouterr().out == ""


def test_a_damaged_index_is_a_warning(home, folder, capsys):
    home.mkdir()
    (home / "index.db").write_bytes(b"garbage" * 1_000)
    assert run(["index", "add", str(folder)]) == 0
    assert capsys.readouterr().err.startswith("warning: the index was damaged: it is kept as")


def test_a_newer_index_is_an_error_with_a_hint(home, folder, capsys):
    run(["index", "add", str(folder)])
    capsys.readouterr()
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version=99')"
    subprocess.run([sys.executable, "-c", script, str(home / "index.db")], check=True)
    assert run(["index", "list"]) == 1
    err = capsys.readouterr().err
    assert "newer hermes" in err
    assert "hint:" in err


def test_a_terminal_gets_a_bar_and_no_escapes_of_a_document(folder, home, capsys):
    (folder / "evil.md").write_text("# Evil \x1b]0;owned\x07 title\n\nevil text\n")
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "hermes", "index"]
    subprocess.run([*command, "add", str(folder)], stderr=terminal, stdout=terminal, check=True, timeout=60)
    subprocess.run([*command, "search", "evil"], stdout=terminal, check=True, timeout=60)
    os.close(terminal)
    shown = b""
    while chunk := _read(screen):
        shown += chunk
    os.close(screen)
    assert b"reading" in shown
    assert b"added 4" in shown
    assert b"\x1b]0;" not in shown
    assert b"\\u001b]0;owned" in shown


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65_536)
    except OSError:
        return b""


def test_help_has_a_summary_line(capsys):
    assert run(["--help"]) == 0
    assert "Keep your own documents searchable" in capsys.readouterr().out
