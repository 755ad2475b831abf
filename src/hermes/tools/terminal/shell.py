"""One command in a shell: in a session of its own, its output bounded, its end certain."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import msgspec

from hermes.protocols import progress
from hermes.tools.terminal.output import Output, plain

GRACE = 0.2
"""Seconds between asking a program to end and ending it; and for the last output to arrive."""

_READ_AT_ONCE = 1 << 16


class Ran(msgspec.Struct, frozen=True):
    """How a command went. `runs_on`: something it started in the background has not ended."""

    output: str
    exit_code: int | None
    seconds: float
    timed_out: bool
    runs_on: bool


async def run(command: str, *, folder: str, environment: Mapping[str, str], seconds: float) -> Ran:
    """Run a command; raises `OSError` or `ValueError` when it cannot be started.

    When it takes too long or is cancelled, all that it started is ended too.
    """
    started = time.monotonic()
    output = Output()
    reading, writing = os.pipe()
    try:
        process = await _start(command, folder, environment, writing)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with _listening(reading, output) as silent:
        try:
            timed_out = not await _ended(process, seconds)
            if timed_out:
                await _end(process, reading)
            with suppress(TimeoutError):
                await asyncio.wait_for(silent.wait(), GRACE)
        except asyncio.CancelledError:
            await _end(process, reading)
            raise
        return Ran(
            output=output.text(),
            exit_code=None if timed_out else _exit_code(process.returncode),
            seconds=round(time.monotonic() - started, 3),
            timed_out=timed_out,
            runs_on=not timed_out and not silent.is_set(),
        )


def _exit_code(returned: int | None) -> int | None:
    """As a shell counts it: a program that a signal ended has 128 and the signal's number."""
    return 128 - returned if returned is not None and returned < 0 else returned


async def _start(
    command: str, folder: str, environment: Mapping[str, str], writing: int
) -> asyncio.subprocess.Process:
    # A pipe of our own: asyncio's would make `wait` last until every background child has closed it.
    return await asyncio.create_subprocess_exec(
        shell(),
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )


def shell() -> str:
    """The shell that runs commands: bash where there is one."""
    return next((path for path in ("/bin/bash", "/usr/bin/bash") if os.access(path, os.X_OK)), "/bin/sh")


@contextmanager
def _listening(reading: int, output: Output) -> Iterator[asyncio.Event]:
    """Collect what arrives in a pipe; the event says that nobody can write to it any more."""
    loop, silent = asyncio.get_running_loop(), asyncio.Event()
    os.set_blocking(reading, False)

    def read() -> None:
        with suppress(BlockingIOError):
            data = os.read(reading, _READ_AT_ONCE)
            output.feed(data)
            if data:
                progress.get()(plain(data.decode(errors="replace")))
            if not data:
                loop.remove_reader(reading)
                silent.set()

    loop.add_reader(reading, read)
    try:
        yield silent
    finally:
        loop.remove_reader(reading)
        os.close(reading)


async def _ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether the shell ends by itself in that time."""
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


async def _end(process: asyncio.subprocess.Process, reading: int) -> None:
    """Ask all processes of a command to end, and after a moment end them."""
    try:
        _signal(process.pid, reading, signal.SIGTERM)
        until = time.monotonic() + GRACE
        while time.monotonic() < until and _is_alive(process.pid):  # noqa: ASYNC110 - nobody tells of a group
            await asyncio.sleep(0.01)
    finally:
        _signal(process.pid, reading, signal.SIGKILL)
    await process.wait()


def _signal(group: int, reading: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
    for holder in _holders(reading):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(holder, number)


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _holders(reading: int) -> list[int]:
    """Processes that print into a pipe though they have left the group, where `/proc` can tell."""
    pipe = f"pipe:[{os.fstat(reading).st_ino}]"
    try:
        others = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []
    return [pid for pid in others if pid != os.getpid() and _prints_into(pid, pipe)]


def _prints_into(pid: int, pipe: str) -> bool:
    for number in (1, 2):
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{number}") == pipe:
                return True
    return False
