"""PDF is read in a process of its own, which may break without harm."""

import os
import sys

import pytest

from hermes.errors import DocumentError
from hermes.tools.web.reader import pdf as pdf_module
from hermes.tools.web.reader import pdf_worker
from hermes.tools.web.reader.files import read_file
from hermes.tools.web.reader.pdf import read_pdf


def make_pdf(*pages: str, title: str = "", trailer: str = "") -> bytes:
    """A small but whole PDF with one line of text a page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        box = f"/MediaBox [0 0 612 792] {resources}"
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {box} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) /Author (An Author) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    roots = f"/Size {size} /Root 1 0 R /Info {size - 1} 0 R {trailer}"
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< {roots} >>"
    return out + f"{end}\nstartxref\n{len(out)}\n%%EOF\n".encode("latin-1")


def test_pages_are_joined_by_blank_lines():
    page = read_pdf(make_pdf("First page.", "Second page.", title="The Title"))
    assert page.markdown == "First page.\n\nSecond page."
    assert page.title == "The Title"
    assert page.metadata == {"author": "An Author"}
    assert page.notes == ()


def test_a_pdf_without_a_title_is_named_by_its_file(tmp_path):
    (tmp_path / "report.pdf").write_bytes(make_pdf("x"))
    assert read_file(str(tmp_path / "report.pdf")).title == "report"


def test_an_encrypted_pdf_is_told_from_a_broken_one():
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{'41' * 32}> /U <{'42' * 32}> /P -4 >>"
    with pytest.raises(DocumentError, match="is encrypted"):
        read_pdf(make_pdf("secret", trailer=f"{lock} /ID [<{'43' * 16}> <{'43' * 16}>]"))


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"%PDF-1.4", b"%PDF-1.4\n" + bytes(5_000), b"%PDF-1.7\n" + os.urandom(5_000)],
    ids=["empty", "text", "magic only", "zeroes", "noise"],
)
def test_garbage_is_refused(data):
    with pytest.raises(DocumentError):
        read_pdf(data)


def test_a_cut_pdf_is_read_or_refused():
    whole = make_pdf("one", "two")
    results = [pdf_worker.read(whole[:end]) for end in range(0, len(whole), 53)]
    assert {"error": "is not a readable PDF"} in results
    assert all(result.get("error") == "is not a readable PDF" or "text" in result for result in results)


def test_a_pdf_without_text_says_so():
    page = read_pdf(make_pdf(""))
    assert page.markdown == ""
    assert page.notes == ("no text was found; the pages may be images",)


def test_caps_on_pages_and_characters_are_noted(monkeypatch):
    monkeypatch.setattr(pdf_worker, "MAX_PAGES", 2)
    found = pdf_worker.read(make_pdf("one", "two", "three"))
    assert (found["text"], found["notes"]) == ("one\n\ntwo", ["only the first 2 of 3 pages were read"])
    monkeypatch.setattr(pdf_worker, "MAX_CHARACTERS", 2)
    assert pdf_worker.read(make_pdf("one"))["text"] == "on"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import time; time.sleep(60)", "took longer"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "broke down"),
        ("print('noise')", "broke down"),
    ],
)
def test_a_worker_that_hangs_or_dies_is_an_error_of_the_document(monkeypatch, script, reason):
    monkeypatch.setattr(pdf_module, "_WORKER", (sys.executable, "-c", script))
    monkeypatch.setattr(pdf_module, "TIME_LIMIT", 0.5)
    with pytest.raises(DocumentError, match=reason):
        read_pdf(b"%PDF-1.4")


def test_a_worker_that_cannot_start_is_an_error_of_the_document(monkeypatch, tmp_path):
    monkeypatch.setattr(pdf_module, "_WORKER", (str(tmp_path / "nowhere"),))
    with pytest.raises(DocumentError, match="did not start"):
        read_pdf(b"%PDF-1.4")


def test_the_worker_sees_no_secret_and_no_module_of_the_current_folder(monkeypatch, tmp_path):
    (tmp_path / "hermes").mkdir()
    (tmp_path / "hermes" / "__init__.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    assert read_pdf(make_pdf("safe")).markdown == "safe"
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    spy = "import json, os; print(json.dumps({'text': ' '.join(os.environ.values())}))"
    monkeypatch.setattr(pdf_module, "_WORKER", (sys.executable, "-c", spy))
    assert "hunter2" not in read_pdf(b"%PDF-1.4").markdown
