import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hermes.errors import HermesError, StoreCorrupt, StoreError, StoreUnavailable
from hermes.messages import Message
from hermes.store import Store

HERE = Path(__file__).parent
PAGE = 4096


@pytest.fixture
async def filled(store, path, session) -> bytes:
    """A store with enough in it to have inner pages; closed, and its bytes."""
    await store.create(session("s", title="kept"))
    await store.append("s", [Message("user", f"message {n} " + "x" * 500) for n in range(150)])
    await store.close()
    return Path(path).read_bytes()


async def assert_usable(store: Store, session) -> None:
    await store.create(session("fresh"))
    await store.append("fresh", [Message("user", "hello")])
    assert [found.id for found in await store.list(5)] == ["fresh"]
    assert await store.check() == []


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


async def test_random_damage_ends_in_our_own_errors_only(filled, path):
    chance = random.Random(4)
    met = set()
    for _ in range(60):
        spoiled = bytearray(filled)
        for _ in range(chance.choice((1, 20, 500))):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        Path(path).write_bytes(spoiled)
        try:
            store = Store.open(path)
        except HermesError as error:
            met.add(type(error))
            continue
        for call in (
            store.list(5),
            store.search("message", 5),
            store.messages("s"),
            store.append("s", [Message("user", "more")]),
            store.find("kept"),
            store.delete("s"),
        ):
            try:
                await call
            except HermesError as error:
                met.add(type(error))
        await store.close()
    assert met >= {StoreCorrupt, StoreError}


async def test_a_file_set_aside_by_another_process_is_left_for_the_new_one(store, path, session):
    await store.create(session("old"))
    os.rename(path, f"{path}.moved")
    other = Store.open(path)
    await other.create(session("new"))
    assert [found.id for found in await store.list(5)] == ["new"]
    with pytest.raises(StoreUnavailable, match="`old`"):
        await store.append("old", [Message("user", "must not vanish into the moved file")])
    await other.close()


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
async def test_a_home_that_cannot_be_written_is_said_at_once(folder_mode, file_mode):
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        home = os.path.join(place, "home")
        path = os.path.join(home, "sessions.db")
        os.mkdir(home)
        if file_mode is not None:
            await Store.open(path).close()
            os.chmod(path, file_mode)
        os.chmod(home, folder_mode)
        report = refused_writer(path, "as-nobody")
        os.chmod(home, 0o755)
    assert (report["error"], report["saved"]) == ("StoreUnavailable", 0)
    assert path in report["words"]
    assert "HERMES_HOME" in report["hint"]
