"""Looking for who listens on this machine, with real sockets."""

import asyncio
import socket
import subprocess
import sys
import time

import pytest

from hermes.net.probe import listening
from simulators.scripted import ScriptedServer


@pytest.fixture
def closed_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


async def test_a_port_that_accepts_is_found_and_others_are_not(closed_port):
    async with ScriptedServer(b"") as one, ScriptedServer(b"") as other:
        assert await listening([one.port, closed_port, other.port]) == {one.port, other.port}
        assert one.requests == []


async def test_nothing_to_look_at_is_nothing_found():
    assert await listening([]) == frozenset()
    assert await listening([0, -1, 65536, 99999]) == frozenset()


async def test_nobody_listening_is_seen_at_once(closed_port):
    started = time.perf_counter()
    assert await listening([closed_port]) == frozenset()
    assert time.perf_counter() - started < 0.2


async def test_a_port_that_does_not_answer_is_given_up_in_time():
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for caller in waiting:  # a queue that is full lets the next one wait
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.1", port))
        started = time.perf_counter()
        async with asyncio.timeout(5):
            await listening([port], seconds=0.1)
        assert time.perf_counter() - started < 1
        for caller in waiting:
            caller.close()


def test_looking_needs_no_http_client():
    program = "import sys, hermes.net.probe; print('aiohttp' in sys.modules, 'yarl' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"
