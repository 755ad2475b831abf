"""Memory: a file that a person can read and edit, and that two processes cannot spoil."""

import json
import os
import stat
import subprocess
import sys

import pytest

from hermes.errors import ToolError
from hermes.tools.memory.facts import MOST_CHARACTERS, Memory

KEY = "sk-very-secret-value-1234"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hermes" / "memory.md"


@pytest.fixture
def call(box):
    async def one(action, **arguments):
        return json.loads((await box.call("memory", {"action": action, **arguments})).text)

    return one


async def test_facts_are_added_replaced_removed_and_listed(call, path, services):
    assert (await call("list"))["facts"] == []
    assert (await call("add", text="Ann works in Köln."))["changed"]
    assert (await call("add", text="Tests run with make."))["facts"] == [
        "Ann works in Köln.",
        "Tests run with make.",
    ]
    assert path.read_text() == "- Ann works in Köln.\n- Tests run with make.\n"
    assert (await call("replace", old="köln", text="Ann works in Bonn."))["changed"]
    assert services.memory.facts() == ("Ann works in Bonn.", "Tests run with make.")
    told = await call("remove", old="Tests run with make.")
    assert told == {
        "changed": True,
        "facts": ["Ann works in Bonn."],
        "characters": 18,
        "limit": MOST_CHARACTERS,
    }


async def test_what_is_known_already_changes_nothing(call, path):
    await call("add", text="A fact.")
    before = path.stat().st_mtime_ns
    assert not (await call("add", text=" A  fact.\n"))["changed"]
    assert not (await call("replace", old="A fact.", text="A fact."))["changed"]
    assert path.stat().st_mtime_ns == before
    await call("add", text="B fact.")
    assert (await call("replace", old="B fact.", text="A fact."))["facts"] == ["A fact."]


async def test_what_a_person_wrote_stays(call, path):
    path.parent.mkdir()
    path.write_text("# About me\n\n* likes tea\n- lives in Ulm\nno fact\n")
    assert (await call("add", text="new"))["facts"] == ["likes tea", "lives in Ulm", "new"]
    await call("remove", old="tea")
    assert path.read_text() == "# About me\n\n- lives in Ulm\nno fact\n- new\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "add"}, "`text` is empty"),
        ({"action": "add", "text": " \n"}, "`text` is empty"),
        ({"action": "add", "text": "a\x1b[31mb"}, "control characters"),
        ({"action": "add", "text": "bell\x07"}, "control characters"),
        ({"action": "add", "text": f"the key is {KEY}"}, "holds a key"),
        ({"action": "add", "text": "x" * 4001}, "memory is full"),
        ({"action": "remove"}, "`old` is empty"),
        ({"action": "remove", "old": "unheard of"}, "nothing remembered says"),
        ({"action": "remove", "old": "fact"}, "is in 2 facts"),
        ({"action": "replace", "old": "first", "text": ""}, "`text` is empty"),
        ({"action": "forget"}, "must be one of `add`, `remove`, `replace`, `list`"),
    ],
)
async def test_what_is_not_kept_is_said(box, arguments, said):
    await box.call("memory", {"action": "add", "text": "first fact"})
    await box.call("memory", {"action": "add", "text": "second fact"})
    with pytest.raises(ToolError) as caught:
        await box.call("memory", arguments)
    assert said in str(caught.value)


async def test_a_fact_is_one_line_whatever_is_written(call):
    assert (await call("add", text="one\n- two"))["facts"] == ["one - two"]


async def test_a_full_memory_can_still_be_made_smaller(call, path):
    path.parent.mkdir()
    path.write_text("".join(f"- fact number {number}\n" for number in range(500)))
    assert len((await call("remove", old="fact number 77"))["facts"]) == 499


async def test_the_file_is_private_and_can_be_spoilt_without_harm(call, path, services):
    await call("add", text="x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"- \xff\xfe broken\n- \x1b[31mred\n" + b"x" * 1_000_000)
    assert services.memory.facts() == ("broken", "[31mred")
    with pytest.raises(ToolError, match="too large"):
        services.memory.add("y")
    path.write_bytes(b"\xff mine\r\n- a\x0bb\n")
    services.memory.add("y")
    assert path.read_bytes() == b"\xff mine\r\n- a\x0bb\n- y\n"
    path.unlink()
    path.mkdir()
    assert services.memory.facts() == ()
    with pytest.raises(ToolError, match="cannot change"):
        services.memory.add("y")


def test_two_processes_lose_nothing(path):
    code = (
        "import sys; from hermes.tools.memory.facts import Memory\n"
        "memory = Memory(sys.argv[1], str)\n"
        "for number in range(25): memory.add(f'{sys.argv[2]} {number}')\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("a", "b", "c")]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    assert sorted(Memory(str(path), str).facts()) == sorted(
        f"{name} {number}" for name in ("a", "b", "c") for number in range(25)
    )
    assert sorted(os.listdir(path.parent)) == ["memory.md", "memory.md.lock"]
