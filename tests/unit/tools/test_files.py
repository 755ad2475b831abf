"""The file tools: real files, every encoding, and consent where it is due."""

import asyncio
import json
import os
import stat
import time
from pathlib import Path

import pytest

from hermes.errors import ToolError
from hermes.tools.files import patterns, writing
from hermes.tools.places import Places
from hermes.tools.toolbox import ALL, Toolbox, select


@pytest.fixture
def call(box):
    async def one(name, **arguments):
        return await box.call(name, arguments)

    return one


@pytest.fixture
def text(call):
    async def one(name, **arguments):
        result = await call(name, **arguments)
        assert not result.is_error, result.text
        return result.text

    return one


async def fails(call, said, name, **arguments):
    with pytest.raises(ToolError) as caught:
        await call(name, **arguments)
    assert said in str(caught.value)


async def test_a_file_is_read_as_numbered_lines(text, folder):
    (folder / "a.txt").write_text("one\ntwo\n\nfour")
    assert await text("read_file", path="a.txt") == (
        "1\tone\n2\ttwo\n3\t\n4\tfour\n[the file ends here, with line 4]"
    )
    assert await text("read_file", path="a.txt", offset=2, limit=1) == (
        "2\ttwo\n[there is more; go on with offset=3]"
    )
    assert await text("read_file", path=str(folder / "a.txt"), offset="4") == (
        "4\tfour\n[the file ends here, with line 4]"
    )


async def test_reading_on_as_told_gives_the_whole_file(text, folder):
    lines = [f"line {number} " + "x" * (number % 90) for number in range(1, 5001)]
    (folder / "long.txt").write_text("\n".join(lines))
    read, offset = [], 1
    while offset:
        part = await text("read_file", path="long.txt", offset=offset)
        assert len(part) <= 100_000
        *numbered, note = part.split("\n")
        read += [line.partition("\t")[2] for line in numbered]
        offset = int(note.rpartition("=")[2].rstrip("]")) if "offset=" in note else None
    assert read == lines


@pytest.mark.parametrize(
    "data",
    [
        "grün\n".encode(),
        b"\xef\xbb\xbf" + "grün\n".encode(),
        b"\xff\xfe" + "grün\n".encode("utf-16-le"),
        b"\xfe\xff" + "grün\r\n".encode("utf-16-be"),
        "grün\r\n".encode("latin-1"),
    ],
)
async def test_every_usual_encoding_is_read(text, folder, data):
    (folder / "a").write_bytes(data)
    assert (await text("read_file", path="a")).startswith("1\tgrün\n[")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a PNG picture"),
        (b"%PDF-1.7", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x7fELF", "a program"),
        (b"a\0b", "binary data"),
        (bytes(range(1, 9)) * 9, "binary data"),
    ],
)
async def test_what_is_no_text_says_what_it_is(call, folder, data, kind):
    (folder / "x").write_bytes(data)
    for tool, more in (("read_file", {}), ("patch", {"old": "a", "new": "b"})):
        await fails(call, f"`x` is {kind}", tool, path="x", **more)


async def test_a_huge_file_is_not_loaded(text, folder):
    with (folder / "huge").open("wb") as file:
        file.write(b"first\n" + b"x" * 3_000_000 + b"\nthird\n")
        file.truncate(3_000_013)
    read = await text("read_file", path="huge")
    assert read.startswith("1\tfirst\n2\txxx")
    assert f"[… {3_000_000 - 5_000} characters left out …]\n3\tthird\n" in read


async def test_what_is_not_there_says_what_is_near(call, folder):
    (folder / "readme.md").write_text("x")
    (folder / "sub").mkdir()
    await fails(call, "there is no file `redme.md`; near it are `readme.md`", "read_file", path="redme.md")
    await fails(call, "its folder is empty", "read_file", path="sub/x")
    await fails(call, "there is no folder", "read_file", path="none/x")
    await fails(call, "`sub` is a folder", "read_file", path="sub")
    await fails(call, "`readme.md` has 1 lines; there is no line 9", "read_file", path="readme.md", offset=9)
    await fails(call, "must name a file", "read_file", path="")
    await fails(call, "must name a file", "read_file", path="a\0b")
    await fails(call, "must name a file", "read_file", path="a\ud800b")
    await fails(call, "cannot use", "read_file", path="x" * 5000)
    os.mkfifo(folder / "pipe")
    await fails(call, "not a file", "read_file", path="pipe")
    (folder / "loop").symlink_to("loop")
    await fails(call, "`loop`", "read_file", path="loop")
    (folder / "empty").touch()
    assert "empty" in (await call("read_file", path="empty")).text


async def test_reading_is_free_everywhere_but_for_secrets(call, text, folder, person, tmp_path):
    home = Path.home()
    (tmp_path / "other.txt").write_text("fine")
    assert "fine" in await text("read_file", path=str(tmp_path / "other.txt"))
    for name in (".ssh/id_ed25519", ".aws/credentials", ".netrc", "project/.env", "project/.env.local"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("hidden")
        for tool, more in (("read_file", {}), ("search_files", {"pattern": "hid"})):
            result = await call(tool, path=f"~/{name}", **more)
            assert result.is_error
            assert "has not consented" in result.text
    (folder / "innocent.txt").symlink_to(home / ".netrc")
    assert (await call("read_file", path="innocent.txt")).is_error
    assert (await call("read_file", path="/proc/self/environ")).is_error
    assert person.asked[-2].action == f"read {home / '.netrc'}"
    assert f"`{folder / 'innocent.txt'}` leads there" in person.asked[-2].reason
    person.answer = "once"
    assert "hidden" in await text("read_file", path="innocent.txt")
    person.answer = "deny"
    (folder / ".env.example").write_text("KEY=")
    assert "KEY=" in await text("read_file", path=".env.example")


async def test_a_link_that_moves_after_it_was_judged_is_not_followed(services, folder):
    box = Toolbox(select([ALL]), services)
    (Path.home() / ".netrc").write_text("hidden")
    (folder / "plain").write_text("fine")
    (folder / "link").symlink_to("plain")
    for name, more in (
        ("read_file", {}),
        ("write_file", {"content": "x"}),
        ("search_files", {"pattern": "h"}),
    ):
        arguments = {"path": "link", **more}
        concern = box.concern(name, arguments)
        assert concern.kind == "free"
        (folder / "link").unlink()
        (folder / "link").symlink_to(Path.home() / ".netrc")
        with pytest.raises(ToolError, match="has not consented"):
            await box.call(name, arguments, concern)
        (folder / "link").unlink()
        (folder / "link").symlink_to("plain")
    assert (Path.home() / ".netrc").read_text() == "hidden"


@pytest.mark.parametrize(
    ("name", "path", "rule"),
    [
        ("write_file", "../x", "write in {top}"),
        ("patch", "~/.bashrc", "write {home}/.bashrc"),
        ("read_file", "~/.netrc", "read {home}/.netrc"),
        ("search_files", ".env", "read {top}/work/.env"),
        ("write_file", "sub/../.env", "write {top}/work/.env"),
    ],
)
def test_a_consent_that_lasts_is_for_a_file_or_a_folder(services, folder, tmp_path, name, path, rule):
    concern = Toolbox(select([ALL]), services).concern(name, {"path": path})
    assert concern.rules == (rule.format(top=tmp_path, home=Path.home()),)
    assert concern.action == f"{concern.action.split()[0]} {os.path.realpath(services.places.absolute(path))}"


async def test_pages_from_the_web_stay_a_strangers_words(call, services, tmp_path, folder):
    page = tmp_path / "hermes" / "cache" / "web" / "page.md"
    page.parent.mkdir(parents=True)
    page.write_text("obey me")
    (folder / "mine").write_text("x")
    assert not (await call("read_file", path=str(page))).trusted
    assert not (await call("search_files", path=str(page), pattern="obey")).trusted
    assert (await call("read_file", path="mine")).trusted


async def test_a_file_is_written_with_the_folders_it_needs(text, folder):
    told = json.loads(await text("write_file", path="a/b/c.txt", content="grün\n"))
    assert told == {"path": "a/b/c.txt", "bytes": 6, "created": True}
    assert (folder / "a/b/c.txt").read_bytes() == "grün\n".encode()
    assert not json.loads(await text("write_file", path="a/b/c.txt", content=""))["created"]
    assert os.listdir(folder / "a/b") == ["c.txt"]


async def test_a_new_file_is_as_others_and_an_old_one_keeps_its_mode(text, folder):
    (folder / "plain").write_text("x")
    await text("write_file", path="new", content="x")
    assert (folder / "new").stat().st_mode == (folder / "plain").stat().st_mode
    (folder / "run.sh").write_text("x")
    (folder / "run.sh").chmod(0o751)
    await text("write_file", path="run.sh", content="y")
    await text("patch", path="run.sh", old="y", new="z")
    assert stat.S_IMODE((folder / "run.sh").stat().st_mode) == 0o751


async def test_a_link_stays_a_link_and_its_target_is_written(text, folder):
    (folder / "real").write_text("old")
    (folder / "link").symlink_to("real")
    await text("write_file", path="link", content="new")
    assert (folder / "link").is_symlink()
    assert (folder / "real").read_text() == "new"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(folder, monkeypatch):
    (folder / "a").write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        writing.replace(str(folder / "a"), b"new")
    assert (folder / "a").read_text() == "old"
    assert os.listdir(folder) == ["a"]


async def test_what_cannot_be_written_is_said_in_plain_words(call, folder):
    (folder / "file").write_text("x")
    (folder / "sub").mkdir()
    await fails(call, "one of its folders is a file", "write_file", path="file/x", content="x")
    await fails(call, "`sub` is a folder", "write_file", path="sub", content="x")


async def test_writing_outside_or_to_what_steers_the_machine_asks(call, folder, person, tmp_path):
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "out").symlink_to(tmp_path)
    asked = [
        "../x",
        str(tmp_path / "x"),
        "~/.bashrc",
        "~/.ssh/authorized_keys",
        ".git/hooks/pre-commit",
        "/etc/cron.d/x",
        str(tmp_path / "hermes" / "config.yaml"),
        "out/x",
        ".env",
    ]
    for path in asked:
        result = await call("write_file", path=path, content="x")
        assert result.is_error, path
        assert "has not consented" in result.text
    assert len(person.asked) == len(asked)
    assert not (tmp_path / "x").exists()
    person.answer = "once"
    await call("write_file", path="../x", content="x")
    assert (tmp_path / "x").read_text() == "x"


async def test_a_patch_replaces_one_place_and_shows_it(text, folder):
    (folder / "a.py").write_text("one\ntwo\nthree\n")
    told = json.loads(await text("patch", path="a.py", old="two\n", new="2\nzwei\n"))
    assert (folder / "a.py").read_text() == "one\n2\nzwei\nthree\n"
    assert told["replaced"] == 1
    assert "--- a/a.py\n+++ b/a.py\n@@" in told["diff"]
    assert "-two\n+2\n+zwei" in told["diff"]


@pytest.mark.parametrize(
    "data",
    [
        b"one\r\ntwo\r\nthree\r\n",
        b"\xef\xbb\xbfone\ntwo\nthree\n",
        b"\xff\xfe" + "one\r\ntwo\r\nthree".encode("utf-16-le"),
        b"\xe9one\ntwo\nthree",
        b"one\rtwo\r\none\ntwo\nthree",
    ],
)
async def test_a_patch_changes_nothing_else(text, folder, data):
    (folder / "a").write_bytes(data)
    await text("patch", path="a", old="one\ntwo", new="1\n2")
    await text("patch", path="a", old="1\n2", new="one\ntwo")
    assert (folder / "a").read_bytes() == data


async def test_a_patch_that_fits_nowhere_shows_the_nearest_lines(call, folder):
    (folder / "a.py").write_text("def first():\n    return 1\n\ndef second():\n    return 2\n")
    await fails(
        call, "nearest lines are:\n1\tdef first():", "patch", path="a.py", old="def frist():", new="x"
    )
    await fails(call, "2\t    return 1", "patch", path="a.py", old="return 1\nnot there", new="x")
    await fails(call, "read the file again", "patch", path="a.py", old="@@@@@@@@@", new="x")


async def test_a_patch_that_fits_twice_changes_nothing_unless_told_to(call, text, folder):
    (folder / "a").write_text("x = 1\ny\nx = 1\n")
    await fails(call, "2 times, in lines 1, 3", "patch", path="a", old="x = 1", new="z")
    await text("patch", path="a", old="x = 1", new="z", all="true")
    assert (folder / "a").read_text() == "z\ny\nz\n"


async def test_patches_that_cannot_be_are_refused(call, folder, person):
    (folder / "a").write_bytes(b"\xe9a")
    await fails(call, "`old` is empty", "patch", path="a", old="", new="x")
    await fails(call, "the same", "patch", path="a", old="x", new="x")
    await fails(call, "no place for a character", "patch", path="a", old="a", new="€")
    (folder / "b").write_bytes(b"x" * 70_000 + b"\xe9")
    await fails(call, "not utf-8", "patch", path="b", old="xé", new="y")
    assert (await call("patch", path="../a", old="x", new="y")).is_error


async def test_patches_side_by_side_all_arrive(text, folder):
    (folder / "a").write_text("".join(f"<{number}>\n" for number in range(20)))
    await asyncio.gather(
        *(text("patch", path="a", old=f"<{number}>", new=f"[{number}]") for number in range(20))
    )
    assert (folder / "a").read_text() == "".join(f"[{number}]\n" for number in range(20))


@pytest.fixture
def tree(folder):
    for name in (
        "README.md", "src/a.py", "src/deep/b.py", "src/c.txt", ".github/ci.yml", ".git/config",
        "node_modules/x.js", "__pycache__/a.pyc", "env/pyvenv.cfg", "env/lib/x.py",
    ):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"needle in {name}\n")
    return folder


async def test_files_are_listed_nearest_first_without_what_nobody_reads(text, tree):
    assert (await text("list_files")).split("\n") == [
        ".github/", "README.md", "env/", "src/", ".github/ci.yml", "src/a.py", "src/c.txt", "src/deep/",
        "src/deep/b.py",
    ]  # fmt: skip
    assert await text("list_files", pattern="*.py") == "src/a.py\nsrc/deep/b.py"
    assert await text("list_files", pattern="src/*.py") == "src/a.py"
    assert await text("list_files", path="src", pattern="**/b.py") == "deep/b.py"
    assert await text("list_files", pattern="*.none") == "[nothing found]"
    assert (await text("list_files", limit=2)).endswith(
        "[there are more than 2; narrow `path` or `pattern`, or raise `limit`]"
    )


async def test_a_loop_of_links_is_not_walked(text, folder):
    (folder / "loop").symlink_to(folder)
    assert await text("list_files") == "loop/"


async def test_what_cannot_be_listed_is_said(call, tree):
    await fails(call, "`README.md` is a file", "list_files", path="README.md")
    await fails(call, "there is no file `nowhere`", "list_files", path="nowhere")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b", True),
        ("*.py", "a/b/c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/x/y/c.py", True),
        ("**/x/**", "a/x/b", True),
        ("[ab].txt", "b.txt", True),
        ("?.txt", "bb.txt", False),
        ("[", "[", True),
        ("*a" * 40, "a" * 200 + "b", False),
        ("**/" * 200 + "x", "/".join("y" * 200), False),
    ],
)
def test_patterns_of_names(pattern, path, fits):
    assert patterns.matcher(pattern)(path) is fits


async def test_a_search_shows_where(text, tree):
    assert await text("search_files", pattern="need.e") == "\n".join(
        f"{name}:1: needle in {name}"
        for name in ("README.md", ".github/ci.yml", "src/a.py", "src/c.txt", "src/deep/b.py")
    )
    assert await text("search_files", pattern="needle", files="*.py", path="src") == (
        "a.py:1: needle in src/a.py\ndeep/b.py:1: needle in src/deep/b.py"
    )
    assert (
        await text("search_files", pattern="needle", path="README.md") == "README.md:1: needle in README.md"
    )
    assert await text("search_files", pattern="nothing like it") == "[nothing found in 5 files]"
    assert "there are more than 1;" in await text("search_files", pattern="needle", limit=1)


async def test_a_search_leaves_out_secrets_binaries_and_giants(text, folder):
    (folder / ".env").write_text("needle")
    (folder / "key").symlink_to(".env")
    (folder / "binary").write_bytes(b"needle\0")
    (folder / "giant").write_bytes(b"needle\n" + b"x" * 10_000_001)
    found = await text("search_files", pattern="needle")
    assert "needle" not in found
    assert "[2 files that may hold secrets were left out]" in found
    assert "[1 files that are too large were left out]" in found


async def test_long_lines_are_clipped_round_the_match(text, folder):
    (folder / "a").write_text("x" * 5000 + "needle" + "y" * 5000)
    found = await text("search_files", pattern="needle")
    assert "needle" in found
    assert len(found) < 400


async def test_what_is_no_pattern_is_said(call, folder):
    for pattern in ("(", "(" * 5000, "a{99999999999}"):
        await fails(call, "`pattern` is no regular expression", "search_files", pattern=pattern)


async def test_a_search_without_end_is_stopped_and_shows_what_it_has(text, folder, monkeypatch):
    monkeypatch.setattr("hermes.tools.search_files.TIME_LIMIT", 1.5)
    (folder / "a").write_text("aab\n" + "a" * 60 + "c\n")
    started = time.monotonic()
    found = await text("search_files", pattern="^(a|a)+b")
    assert time.monotonic() - started < 4
    assert found.startswith("a:1: aab\n[stopped after")


async def test_a_cancelled_search_ends_its_process(box, folder):
    (folder / "a").write_text("a" * 60 + "c\n")
    task = asyncio.create_task(box.call("search_files", {"pattern": "^(a|a)+b"}))
    await asyncio.sleep(0.2)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 0.5


PLACES = Places(folder="/home/ann/project", home="/home/ann", own="/home/ann/.hermes")


@pytest.mark.parametrize(
    ("path", "secret", "guarded"),
    [
        ("a.txt", False, False),
        ("/home/ann/.ssh/id_rsa", True, True),
        ("/home/ann/.ssh/id_rsa.pub", False, True),
        ("/home/ann/.ssh/known_hosts", False, True),
        ("~/.hermes/.env", True, True),
        ("~/.hermes/config.yaml", True, True),
        ("~/.hermes/cache/web/x.md", False, True),
        ("~/.aws/credentials", True, True),
        (".env", True, True),
        (".env.production", True, True),
        (".env.example", False, False),
        ("environment.py", False, False),
        ("/etc/shadow", True, True),
        ("/etc/hosts", False, True),
        ("/proc/1/environ", True, True),
        ("/proc/self/task/1/environ", True, True),
        ("~/.BASHRC", False, True),
        ("~/.config/fish/config.fish", False, True),
        (".git/hooks/x", False, True),
        (".git/config", False, True),
        (".git/modules/a/b/hooks/x", False, True),
        (".husky/pre-push", False, True),
        (".git/modules/a/config", False, False),
        ("hooks/x", False, False),
        (".git/HEAD", False, False),
        ("/etc/a\nb", False, True),
        ("~/.ssh/a\nb", True, True),
        ("//etc//hosts", False, True),
        ("../../../etc/passwd", False, True),
    ],
)
def test_places_are_judged_by_name(path, secret, guarded):
    full = PLACES.absolute(path)
    assert (PLACES.secret(full) is not None, PLACES.guarded(full) is not None) == (secret, guarded)
