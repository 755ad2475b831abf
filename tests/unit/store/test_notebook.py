import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes import protocols
from hermes.store.notebook import Notebook

json_values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Now:
    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "notes.db"


@settings(deadline=None)
@given(st.text(), st.text(), json_values)
def test_a_value_comes_back_as_it_was_noted(topic: str, key: str, value: object):
    notes: protocols.Notebook = Notebook(None)
    notes.write(topic, key, value)
    assert notes.read(topic, key) == value
    assert list(notes.entries(topic).values()) == [value]


def test_notes_outlive_the_run_that_made_them(file: Path):
    first = Notebook(str(file))
    first.write("models", "a", ["m1", "m2"])
    first.close()
    assert Notebook(str(file)).read("models", "a") == ["m1", "m2"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_note_replaces_the_one_before_and_can_be_forgotten(file: Path):
    notes = Notebook(str(file))
    notes.write("keys", "k", 1)
    notes.write("keys", "k", 2)
    notes.write("other", "k", 3)
    assert notes.entries("keys") == {"k": 2}
    notes.forget("keys", "k")
    notes.forget("keys", "never there")
    assert (notes.read("keys", "k"), notes.read("other", "k")) == (None, 3)


def test_a_note_is_gone_when_its_time_is_over(file: Path, now: Now):
    notes = Notebook(str(file), now)
    notes.write("keys", "short", 1, seconds=60)
    notes.write("keys", "long", 2, seconds=3600)
    notes.write("keys", "for good", 3)
    now.at += 59
    assert list(notes.entries("keys")) == ["for good", "long", "short"]
    now.at += 1
    assert notes.read("keys", "short") is None
    assert list(notes.entries("keys")) == ["for good", "long"]
    notes.write("keys", "new", 4)
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT key FROM notes ORDER BY key").fetchall()
    assert rows == [("for good",), ("long",), ("new",)]


def test_looking_makes_no_file(file: Path):
    notes = Notebook(str(file))
    assert notes.read("keys", "k") is None
    assert notes.entries("keys") == {}
    notes.forget("keys", "k")
    assert not file.parent.exists()


def test_two_runs_share_one_notebook(file: Path):
    one, other = Notebook(str(file)), Notebook(str(file))
    one.write("keys", "a", 1)
    other.write("keys", "b", 2)
    assert one.entries("keys") == other.entries("keys") == {"a": 1, "b": 2}


def test_a_damaged_file_is_no_hindrance(file: Path):
    file.parent.mkdir()
    file.write_bytes(b"garbage" * 1000)
    notes = Notebook(str(file))
    assert notes.read("keys", "k") is None
    notes.write("keys", "k", 1)
    assert notes.read("keys", "k") == 1


def test_damage_that_shows_later_is_no_hindrance_either(file: Path):
    notes = Notebook(str(file))
    notes.write("keys", "k", 1)
    with closing(sqlite3.connect(file)) as other:
        other.execute("DROP TABLE notes")
        other.commit()
    notes.write("keys", "k", 2)
    assert notes.read("keys", "k") == 2


def test_a_value_that_is_no_json_is_passed_over(file: Path):
    notes = Notebook(str(file))
    notes.write("keys", "good", 1)
    with closing(sqlite3.connect(file)) as other:
        other.execute("INSERT INTO notes VALUES ('keys', 'bad', x'7bff', NULL)")
        other.commit()
    assert notes.entries("keys") == {"good": 1}
    assert notes.read("keys", "bad") is None


def test_a_home_that_cannot_be_made_leaves_the_notes_in_memory(tmp_path: Path):
    (tmp_path / "home").write_text("a file stands where the folder should be")
    notes = Notebook(os.path.join(tmp_path, "home", "notes.db"))
    notes.write("keys", "k", 1, seconds=60)
    assert notes.read("keys", "k") == 1
