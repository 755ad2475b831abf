"""Adding reads what changed, forgets what is gone, and lets one bad file fail alone."""

import os

import pytest

from hermes.index import AddReport, DocumentInfo
from hermes.index import adding as adding_module
from hermes.protocols import Page


def titles(index):
    return sorted(document.title for document in index.list())


def test_a_folder_is_walked_and_its_documents_have_encoded_addresses(open_index, folder, read):
    (folder / "a b#c?é.md").write_text("# Odd\n\nname")
    index = open_index()
    assert index.add([str(folder)], read) == AddReport(added=4)
    urls = [document.url for document in index.list()]
    assert f"file://{folder}/a%20b%23c%3F%C3%A9.md" in urls
    assert index.get(f"file://{folder}/a%20b%23c%3F%C3%A9.md#x").title == "a b#c?é"


def test_list_tells_title_and_length(open_index, folder, read):
    index = open_index()
    index.add([str(folder / "steam.md")], read)
    assert index.list() == [DocumentInfo(f"file://{folder}/steam.md", "steam", 48)]


def test_what_did_not_change_is_not_read_again(open_index, folder, read):
    index = open_index()
    index.add([str(folder)], read)
    read.paths.clear()
    assert index.add([str(folder)], read) == AddReport(unchanged=3)
    assert read.paths == []


def test_a_new_time_alone_is_no_change(open_index, folder, read):
    index = open_index()
    index.add([str(folder)], read)
    read.paths.clear()
    os.utime(folder / "steam.md", ns=(1, 1))
    assert index.add([str(folder)], read) == AddReport(unchanged=3)
    os.utime(folder / "steam.md", ns=(1, 1))
    assert index.add([str(folder)], read).unchanged == 3
    assert read.paths == []


def test_changed_content_replaces_the_old(open_index, folder, read):
    index = open_index()
    index.add([str(folder)], read)
    (folder / "steam.md").write_text("# Steam\n\nTurbines now.\n")
    assert index.add([str(folder)], read) == AddReport(updated=1, unchanged=2)
    assert [found.title for found in index.search("turbines", 3)] == ["steam"]
    assert list(index.search("boiler", 3)) == []


def test_files_gone_from_a_folder_are_forgotten_and_others_stay(open_index, folder, read, tmp_path):
    beside = tmp_path / "files-beside.md"
    beside.write_text("# Beside\n\nx")
    index = open_index()
    index.add([str(folder), str(beside)], read)
    beside.unlink()
    (folder / "deep" / "net.md").unlink()
    assert index.add([str(folder)], read) == AddReport(unchanged=2, removed=1)
    assert titles(index) == ["files-beside", "normans", "steam"]
    assert list(index.search("packets", 3)) == []


def test_a_failure_stays_with_its_file_and_the_old_text_stays_with_us(open_index, folder, read):
    index = open_index()
    index.add([str(folder)], read)
    (folder / "steam.md").write_text("BROKEN")
    (folder / "empty.md").write_text(" \n")
    report = index.add([str(folder), str(folder / "nothing.md")], read)
    assert report.failed == (
        (str(folder / "empty.md"), "has no text"),
        (str(folder / "steam.md"), "is broken"),
        (str(folder / "nothing.md"), "cannot be read: No such file or directory"),
    )
    assert index.search("boiler", 1)[0].title == "steam"


def test_hidden_binary_and_foreign_things_are_passed_over(open_index, folder, read):
    for name in (".git", "node_modules", ".hidden"):
        (folder / name).mkdir()
        (folder / name / "x.md").write_text("# X\n\nx")
    (folder / ".secret.md").write_text("# S\n\ns")
    (folder / "photo.PNG").write_bytes(b"\x89PNG")
    os.mkfifo(folder / "pipe.md")
    index = open_index()
    assert index.add([str(folder)], read) == AddReport(added=3)
    assert index.add([str(folder / "pipe.md")], read).failed == (
        (str(folder / "pipe.md"), "is not a plain file"),
    )


def test_links_are_followed_once_and_loops_end(open_index, folder, read, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "far.md").write_text("# Far\n\nfar away")
    (folder / "linked").symlink_to(elsewhere)
    (folder / "loop").symlink_to(folder)
    (folder / "deep" / "up").symlink_to(folder)
    (folder / "dangling.md").symlink_to(tmp_path / "nowhere")
    index = open_index()
    report = index.add([str(folder)], read)
    assert (report.added, report.failed) == (4, ())
    assert "far" in titles(index)


def test_a_file_over_the_cap_is_refused_unread(open_index, folder, read):
    with open(folder / "huge.md", "wb") as file:
        file.truncate(50_000_001)
    report = open_index().add([str(folder / "huge.md")], read)
    assert report.failed == ((str(folder / "huge.md"), "is larger than 50 MB"),)
    assert read.paths == []


def test_a_path_given_twice_is_read_once_and_relative_ones_are_made_absolute(
    open_index, folder, read, monkeypatch
):
    monkeypatch.chdir(folder)
    index = open_index()
    assert index.add(["steam.md", "./steam.md", str(folder / "steam.md")], read).added == 1
    assert index.list()[0].url == f"file://{folder}/steam.md"


def test_a_name_that_is_no_text_survives(open_index, folder, read):
    name = os.fsencode(folder) + b"/caf\xe9.md"
    try:
        with open(name, "wb") as file:
            file.write(b"# Latin\n\nname")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    index = open_index()
    index.add([str(folder)], read)
    assert f"file://{folder}/caf%E9.md" in [document.url for document in index.list()]
    os.unlink(name)
    assert index.add([str(folder)], read).removed == 1


def test_progress_is_told_before_each_file(open_index, folder, read):
    calls = []
    open_index().add(
        [str(folder)], read, lambda done, total, path: calls.append((done, total, os.path.basename(path)))
    )
    assert calls == [(0, 3, "normans.md"), (1, 3, "steam.md"), (2, 3, "net.md")]


def test_batches_are_written_as_they_fill(open_index, tmp_path, monkeypatch):
    monkeypatch.setattr(adding_module, "BATCH_DOCUMENTS", 2)
    folder = tmp_path / "five"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.md").write_text(f"{number}")
    index = open_index(tmp_path / "index.db")
    watcher = open_index(tmp_path / "index.db")
    seen = []

    def read(path):
        seen.append(len(watcher.list()))
        return Page(f"text of {path}", "t")

    index.add([str(folder)], read)
    assert seen == [0, 0, 2, 2, 4]
    assert len(watcher.list()) == 5


def test_remove_by_path_by_address_and_by_folder(open_index, folder, read):
    index = open_index()
    index.add([str(folder)], read)
    assert index.remove([str(folder / "steam.md")]) == 1
    assert index.remove([f"file://{folder}/normans.md"]) == 1
    assert index.remove([str(folder / "dee"), "file:///nowhere", "https://example.org/"]) == 0
    assert index.remove([f"{folder}/deep/"]) == 1
    assert list(index.list()) == []
    assert list(index.search("packets", 3)) == []


def test_the_index_stays_small_when_documents_come_and_go(open_index, folder, read):
    index = open_index()
    for text in ("one", "two", "three"):
        (folder / "steam.md").write_text(f"# Steam\n\n{text}")
        index.add([str(folder)], read)
    rows = index._database.read(
        lambda connection: connection.execute("SELECT count(*) FROM passages").fetchone()
    )
    assert rows == (3,)
