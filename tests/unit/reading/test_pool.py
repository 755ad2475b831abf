"""The processes that read: used again, ended when spent, stuck, cancelled or closed."""

import asyncio
import io
import os
import sys
import textwrap

import msgspec
import pytest

from hermes.errors import DocumentError
from hermes.protocols import Fetched
from hermes.tools.web.reading import jobs, worker
from hermes.tools.web.reading.pool import ReadingPool, cores
from hermes.tools.web.reading.worker import MAX_CHARACTERS


def page(body=b"<title>T</title><p>words", told="text/html", url="https://x.example/"):
    return Fetched(url, 200, told, body)


def scripted(code):
    """A worker that does something else with the first document it gets."""
    lines = f"""
        import os, signal, sys, time
        from hermes.tools.web.reading.jobs import *
        import msgspec
        head = sys.stdin.buffer.read(LENGTH)
        {code}
    """
    return (sys.executable, "-c", textwrap.dedent(lines))


@pytest.fixture
async def pools():
    made = []

    def make(*args, **settings):
        made.append(ReadingPool(*args, **settings))
        return made[-1]

    yield make
    for pool in made:
        await pool.close()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def pids(pool):
    return [(await worker._started)._process.pid for worker in pool._all]


async def test_one_process_reads_one_document_after_the_other(pools):
    pool = pools(1)
    for n in range(3):
        read = await pool.read(page(b"<title>%d</title><p>words" % n))
        assert (read.title, read.markdown) == (str(n), "words")
    assert len(await pids(pool)) == 1


async def test_many_are_read_side_by_side_by_no_more_processes_than_there_is_room_for(pools):
    pool = pools(2)
    pool.prepare(40)
    read = await asyncio.gather(*(pool.read(page(b"<p>%d" % n)) for n in range(40)))
    assert [one.markdown for one in read] == [str(n) for n in range(40)]
    assert len(await pids(pool)) == 2


async def test_a_document_without_text_is_an_error_and_the_process_goes_on(pools):
    pool = pools(1)
    with pytest.raises(DocumentError, match="PNG"):
        await pool.read(page(b"\x89PNG\r\n\x1a\n"))
    before = await pids(pool)
    await pool.read(page())
    assert await pids(pool) == before


async def test_a_process_that_opened_a_pdf_opens_nothing_else(pools):
    pool = pools(1)
    pool.prepare(1)
    [pid] = await pids(pool)
    with pytest.raises(DocumentError, match="not a readable PDF"):
        await pool.read(page(b"%PDF-1.4 nothing"))
    assert not is_alive(pid)
    assert (await pool.read(page())).title == "T"


def test_a_process_that_has_grown_reads_nothing_more(monkeypatch):
    monkeypatch.setattr(worker, "_used", lambda: worker.PLENTY + 1)
    head = msgspec.msgpack.encode(jobs.Job("https://x.example/", "text/html", 8))
    job = len(head).to_bytes(jobs.LENGTH, "big") + head + b"<p>words"
    sink = io.BytesIO()
    worker.serve(io.BytesIO(job * 3), sink)
    size = int.from_bytes(sink.getvalue()[: jobs.LENGTH], "big")
    assert len(sink.getvalue()) == jobs.LENGTH + size
    outcome = msgspec.msgpack.decode(sink.getvalue()[jobs.LENGTH :], type=jobs.Outcome)
    assert (outcome.page.markdown, outcome.spent) == ("words", True)


def test_a_process_knows_what_it_holds():
    assert worker._used() == 0 or worker._used() > 1 << 20


async def test_a_text_without_end_is_cut_and_says_so(pools):
    read = await pools(1).read(page(b"word " * 1_000_000, "text/plain"))
    assert len(read.markdown) == MAX_CHARACTERS
    assert "the rest was left out" in read.notes[-1]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sys.exit(1)", "broke down"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "broke down"),
        ("os.kill(os.getpid(), signal.SIGPROF)", "takes too long"),
        ("os.write(1, b'half')", "broke down"),
    ],
)
async def test_a_process_that_breaks_down_is_an_error_of_that_document_alone(code, reason, pools):
    with pytest.raises(DocumentError, match=reason):
        await pools(1, command=scripted(code)).read(page(b"x" * 1_000_000))


async def test_a_process_that_does_not_start_is_an_error(pools):
    with pytest.raises(DocumentError, match="no process starts"):
        await pools(1, command=("/nowhere/at/all",)).read(page())


async def test_a_process_that_hangs_is_ended(pools):
    pool = pools(1, command=scripted("time.sleep(60)"), seconds=0.2)
    pool.prepare(1)
    [pid] = await pids(pool)
    with pytest.raises(DocumentError, match=r"longer than 0\.2 seconds"):
        await pool.read(page())
    assert not is_alive(pid)


async def test_who_cancels_ends_the_process(pools):
    pool = pools(1, command=scripted("time.sleep(60)"))
    pool.prepare(1)
    [pid] = await pids(pool)
    reading = asyncio.ensure_future(pool.read(page()))
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not is_alive(pid)


async def test_closing_ends_them_all_also_those_at_work(pools):
    pool = pools(2, command=scripted("time.sleep(60)"))
    pool.prepare(2)
    started = await pids(pool)
    reading = asyncio.ensure_future(pool.read(page()))
    await asyncio.sleep(0.05)
    await pool.close()
    assert not any(map(is_alive, started))
    with pytest.raises(DocumentError):
        await reading


async def test_a_process_is_given_no_secret(pools, monkeypatch):
    monkeypatch.setenv("EXA_API_KEY", "sk-secret")
    code = """
        answer = msgspec.msgpack.encode(Outcome(error=repr(dict(os.environ)), spent=True))
        sys.stdout.buffer.write(len(answer).to_bytes(LENGTH, "big") + answer)
    """
    with pytest.raises(DocumentError) as caught:
        await pools(1, command=scripted(textwrap.dedent(code).strip().replace("\n", "\n        "))).read(
            page()
        )
    assert "sk-secret" not in str(caught.value)
    assert "EXA" not in str(caught.value)


def test_there_is_at_least_one_core():
    assert cores() >= 1
    assert jobs.LENGTH == 4
