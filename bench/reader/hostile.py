"""Pages that break readers: `python -m bench.reader.hostile [NAME…]` reads each in a process of its own.

For each it prints the CPU seconds, how much the process grew, whether the content came out, and the notes.
"""

import gzip
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

import hermes
from hermes.errors import DocumentError

SECONDS = 5.0
MEBIBYTES = 256.0

_TEXT = "<p>The first words of the page, which are many enough to be a paragraph of their own, END.</p>"
_BLOCK = "<div><p>A small block of text that is repeated.</p></div>"

CASES: dict[str, Callable[[], bytes | str]] = {
    "59 MB of small blocks": lambda: _TEXT + _BLOCK * (59_000_000 // len(_BLOCK)),
    "50 MB in one paragraph": lambda: _TEXT + "<p>" + "words of text " * (50_000_000 // 14),
    "50 MB without a space": lambda: _TEXT + "<p>" + "x" * 50_000_000,
    "10,000 nested div": lambda: "<div>" * 10_000 + _TEXT,
    "100,000 nested div": lambda: "<div>" * 100_000 + _TEXT,
    "1,000,000 nested div": lambda: "<div>" * 1_000_000 + _TEXT,
    "20,000 nested lists": lambda: "<ul><li>" * 20_000 + _TEXT,
    "15,000 open formatting tags": lambda: "".join(f"<b id={n}><i><u><em><s>" for n in range(3_000)) + _TEXT,
    "15,000 open tags in paragraphs": lambda: "".join(f"<p><b id={n}>x" for n in range(15_000)) + _TEXT,
    "100,000 attributes on one tag": lambda: (
        "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x</p>" + _TEXT
    ),
    "20 MB attribute": lambda: _TEXT + f'<p title="{"x" * 19_900_000}">x</p>',
    "20 MB comment": lambda: f"<!--{'x' * 19_900_000}-->{_TEXT}",
    "20 MB script": lambda: f"<script>{'x' * 19_900_000}</script>{_TEXT}",
    "60 MB comment first": lambda: f"<!--{'x' * 60_000_000}-->{_TEXT}",
    "100 MB in one line": lambda: _TEXT.encode() + b"x" * 100_000_000,
    "NULs": lambda: _TEXT.replace(" ", "\0 ").encode(),
    "wrong charset": lambda: f"<meta charset=utf-8>{_TEXT} caf\xe9".encode("cp1252"),
    "missing charset": lambda: f"{_TEXT} caf\xe9".encode("cp1252"),
    "UTF-16": lambda: _TEXT.encode("utf-16"),
    "UTF-16 without a mark": lambda: _TEXT.encode("utf-16-le"),
    "1 MB of binary": lambda: b"".join([bytes(range(256))] * 4_000),
    "gzip given as HTML": lambda: gzip.compress(_TEXT.encode() * 1_000),
}


class Outcome(msgspec.Struct):
    seconds: float
    growth: float
    kept: bool
    notes: tuple[str, ...]

    @property
    def is_fine(self) -> bool:
        """Within the limits, and what was lost is said."""
        return self.seconds <= SECONDS and self.growth <= MEBIBYTES and (self.kept or bool(self.notes))


def read(name: str) -> Outcome:
    """Read one case in this process; what it cost besides making the page."""
    page = CASES[name]()
    hermes.read_html("<p>The first call loads the model.</p>")
    before, started = _peak(), time.process_time()
    try:
        found = hermes.read_html(page, "https://www.example.org/")
        kept, notes = "END" in found.markdown, found.notes
    except DocumentError as error:
        kept, notes = False, (f"refused: {error}",)
    return Outcome(time.process_time() - started, _peak() - before, kept, notes)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(name: str) -> Outcome:
    """Read one case in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.reader.hostile", "--child", name], capture_output=True, check=True
    )
    return msgspec.json.decode(done.stdout, type=Outcome)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        sys.stdout.buffer.write(msgspec.json.encode(read(sys.argv[2])))
        return
    for name in sys.argv[1:] or CASES:
        outcome = apart(name)
        told = "kept" if outcome.kept else "not kept"
        sign = "ok  " if outcome.is_fine else "FAIL"
        print(
            f"{sign} {name:32} {outcome.seconds:5.2f} s  +{outcome.growth:4.0f} MiB  {told}; "
            + "; ".join(outcome.notes),
            flush=True,
        )


if __name__ == "__main__":
    main()
