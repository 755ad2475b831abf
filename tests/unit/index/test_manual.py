"""The manual is always part of the index, and a warm open costs next to nothing."""

import os

import pytest

from hermes.index import documents, manual_folder
from hermes.index.manual import pages


@pytest.fixture
def manual(tmp_path):
    folder = tmp_path / "manual"
    (folder / "guides").mkdir(parents=True)
    (folder / "guides" / "install it.md").write_text("# Installing\n\nRun the wheel of fortune.\n")
    (folder / "start.md").write_text("No heading, only turnips.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "generated").mkdir()
    (folder / "generated" / "settings.md").write_text("# All settings\n\nA table of fortune.\n")
    return folder


def test_the_manual_is_found_under_its_own_scheme(open_index, manual):
    index = open_index(None, manual)
    assert [(document.url, document.title) for document in index.list()] == [
        ("hermes://docs/guides/install%20it.md", "Installing"),
        ("hermes://docs/start.md", "start"),
    ]
    assert index.search("fortune", 1)[0].url == "hermes://docs/guides/install%20it.md"
    assert index.get("hermes://docs/start.md#top").text == "No heading, only turnips.\n"


def test_changes_are_taken_over_on_open(open_index, manual, tmp_path):
    open_index(tmp_path / "index.db", manual).close()
    (manual / "start.md").write_text("# Start\n\nNow parsnips.\n")
    (manual / "guides" / "install it.md").unlink()
    (manual / "new.md").write_text("# New\n\nx\n")
    index = open_index(tmp_path / "index.db", manual)
    assert [document.title for document in index.list()] == ["New", "Start"]
    assert index.search("parsnips", 1)[0].title == "Start"


def test_a_warm_open_reads_no_page_and_writes_nothing(open_index, manual, tmp_path, monkeypatch):
    open_index(tmp_path / "index.db", manual).close()

    def unexpected(*_):
        raise AssertionError("a page was read again")

    monkeypatch.setattr(documents, "_page", unexpected)
    before = os.stat(tmp_path / "index.db").st_mtime_ns
    index = open_index(tmp_path / "index.db", manual)
    assert index.notices == ()
    assert index._database.read(lambda connection: connection.total_changes) == 0
    assert os.stat(tmp_path / "index.db").st_mtime_ns == before


def test_the_manual_cannot_be_removed_and_user_files_are_not_the_manual(open_index, manual, folder, read):
    index = open_index(None, manual)
    index.add([str(folder)], read)
    assert index.remove(["hermes://docs/start.md", "hermes://docs"]) == 0
    assert len(index.list()) == 5


def test_without_a_manual_folder_only_a_notice_is_given(open_index, tmp_path):
    index = open_index(None, tmp_path / "nowhere")
    assert "manual" in index.notices[0]
    assert list(index.search("anything", 3)) == []


def test_the_manual_of_this_checkout_is_found():
    folder = manual_folder()
    assert folder is not None
    assert os.path.basename(folder) in ("docs", "_docs")
    assert all(
        url.startswith("hermes://docs/") and path.endswith(".md")
        for url, (path, _, _) in pages(folder).items()
    )
