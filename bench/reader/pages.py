"""Pages with gold text: every `*.jsonl.xz` of a folder, in the format of the extraction sets."""

import base64
import lzma
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec


class Sample(msgspec.Struct):
    """One page and what is known to belong to its content."""

    id: str
    url: str
    type: str = ""
    lang: str = ""
    html: str = ""
    html_b64: str = ""
    text: str | None = None
    must: list[str] = msgspec.field(name="with", default_factory=list)
    must_not: list[str] = msgspec.field(name="without", default_factory=list)
    title: str | None = None
    author: str | None = None
    date: str | None = None
    structure: dict[str, list] | None = None

    @property
    def source(self) -> bytes | str:
        """The HTML as it was stored: text, or bytes of an encoding of its own."""
        return base64.b64decode(self.html_b64) if self.html_b64 else self.html

    @property
    def domain(self) -> str:
        """The host without its first label, so that the parts of a site stay together."""
        labels = (urlsplit(self.url).hostname or self.id).removeprefix("www.").split(".")
        return ".".join(labels[-2:] if len(labels[-2:][0]) > 3 else labels[-3:])


def load(folder: str) -> Iterator[Sample]:
    """Every page below a folder, in the order of the files' names."""
    for file in sorted(Path(folder).glob("*.jsonl.xz")):
        with lzma.open(file, "rb") as lines:
            for line in lines:
                yield msgspec.json.decode(line, type=Sample)
