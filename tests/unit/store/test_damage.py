import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hermes.errors import StoreCorrupt, StoreError, StoreUnavailable
from hermes.messages import Message
from hermes.store import Store, database, schema

HERE = Path(__file__).parent
PAGE = 4096


@pytest.fixture
async def filled(store, path, session) -> bytes:
    """A store with enough in it to have inner pages; closed, and its bytes."""
    await store.create(session("s", title="kept"))
    await store.append("s", [Message("user", f"message {n} " + "x" * 500) for n in range(150)])
    await store.close()
    return Path(path).read_bytes()


def set_aside_files(path: str) -> list[str]:
    return sorted(name for name in os.listdir(os.path.dirname(path)) if ".corrupt-" in name)


async def assert_usable(store: Store, session) -> None:
    await store.create(session("fresh"))
    await store.append("fresh", [Message("user", "hello")])
    assert [found.id for found in await store.list(5)] == ["fresh"]
    assert await store.check() == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: good[: len(good) // 2],
        lambda good: good[:100],
        lambda good: b"\0" * PAGE + good[PAGE:],
        lambda good: b"not a database at all " * 500,
        lambda good: good[:16] + b"\xff" * 84 + good[100:],
        lambda good: good[:100] + b"\xff" * (PAGE - 100) + good[PAGE:],
    ],
    ids=["cut in half", "cut to its header", "first page zeroed", "garbage", "bad header", "bad schema page"],
)
async def test_a_file_that_cannot_be_opened_is_set_aside_whole(filled, path, clock, session, spoil):
    spoiled = spoil(filled)
    Path(path).write_bytes(spoiled)
    store = Store.open(path, clock)
    aside = set_aside_files(path)[0]
    assert re.fullmatch(r"sessions\.db\.corrupt-\d{8}T\d{6}Z", aside)
    assert (Path(path).parent / aside).read_bytes() == spoiled
    (notice,) = store.notices
    assert f"`{Path(path).parent / aside}`" in notice
    await assert_usable(store, session)
    await store.close()


async def test_the_log_of_a_damaged_file_is_kept_with_it(filled, path):
    Path(path).write_bytes(b"garbage" * 2000)
    Path(f"{path}-wal").write_bytes(b"the log of it")
    store = Store.open(path)
    aside = set_aside_files(path)[0]
    assert (Path(path).parent / f"{aside}-wal").read_bytes() == b"the log of it"
    await store.close()


async def test_who_still_uses_a_damaged_file_cannot_harm_the_new_one(filled, path, session):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("UPDATE sessions SET title = 'only in the log'")
    zero_first_page = f"import os; os.pwrite(os.open({path!r}, os.O_RDWR), bytes({PAGE}), 0)"
    subprocess.run([sys.executable, "-c", zero_first_page], check=True)
    store = Store.open(path)
    await assert_usable(store, session)
    holder.close()
    kept = set_aside_files(path)
    assert [name.removeprefix(kept[0]) for name in kept] == ["", "-shm", "-wal"]
    assert b"only in the log" in (Path(path).parent / kept[2]).read_bytes()
    reader = Store.open(path)
    assert await reader.messages("fresh") == (Message("user", "hello"),)
    await reader.close()
    await store.close()


async def test_a_second_damaged_file_in_the_same_second_keeps_the_first(path, session):
    os.makedirs(os.path.dirname(path))
    for content in (b"first" * 1000, b"second" * 1000):
        Path(path).write_bytes(content)
        store = Store.open(path, lambda: 1_800_000_000.0)
        await store.close()
    kept = [(Path(path).parent / name).read_bytes()[:6] for name in set_aside_files(path)]
    assert kept == [b"firstf", b"second"]


async def test_damage_met_while_in_use_is_set_aside_then(filled, path, session):
    """Any page may be the bad one: each is zeroed in turn, and none ends in a raw error or a loop."""
    seen = set()
    for page in range(1, len(filled) // PAGE):
        Path(path).write_bytes(filled[: page * PAGE] + b"\0" * PAGE + filled[(page + 1) * PAGE :])
        store = Store.open(path)
        try:
            messages = await store.messages("s")
            await store.append("s", [Message("user", "more")])
            await store.search("message", 5)
            await store.delete("s")
            seen.add("sound" if len(messages) == 150 else "short")
        except StoreCorrupt as error:
            seen.add("corrupt" if error.hint == store.notices[-1] else "no notice")
            await assert_usable(store, session)
        except StoreError as error:
            seen.add(str(error)[:9])
        await store.close()
    assert "corrupt" in seen
    assert seen <= {"corrupt", "sound", "message 1", "message 2", "message 3"}


async def test_a_file_set_aside_by_another_process_is_left_for_the_new_one(store, path, session):
    await store.create(session("old"))
    os.rename(path, f"{path}.moved")
    other = Store.open(path)
    await other.create(session("new"))
    assert [found.id for found in await store.list(5)] == ["new"]
    with pytest.raises(StoreUnavailable, match="`old`"):
        await store.append("old", [Message("user", "must not vanish into the moved file")])
    await other.close()


def test_only_the_damaged_file_is_moved(path):
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"the fresh one")
    assert database.set_aside(path, (0, 0), 0.0) is None
    assert Path(path).read_bytes() == b"the fresh one"


async def test_a_newer_schema_is_refused_and_never_rewritten(filled, path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute(f"PRAGMA user_version = {len(schema.STEPS) + 6}")
    db.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match=r"newer hermes \(schema 7, this one knows 1\)") as refused:
        Store.open(path)
    assert "upgrade" in refused.value.hint
    assert Path(path).read_bytes() == before
    assert os.listdir(os.path.dirname(path)) == ["sessions.db"]


async def test_the_database_of_another_program_is_refused(path):
    os.makedirs(os.path.dirname(path))
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE bookmarks (url)")
    db.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store.open(path)
    assert Path(path).read_bytes() == before


async def test_an_empty_file_becomes_a_store(path, session):
    os.makedirs(os.path.dirname(path))
    Path(path).touch()
    store = Store.open(path)
    assert store.notices == []
    await assert_usable(store, session)
    await store.close()


async def test_steps_are_applied_once_and_in_order(filled, path, monkeypatch):
    monkeypatch.setattr(
        schema, "STEPS", (*schema.STEPS, ("CREATE TABLE two (x)",), ("INSERT INTO two VALUES (3)",))
    )
    for _ in range(2):
        store = Store.open(path)
        assert len(await store.messages("s")) == 150
        await store.close()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (3,)
    assert db.execute("SELECT x FROM two").fetchall() == [(3,)]
    db.close()


async def test_a_step_that_fails_changes_nothing(filled, path, monkeypatch):
    monkeypatch.setattr(
        schema, "STEPS", (*schema.STEPS, ("CREATE TABLE two (x)", "INSERT INTO nowhere VALUES (3)"))
    )
    with pytest.raises(StoreError, match="nowhere"):
        Store.open(path)
    monkeypatch.undo()
    store = Store.open(path)
    assert (len(await store.messages("s")), await store.check()) == (150, [])
    await store.close()


async def test_a_locked_file_is_waited_for_then_said(store, path, session, monkeypatch):
    await store.create(session("s"))
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    impatient = None
    with pytest.raises(StoreUnavailable, match="is locked by another program"):
        impatient = Store.open(path)
    assert impatient is None
    assert (await store.find("s")).messages == 0
    holder.execute("ROLLBACK")
    holder.close()
    await store.append("s", [Message("user", "now")])
    assert (await store.find("s")).messages == 1


def test_a_folder_in_place_of_the_file(path):
    os.makedirs(path)
    with pytest.raises(StoreUnavailable, match="cannot be opened") as refused:
        Store.open(path)
    assert "HERMES_HOME" in refused.value.hint
    assert os.listdir(path) == []


def test_a_file_in_place_of_the_home(tmp_path):
    (tmp_path / "home").write_text("mine")
    for path in (tmp_path / "home" / "sessions.db", tmp_path / "home" / "deeper" / "sessions.db"):
        with pytest.raises(StoreUnavailable, match="cannot be opened"):
            Store.open(str(path))
    assert (tmp_path / "home").read_text() == "mine"


def refused_writer(path: str, how: str) -> dict:
    command = [sys.executable, str(HERE / "refused_writer.py"), path, how]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


async def test_a_full_disk_refuses_and_keeps_what_was_saved(path):
    report = refused_writer(path, "disk-full")
    assert report["error"] == "StoreUnavailable"
    assert "disk" in report["hint"]
    assert 10 < report["saved"] < 1000
    store = Store.open(path)
    assert len(await store.messages("s")) == report["saved"]
    assert (await store.check(), store.notices) == ([], [])
    await store.close()


@pytest.mark.parametrize(
    ("folder_mode", "file_mode"),
    [(0o555, None), (0o000, None), (0o755, 0o444), (0o555, 0o444), (0o755, 0o000)],
    ids=["read-only home", "unreadable home", "read-only file", "read-only both", "unreadable file"],
)
def test_a_home_that_cannot_be_written_is_said_at_once(folder_mode, file_mode):
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        home = os.path.join(place, "home")
        path = os.path.join(home, "sessions.db")
        os.mkdir(home)
        if file_mode is not None:
            database.Database(path, lambda: 0.0).close()
            os.chmod(path, file_mode)
        os.chmod(home, folder_mode)
        report = refused_writer(path, "as-nobody")
        os.chmod(home, 0o755)
    assert (report["error"], report["saved"]) == ("StoreUnavailable", 0)
    assert path in report["words"]
    assert "HERMES_HOME" in report["hint"]
