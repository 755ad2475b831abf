"""Whatever is kept in it, a file is private, waited for, and set aside when it is damaged."""

import os
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable
from hermes.index.tables import INDEX
from hermes.store import database as module
from hermes.store.database import Database, fetch, fetch_one, set_aside
from hermes.store.tables import HISTORY

PAGE = 4096
NOW = 1_800_000_000.0
FILLERS = {
    HISTORY.noun: "INSERT INTO messages (session, seq, created, body) VALUES ('s', ?, 0, ?)",
    INDEX.noun: "INSERT INTO documents VALUES (NULL, ?, 'title', ?, 0, 0, x'')",
}


@pytest.fixture(params=[HISTORY, INDEX], ids=["history", "index"])
def schema(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "home" / "file.db")


@pytest.fixture
def open_database(path, schema):
    opened = []

    def open_(schema=schema, **more):
        opened.append(Database(path, schema, lambda: NOW, **more))
        return opened[-1]

    yield open_
    for database in opened:
        database.close()


@pytest.fixture
def good(open_database, path, schema) -> bytes:
    """The bytes of a sound file with inner pages; it is there and closed."""
    database = open_database()
    rows = [(number, f"text {number} " + "x" * 500) for number in range(100)]
    database.write(lambda db: db.executemany(FILLERS[schema.noun], rows))
    database.close()
    return Path(path).read_bytes()


def beside(path):
    return sorted(os.listdir(os.path.dirname(path)))


def count(database, schema):
    table = FILLERS[schema.noun].split()[2]
    (rows,) = database.read(lambda db: fetch_one(db, tuple[int], f"SELECT count(*) FROM {table}"))
    return rows


def assert_sound(database, schema):
    assert database.write(lambda db: db.execute(FILLERS[schema.noun], ("new", "text")).rowcount) == 1
    assert database.read(lambda db: fetch(db, tuple[str], "PRAGMA quick_check")) == [("ok",)]


def test_the_file_and_its_folder_are_private_and_survive(open_database, good, path, schema):
    database = open_database()
    assert (count(database, schema), database.notices, database.saves) == (100, [], True)
    modes = {
        name: stat.S_IMODE(os.stat(os.path.join(os.path.dirname(path), name)).st_mode)
        for name in beside(path)
    }
    assert modes == {"file.db": 0o600, "file.db-wal": 0o600, "file.db-shm": 0o600}
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: good[: len(good) // 2],
        lambda good: good[:100],
        lambda good: bytes(len(good)),
        lambda good: b"\0" * PAGE + good[PAGE:],
        lambda good: b"not a database at all " * 500,
        lambda good: good[:16] + b"\xff" * 84 + good[100:],
        lambda good: good[:100] + b"\xff" * (PAGE - 100) + good[PAGE:],
        lambda good: good.replace(b"CREATE TABLE", b"CREATE TALBE", 1),
        lambda good: good[:47] + b"\x09" + good[48:],
    ],
    ids=["half", "header", "zeroed", "first page", "letter", "bad header", "bad page", "bad table", "format"],
)
def test_a_file_that_cannot_be_opened_is_set_aside_whole(open_database, good, path, schema, spoil):
    spoiled = spoil(good)
    Path(path).write_bytes(spoiled)
    Path(f"{path}-wal").write_bytes(b"the log of it")
    database = open_database()
    aside = f"{path}.corrupt-20270115T080000Z"
    assert Path(aside).read_bytes() == spoiled
    assert Path(f"{aside}-wal").read_bytes() == b"the log of it"
    assert database.notices == [
        f"{schema.noun} was damaged: it is kept as `{aside}`, and a new one was started"
    ]
    assert_sound(database, schema)


def test_damage_that_shows_later_is_set_aside_then(open_database, good, path, schema):
    database = open_database()
    raw = sqlite3.connect(path)
    raw.execute(f"DROP TABLE {FILLERS[schema.noun].split()[2]}")
    raw.close()
    with pytest.raises(StoreCorrupt, match=f"^{schema.noun} `.*` is damaged$") as met:
        count(database, schema)
    assert met.value.hint == database.notices[-1]
    assert count(database, schema) == 0
    assert_sound(database, schema)


def test_a_row_of_the_wrong_kind_is_damage(open_database, good, schema):
    database = open_database()
    assert database.read(lambda db: fetch(db, tuple[int, str], "SELECT 1, 'one'")) == [(1, "one")]
    for work in (
        lambda db: fetch(db, tuple[int, str], "SELECT 1, NULL"),
        lambda db: fetch(db, tuple[int], "SELECT 1.5"),
        lambda db: fetch_one(db, tuple[int], "SELECT 1 WHERE 0"),
        lambda db: fetch(db, tuple[str], "SELECT CAST(x'ff' AS TEXT)"),
    ):
        with pytest.raises(StoreCorrupt):
            database.read(work)
    assert len(database.notices) == 4


@pytest.mark.parametrize(
    "query", ["SELEC 1", "SELECT absent()", "CREATE VIRTUAL TABLE x USING absent", "COMMIT"]
)
def test_what_is_not_the_files_fault_does_not_move_it(open_database, good, path, query):
    database = open_database()
    with pytest.raises(StoreError, match="cannot be used") as met:
        database.read(lambda db: db.execute(query))
    assert type(met.value) is StoreError
    assert database.notices == []


def test_who_still_uses_a_damaged_file_cannot_harm_the_new_one(open_database, good, path, schema):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute(FILLERS[schema.noun], ("late", "only in the log"))
    zero_first_page = f"import os; os.pwrite(os.open({path!r}, os.O_RDWR), bytes({PAGE}), 0)"
    subprocess.run([sys.executable, "-c", zero_first_page], check=True)
    database = open_database()
    assert_sound(database, schema)
    holder.close()
    kept = [name for name in beside(path) if ".corrupt-" in name]
    assert [name.removeprefix(kept[0]) for name in kept] == ["", "-shm", "-wal"]
    assert b"only in the log" in (Path(path).parent / kept[2]).read_bytes()
    assert count(open_database(), schema) == 1


def test_a_second_damaged_file_in_the_same_second_keeps_the_first(open_database, path):
    os.makedirs(os.path.dirname(path))
    for content in (b"first" * 1000, b"second" * 1000):
        Path(path).write_bytes(content)
        open_database().close()
    kept = [(Path(path).parent / name).read_bytes()[:6] for name in beside(path) if ".corrupt-" in name]
    assert kept == [b"firstf", b"second"]


def test_only_the_damaged_file_is_moved(path):
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"the fresh one")
    assert set_aside(path, (0, 0), 0.0) is None
    assert Path(path).read_bytes() == b"the fresh one"


def test_a_damaged_file_that_cannot_be_moved_is_said_and_left(open_database, good, path):
    os.mkdir(f"{path}.lock")
    Path(path).write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreCorrupt, match="cannot be set aside") as refused:
        open_database()
    assert "HERMES_HOME" in refused.value.hint
    assert Path(path).read_bytes() == b"garbage" * 1000


def test_a_file_exchanged_by_another_process_is_followed(open_database, good, path, schema):
    database = open_database()
    before = database.follow()
    assert database.follow() == before
    os.rename(path, f"{path}.moved")
    assert count(database, schema) == 0
    assert database.follow() != before


def test_a_newer_schema_is_refused_and_never_rewritten(open_database, good, path, schema):
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA user_version = 7")
    db.close()
    before = Path(path).read_bytes()
    known = len(schema.steps)
    with pytest.raises(StoreError, match=rf"newer hermes \(schema 7, this one knows {known}\)") as refused:
        open_database()
    assert "upgrade" in refused.value.hint
    assert Path(path).read_bytes() == before
    assert beside(path) == ["file.db"]


def test_the_database_of_another_program_is_refused(open_database, path):
    os.makedirs(os.path.dirname(path))
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE bookmarks (url)")
    db.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_database()
    assert Path(path).read_bytes() == before


def test_an_empty_file_is_a_new_one(open_database, path, schema):
    os.makedirs(os.path.dirname(path))
    Path(path).touch()
    database = open_database()
    assert database.notices == []
    assert_sound(database, schema)


def test_steps_are_applied_once_and_in_order(open_database, good, path, schema):
    longer = (*schema.steps, ("CREATE TABLE two (x)",), ("INSERT INTO two VALUES (3)",))
    for _ in range(2):
        database = open_database(msgspec.structs.replace(schema, steps=longer))
        assert count(database, schema) == 100
        assert database.read(lambda db: fetch(db, tuple[int], "SELECT x FROM two")) == [(3,)]
        assert database.read(lambda db: fetch_one(db, tuple[int], "PRAGMA user_version")) == (len(longer),)


def test_a_step_that_fails_changes_nothing(open_database, good, schema):
    longer = (*schema.steps, ("CREATE TABLE two (x)", "INSERT INTO nowhere VALUES (3)"))
    with pytest.raises(StoreError, match="nowhere"):
        open_database(msgspec.structs.replace(schema, steps=longer))
    database = open_database()
    assert (count(database, schema), database.notices) == (100, [])
    assert_sound(database, schema)


def test_a_locked_file_is_waited_for_then_said(open_database, good, path, schema, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    database = open_database()
    assert count(database, schema) == 100
    with pytest.raises(StoreUnavailable, match="is locked by another program"):
        assert_sound(database, schema)
    holder.execute("ROLLBACK")
    holder.close()
    assert_sound(database, schema)


def test_a_file_locked_while_it_is_made_is_unavailable(open_database, path, schema, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    os.makedirs(os.path.dirname(path))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable, match="is locked by another program"):
        open_database()
    holder.execute("ROLLBACK")
    holder.close()
    assert_sound(open_database(), schema)


def test_a_folder_in_place_of_the_file(open_database, path):
    os.makedirs(path)
    with pytest.raises(StoreUnavailable, match="cannot be opened") as refused:
        open_database()
    assert "HERMES_HOME" in refused.value.hint
    assert os.listdir(path) == []


def test_a_file_in_place_of_the_home(tmp_path, schema):
    (tmp_path / "home").write_text("mine")
    for path in (tmp_path / "home" / "file.db", tmp_path / "home" / "deeper" / "file.db"):
        with pytest.raises(StoreUnavailable, match="cannot be opened"):
            Database(str(path), schema, lambda: NOW)
    assert (tmp_path / "home").read_text() == "mine"


@pytest.mark.parametrize("has_log", [False, True])
def test_a_file_that_can_only_be_read_is_read_where_that_is_enough(
    open_database, good, path, schema, monkeypatch, has_log
):
    writer = open_database() if has_log else None
    # Root may write anywhere, so the answer of the file system is given by hand.
    monkeypatch.setattr(module, "_may_write", lambda path: False)
    with pytest.raises(StoreUnavailable, match="is read-only"):
        open_database()
    database = open_database(reading_is_enough=True)
    assert (count(database, schema), database.saves) == (100, False)
    assert re.search("is read-only: nothing can be added", database.notices[0])
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        assert_sound(database, schema)
    with pytest.raises(StoreCorrupt):
        database.read(lambda db: db.execute("SELECT * FROM absent"))
    assert Path(path).read_bytes() == good
    assert (writer is None) == (beside(path) == ["file.db"])


def test_odd_characters_in_a_path_are_only_a_name(tmp_path, schema):
    path = tmp_path / "a b%20?#é" / "x?mode=memory.db"
    Database(str(path), schema, lambda: NOW).close()
    assert path.read_bytes().startswith(b"SQLite format 3")
