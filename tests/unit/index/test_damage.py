"""Whatever state the file is in, the index opens, says so, and loses nothing it could keep."""

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.errors import StoreError, StoreUnavailable
from hermes.store import database as database_module

ADD_ALL = """
import os, sys, time
from pathlib import Path
from hermes.index import Index
from hermes.protocols import Page

def pause(done, total, path):
    if sys.argv[3:] == [str(done)]:
        print("waiting", flush=True)
        time.sleep(60)

index = Index.open(sys.argv[1])
report = index.add([sys.argv[2]], lambda path: Page(Path(path).read_text(), os.path.basename(path)), pause)
print(report.added, len(report.failed), *index.notices)
index.close()
"""


def run(script: str, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.db"


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "start.md").write_text("# Start\n\nturnips")
    return folder


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:03}.md").write_text(f"# Number {number}\n\n{'words and more words ' * 100}")
    return folder


@pytest.fixture
def filled(open_index, file, folder, read) -> Path:
    """An index file with three documents, closed."""
    index = open_index(file)
    index.add([str(folder)], read)
    index.close()
    return file


def count(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        return connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_file_never_raises(open_index, filled, folder, read, kept):
    data = filled.read_bytes()
    filled.write_bytes(data[: int(len(data) * kept)])
    index = open_index(filled)
    index.search("boiler", 3)
    index.add([str(folder)], read)
    (folder / "steam.md").write_text("# Steam\n\nA new boiler.")
    index.add([str(folder)], read)
    assert index.search("boiler", 1)[0].title == "steam"


def test_every_zeroed_page_is_survived(open_index, filled, folder, read):
    whole = filled.read_bytes()
    for start in range(0, len(whole), 4096):
        filled.write_bytes(whole[:start] + bytes(4096) + whole[start + 4096 :])
        index = open_index(filled)
        index.search("boiler fealty packets", 3)
        index.list()
        index.add([str(folder)], read)
        index.remove([str(folder)])
        index.close()
        for leftover in filled.parent.iterdir():
            leftover.unlink()


def test_damage_found_in_use_is_mended_in_use(open_index, filled, manual):
    index = open_index(filled, manual)
    raw = sqlite3.connect(filled)
    raw.execute("DROP TABLE passages")
    raw.close()
    assert list(index.search("boiler", 3)) == []
    assert [found.title for found in index.search("turnips", 3)] == ["Start"]
    assert "the index was damaged: it is kept as" in index.notices[0]


def test_random_damage_never_raises_a_raw_error(open_index, filled, folder, read):
    whole, chance, notices = filled.read_bytes(), random.Random(4), 0
    for _ in range(60):
        spoiled = bytearray(whole)
        for _ in range(chance.choice((1, 20, 500))):
            spoiled[chance.randrange(100, len(spoiled))] = chance.randrange(256)
        filled.write_bytes(spoiled)
        index = open_index(filled)
        index.search("boiler fealty packets", 3)
        (folder / "steam.md").write_text(f"# Steam\n\n{chance.random()}")
        index.add([str(folder)], read)
        assert index.remove([str(folder)]) <= 3
        notices += len(index.notices)
        index.close()
        for leftover in filled.parent.iterdir():
            leftover.unlink()
    assert notices > 10


@pytest.mark.parametrize("id", ["NULL", "'seven'", "9223372036854775807"])
def test_a_number_that_cannot_be_is_damage(open_index, filled, folder, read, id):
    raw = sqlite3.connect(filled)
    with raw:
        raw.execute("CREATE TABLE other AS SELECT * FROM documents")
        raw.execute("DROP TABLE documents")
        raw.execute("ALTER TABLE other RENAME TO documents")
        raw.execute(f"UPDATE documents SET id = {id}, size = 0, mtime = 0, digest = x'00'")
    raw.close()
    index = open_index(filled)
    index.add([str(folder)], read)
    assert index.search("boiler", 1)[0].title == "steam"
    assert len(index.list()) == 3


def test_an_exchanged_file_is_given_the_manual_too(open_index, filled, manual):
    index = open_index(filled, manual)
    filled.rename(filled.with_name("moved"))
    assert [found.title for found in index.search("turnips boiler", 3)] == ["Start"]
    assert index.notices == ()


def test_a_folder_in_place_of_the_file_leaves_memory(open_index, file, folder, read, manual):
    file.mkdir(parents=True)
    index = open_index(file, manual)
    assert "cannot be opened" in index.notices[0]
    assert index.search("turnips", 1)[0].title == "Start"
    with pytest.raises(StoreUnavailable) as caught:
        index.add([str(folder)], read)
    assert caught.value.hint
    with pytest.raises(StoreUnavailable):
        index.remove([str(folder)])
    assert file.is_dir()


def test_a_file_in_place_of_the_home_leaves_memory(open_index, file):
    file.parent.write_text("no folder")
    index = open_index(file)
    assert len(index.notices) == 1
    assert list(index.search("anything", 1)) == []


def test_a_read_only_index_is_searched_and_not_changed(open_index, filled, folder, read, monkeypatch):
    # Root may write anywhere, so the answer of the file system is given by hand.
    monkeypatch.setattr(database_module, "_may_write", lambda path: False)
    before = filled.read_bytes()
    index = open_index(filled)
    assert "read-only" in index.notices[0]
    assert index.search("boiler", 1)[0].title == "steam"
    with pytest.raises(StoreUnavailable):
        index.add([str(folder)], read)
    index.close()
    assert filled.read_bytes() == before


def test_a_read_only_index_that_is_damaged_is_left_for_memory(open_index, filled, manual, monkeypatch):
    raw = sqlite3.connect(filled)
    raw.execute("DROP TABLE passages")
    raw.close()
    before = filled.read_bytes()
    monkeypatch.setattr(database_module, "_may_write", lambda path: False)
    index = open_index(filled, manual)
    assert [found.title for found in index.search("turnips", 3)] == ["Start"]
    assert index.notices[-1] == f"the index `{filled}` is damaged; only the manual is searched"
    assert filled.read_bytes() == before
    filled.write_bytes(b"garbage" * 1000)
    again = open_index(filled, manual)
    assert [found.title for found in again.search("turnips", 3)] == ["Start"]
    assert filled.read_bytes() == b"garbage" * 1000


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_read_only(open_index, filled):
    filled.parent.chmod(0o500)
    try:
        index = open_index(filled)
        assert "read-only" in index.notices[0]
        assert index.search("boiler", 1)[0].title == "steam"
    finally:
        filled.parent.chmod(0o700)


def test_a_full_disk_fails_the_add_and_keeps_the_old(open_index, filled, many):
    script = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
from hermes.errors import StoreUnavailable
try:
    exec(sys.stdin.read())
except StoreUnavailable as error:
    print("unavailable:", error)
"""
    command = [sys.executable, "-c", script, str(filled), str(many)]
    done = subprocess.run(command, input=ADD_ALL, capture_output=True, text=True, check=False)
    assert "unavailable: the index" in done.stdout
    assert "Traceback" not in done.stderr
    assert count(filled) >= 3
    assert open_index(filled).search("boiler", 1)[0].title == "steam"


def test_a_killed_add_loses_at_most_its_batch(open_index, file, many, read):
    adding = run(ADD_ALL, file, many, 100)
    assert adding.stdout.readline() == "waiting\n"
    adding.kill()
    adding.communicate()
    assert count(file) == 96
    index = open_index(file)
    report = index.add([str(many)], read)
    assert (report.unchanged, report.added) == (96, 104)
    assert index.search("number 199", 1)[0].title == "199"
    assert index.notices == ()


def test_processes_that_add_at_once_do_not_fail_each_other(file, tmp_path):
    folders = []
    for name in "abcd":
        folder = tmp_path / name
        folder.mkdir()
        for number in range(60):
            (folder / f"{number}.md").write_text(f"# {name}{number}\n\n{'word ' * 200}")
        folders.append(folder)
    adding = [run(ADD_ALL, file, folder) for folder in folders]
    ends = [process.communicate(timeout=60) for process in adding]
    assert [out.splitlines()[-1] for out, _ in ends] == ["60 0"] * 4, ends
    assert count(file) == 240


def test_a_closed_index_raises_our_own_error(open_index):
    index = open_index()
    index.close()
    with pytest.raises(StoreError):
        index.search("x", 1)
