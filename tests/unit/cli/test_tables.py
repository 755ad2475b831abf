"""Every table of every command at three widths, as it was looked at and found good.

Run with `WRITE_SNAPSHOTS=1` to write them anew, and look at what changed.
"""

import os
import pty
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.app.survey import Offer
from hermes.cli import config, doctor, index, models, plugins, sessions, tools
from hermes.cli._shell import run
from hermes.cli._table import Column, Table
from hermes.cli._width import cells, columns, cut, wrapped
from hermes.hooks.host import Place
from hermes.index import DocumentInfo
from hermes.providers.base.listing import ModelInfo
from hermes.store import SearchHit, SessionInfo

SNAPSHOTS = Path(__file__).parent / "snapshots"
WIDTHS = (40, 80, 120)
WIDE = "東京の天気は明日どうなりますか、傘は要りますか"


def _offer(name, model, usable, reason, **more):
    return Offer(name=name, title=name.title(), usable=usable, reason=reason, default_model=model, **more)


def _session(number, title, status="done"):
    return SessionInfo(
        id=f"20261115-1425{number:02}-a1b2c3",
        title=title,
        created=0.0,
        updated=1_794_752_730.0 + number,
        provider="scout",
        model="scout-1",
        cwd="/",
        messages=number,
        status=status,
    )


def _at_one_time(table):
    """The table with a moment that is the same in every time zone."""
    return Table(table.columns, [[row[0], "2026-11-15 14:25", *row[2:]] for row in table.rows])


def _plugin(key, state, reason="", **more):
    empty = {"tools": (), "hooks": (), "middleware": (), "commands": (), "warnings": (), "held": ()}
    facts = {"name": key, "version": "1.0", "description": "does this and that", "source": "user"}
    rest = {"kind": "python", "path": f"/plugins/{key}", "hash": "0" * 64, "capabilities": None}
    return plugins.Row(key=key, state=state, reason=reason, **{**empty, **facts, **rest, **more})


TABLES = {
    "models": models.offer_table(
        [
            _offer("ollama", "llama3.2:3b-instruct-q4", True, "found at http://127.0.0.1:11434/v1", models=3),
            _offer("scout", "scout-1", True, "built in", models=1),
            _offer("anthropic", "claude-sonnet", False, "no key", fix="set `ANTHROPIC_API_KEY`"),
        ]
    ),
    "models-of-one": models.model_table(
        [
            ModelInfo(id="acme-large-with-a-long-name-2026-11", context_window=1_048_576, input_price=2.0,
                      output_price=10.0, tools=True, images=True),
            ModelInfo(id="acme-small", context_window=8_192),
        ]
    ),
    "sessions": _at_one_time(
        sessions.session_table(
            [_session(12, WIDE), _session(3, "How do I add a web search backend?", "interrupted")]
        )
    ),
    "sessions-search": sessions.hit_table(
        [
            SearchHit(
                session_id="20261115-142530-a1b2c3", title="", seq=8, role="user", snippet="The weather? " * 8
            )
        ]
    ),
    "plugins": plugins.plugin_table(
        [
            _plugin("observability/nemo_relay", "enabled", tools=("a",), hooks=("b", "c")),
            _plugin("mine", "changed", "its files have changed since it was enabled; run it again"),
            _plugin("other", "not enabled", "enable it with `hermes plugins enable other`"),
        ],
        is_on=True,
    ),
    "plugins-trace": plugins.trace_table(
        [
            Place(kind="tool_request", plugin="mine", name="rewrite_arguments"),
            Place(kind="pre_tool_call", plugin="other", name="look", skipped="its `when` says no"),
        ]
    ),
    "plugins-stats": plugins.stats_table(
        [
            {"plugin": "mine", "kind": "tool_request", "name": "rewrite", "calls": 12, "errors": 0,
             "timeouts": 0, "skips": 1, "breaker": "closed", "p50": 0.5, "p95": 12.25, "longest": 118.0}
        ]
    ),
    "tools": tools.tool_table(
        [
            tools.Row("web", "web_search", "Search the web. It gives titles.", "reads", True, None),
            tools.Row("terminal", "terminal", "Run a shell command. In a folder.", "changes", False, None),
            tools.Row("x_search", "x_search", "Search X.", "reads", True, "No xAI credentials"),
        ]
    ),
    "index": index.document_table(
        [
            DocumentInfo(url="file:///srv/notes/2026/november/networks.md", title="Networks", characters=47),
            DocumentInfo(url="hermes://docs/concepts/scout.md", title="How scout answers", characters=2600),
        ]
    ),
    "config": config.setting_table(
        [
            ["model.default", "anthropic/claude-sonnet", "file /srv/hermes/config.yaml:3"],
            ["tool_loop_guardrails.same_tool_failure_halt_after", "8", "default"],
        ]
    ),
}  # fmt: skip
ROWS = [
    doctor.Row("installation", "python", "ok", "3.13.1, hermes 0.1.0, /opt/hermes"),
    doctor.Row("installation", "disk", "warning", "90 MB are free", "free some space, or set `HERMES_HOME`"),
    doctor.Row("web", "Web Search & Extract", "ok", "configured\n  Using SearXNG at http://127.0.0.1:8080"),
    doctor.Row(
        "web", "search", "failed", f"the web backend `exa` needs an API key {WIDE}", "run `hermes setup`"
    ),
]


def _fits(text, width):
    return all(cells(line) <= width for line in text.splitlines())


def _kept(name, text):
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("WRITE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_and_looks_as_it_did(name, width):
    shown = TABLES[name].fitted(width)
    assert _fits(shown, width)
    assert shown == _kept(f"{name}-{width}", shown)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_doctor_found_fits_and_looks_as_it_did(width):
    shown = doctor.told(ROWS, width)
    assert _fits(shown, width)
    assert shown == _kept(f"doctor-{width}", shown)


@pytest.mark.parametrize("name", TABLES)
def test_a_program_gets_every_cell_whole(name):
    table = TABLES[name]
    lines = table.lines().splitlines()
    assert [len(line.split("\t")) for line in lines] == [len(table.columns)] * len(table.rows)
    for line, row in zip(lines, table.rows, strict=True):
        assert line.split("\t") == [" ".join(cell.split()) for cell in row]


@given(
    st.lists(st.lists(st.text(max_size=60), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(20, 130),
)
def test_any_text_fits_any_width_and_no_row_is_lost(rows, width):
    named = [[f"r{number}", *row] for number, row in enumerate(rows)]
    table = Table((Column("row"), Column("a", least=4), Column("b", least=4), Column("c")), named)
    shown = table.fitted(width)
    assert _fits(shown, width)
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown)
    assert all(any(line.startswith(row[0]) for line in shown.splitlines()) for row in named)


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("weather", 7, "weather"),
        ("weather", 4, "wea…"),
        ("東京天気", 5, "東京…"),
        ("東京天気", 6, "東京…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
    ],
)
def test_a_text_is_cut_by_cells_and_not_by_characters(text, width, kept):
    assert cut(text, width) == kept
    assert cells(kept) <= width


def test_words_stay_whole_where_they_can():
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefgh", 3) == ["abc", "def", "gh"]


def _on_a_screen(monkeypatch, *words):
    """What a command shows on a terminal of forty columns."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    with open(theirs, "w", encoding="utf-8") as stdout, monkeypatch.context() as patched:
        patched.delenv("COLUMNS", raising=False)
        patched.setattr("sys.stdout", stdout)
        assert run(list(words)) == 0
        os.set_blocking(ours, False)
        shown = os.read(ours, 65536).decode().replace("\r\n", "\n")
    os.close(ours)
    return shown


def test_a_command_reads_the_width_of_its_terminal(home, monkeypatch):
    listed = _on_a_screen(monkeypatch, "models", "scout", "--offline")
    assert listed == "MODEL    CONTEXT  PRICE  ABILITIES\nscout-1        -  -\n"
    found = _on_a_screen(monkeypatch, "search", "scout", "--backend", "local", "-n", "1")
    assert found.startswith("1. ")
    assert _fits(found, 40)


def test_the_width_is_what_columns_says_or_what_is_usual(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert columns(None) == 80
    monkeypatch.setenv("COLUMNS", "52")
    assert columns(None) == 52


def test_a_column_that_wraps_goes_on_in_the_next_line():
    table = Table((Column("word"), Column("does", 8, wraps=True)), [("/help", "Show this list of words.")])
    assert table.fitted(20) == "WORD   DOES\n/help  Show this\n       list of\n       words.\n"


def test_help_fits_a_narrow_terminal(hermes, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for words in ((), ("setup",), ("mcp",)):
        code, out, _ = hermes(*words, "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 40
