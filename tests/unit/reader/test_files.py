"""A file is read by what it says it is, and refused with the reason."""

import os

import pytest

from hermes.errors import DocumentError
from hermes.tools.web.reader.files import read_file
from hermes.tools.web.reader.text import read_text


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# Heading #\n\nbody", "Heading", "# Heading #\n\nbody"),
        ("intro\n\nHeading\n=======\nbody", "Heading", "intro\n\nHeading\n=======\nbody"),
        ("Heading\n---\nbody", "Heading", "Heading\n---\nbody"),
        ("---\ntitle: 'Front'\nlang: de\n---\n# H\n", "Front", "# H"),
        ("---\nlang: de\n---\n# H\n", "H", "# H"),
        ("---\nno end of it", "name", "---\nno end of it"),
        ("```\n# comment\n```\n## Real", "Real", "```\n# comment\n```\n## Real"),
        ("no heading\r\nat all\r", "name", "no heading\nat all"),
        ("", "name", ""),
    ],
)
def test_the_title_of_a_text_and_its_body(text, title, body):
    page = read_text(text.encode(), "dir/name.md")
    assert (page.title, page.markdown) == (title, body)


def test_front_matter_is_metadata():
    assert read_text(b"---\nauthor: A\ndate: 2026-01-01\nother: x\n---\nbody", "n.md").metadata == {
        "author": "A",
        "date": "2026-01-01",
    }


@pytest.mark.parametrize("name", ["a.md", "a.MARKDOWN", "a.txt", "a.rst", "a", "a.py", "a.json"])
def test_text_of_any_name_is_read(tmp_path, name):
    (tmp_path / name).write_text("plain words")
    page = read_file(str(tmp_path / name))
    assert (page.title, page.markdown) == ("a", "plain words")


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml"])
def test_html_is_read_as_html(tmp_path, name):
    (tmp_path / name).write_text("<p>words</p>")
    page = read_file(str(tmp_path / name))
    assert (page.title, page.markdown) == ("a", "words")


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.bin", b"\x00\x01", "is not text"),
        ("a.dat", b"caf\xe9", "is not text"),
        ("a.log", b"x" * 5_000_001, "larger than 5 MB"),
        ("a.md", b"%PDF-1.4", "is binary"),
        ("a.html", b"\x1f\x8b\x08", "is binary"),
        ("a.pdf", b"hello", "is not a PDF"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path, name, data, reason):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DocumentError, match=reason):
        read_file(str(tmp_path / name))


def test_a_legacy_encoding_is_read_in_a_text_that_says_it_is_one(tmp_path):
    (tmp_path / "a.txt").write_bytes("café".encode("cp1252"))
    assert read_file(str(tmp_path / "a.txt")).markdown == "café"


def test_what_cannot_be_opened_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    with open(tmp_path / "huge.md", "wb") as file:
        file.truncate(50_000_001)
    for path, reason in [
        (tmp_path / "nowhere.md", "No such file"),
        (tmp_path, "not a plain file"),
        (tmp_path / "pipe.md", "not a plain file"),
        (tmp_path / "huge.md", "larger than 50 MB"),
        ("a\x00b", "no valid name"),
    ]:
        with pytest.raises(DocumentError, match=reason):
            read_file(str(path))
