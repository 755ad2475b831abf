"""The process that reads: documents on stdin, pages on stdout, one after the other, and nothing else touched.

A document that takes too long or too much memory ends the process and not the one that asked.
"""

import mmap
import signal
import sys
from typing import BinaryIO

import msgspec

from hermes.errors import DocumentError
from hermes.protocols import Page
from hermes.tools.web.reading.documents import read
from hermes.tools.web.reading.jobs import LENGTH, Job, Outcome

try:
    import resource
except ImportError:  # Windows has no such limits; the time limit of the caller remains
    resource = None  # type: ignore[assignment]

MAX_MEMORY = 1 << 30
MAX_CPU = 5.0
MAX_CPU_FOR_PDF = 10.0
PLENTY = 96 << 20
"""A process that has grown beyond this is not asked again."""

MAX_CHARACTERS = 2_000_000


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Read documents until there are no more, or this process is spent."""
    while head := source.read(LENGTH):
        job = msgspec.msgpack.decode(source.read(int.from_bytes(head, "big")), type=Job)
        outcome = _outcome(job, source.read(job.size))
        answer = msgspec.msgpack.encode(outcome)
        sink.write(len(answer).to_bytes(LENGTH, "big") + answer)
        sink.flush()
        if outcome.spent:
            break


def _outcome(job: Job, body: bytes) -> Outcome:
    is_pdf = b"%PDF-" in body[:1024]
    _count_time(MAX_CPU_FOR_PDF if is_pdf else MAX_CPU)
    try:
        page = read(body, job.content_type, job.url)
    except DocumentError as error:
        return Outcome(error=str(error), spent=is_pdf or _used() > PLENTY)
    except (MemoryError, RecursionError):
        return Outcome(error="needs too much memory to read", spent=True)
    finally:
        _count_time(0)
    # A hostile PDF may have taken the process over: it opens nothing else.
    return Outcome(_bounded(page), spent=is_pdf or _used() > PLENTY)


def _bounded(page: Page) -> Page:
    if len(page.markdown) <= MAX_CHARACTERS:
        return page
    note = f"its text is longer than {MAX_CHARACTERS} characters; the rest was left out"
    return msgspec.structs.replace(page, markdown=page.markdown[:MAX_CHARACTERS], notes=(*page.notes, note))


def _used() -> int:
    """The bytes that this process holds, where the system tells it in a file."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def _count_time(seconds: float) -> None:
    """End this process after so much work, whatever else the machine does; 0 stops counting."""
    if resource is not None:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit() -> None:
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limit()
    serve(sys.stdin.buffer, sys.stdout.buffer)
