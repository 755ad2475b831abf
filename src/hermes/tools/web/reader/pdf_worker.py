"""The process that opens one PDF: bytes on stdin, one JSON object on stdout, nothing else touched."""

import sys

import msgspec
import pypdfium2

try:
    import resource
except ImportError:  # Windows has no such limits; the time limit of the caller remains
    resource = None  # type: ignore[assignment]

MAX_PAGES = 2_000
MAX_CHARACTERS = 20_000_000
MAX_MEMORY = 2 << 30
MAX_CPU = 20

_PASSWORD_NEEDED = 4


def read(data: bytes) -> dict[str, object]:
    """The title, author, text and notes of a PDF, or an `error`."""
    try:
        with pypdfium2.PdfDocument(data) as document:
            return _contents(document)
    except pypdfium2.PdfiumError as error:
        is_encrypted = getattr(error, "err_code", None) == _PASSWORD_NEEDED
        return {"error": "is encrypted" if is_encrypted else "is not a readable PDF"}
    except MemoryError:
        return {"error": "needs too much memory to read"}


def _contents(document: pypdfium2.PdfDocument) -> dict[str, object]:
    count = len(document)
    notes = [f"only the first {MAX_PAGES} of {count} pages were read"] if count > MAX_PAGES else []
    texts: list[str] = []
    room = MAX_CHARACTERS
    for number in range(min(count, MAX_PAGES)):
        text = _page_text(document, number)
        texts += [text[:room]] if text else []
        room -= len(text)
        if room <= 0:
            notes.append(f"the text is longer than {MAX_CHARACTERS} characters; the rest was left out")
            break
    if not texts:
        notes.append("no text was found; the pages may be images")
    return {
        "title": _field(document, "Title"),
        "author": _field(document, "Author"),
        "text": "\n\n".join(texts),
        "notes": notes,
    }


def _field(document: pypdfium2.PdfDocument, key: str) -> str:
    return " ".join(_plain(document.get_metadata_value(key)).split())[:500]


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str:
    """The text of one page; a page that is broken has none."""
    try:
        page = document[number]
        text = page.get_textpage().get_text_range(errors="replace")
        page.close()
    except pypdfium2.PdfiumError:
        return ""
    lines = _plain(text.replace("\r\n", "\n").replace("\ufffe\n", "").replace("\ufffe", "")).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def _plain(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _limit() -> None:
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU))


if __name__ == "__main__":
    _limit()
    sys.stdout.buffer.write(msgspec.json.encode(read(sys.stdin.buffer.read())))
