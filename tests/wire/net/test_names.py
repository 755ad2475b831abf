"""Host names: found as the system finds them, and never waited for at the end."""

import asyncio
import socket
import threading
import time

import pytest

from hermes.net.names import Resolver

V6_HERE = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fe80::1", 80, 0, 2))


async def test_a_name_leads_to_addresses_in_figures():
    found = await Resolver().resolve("localhost", 8080, socket.AF_INET)
    assert [(one["hostname"], one["host"], one["port"]) for one in found] == [
        ("localhost", "127.0.0.1", 8080)
    ]
    assert found[0]["flags"] == socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


async def test_an_address_on_an_interface_keeps_it(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [V6_HERE])
    assert [one["host"] for one in await Resolver().resolve("here.example", 80)] == ["fe80::1%2"]


@pytest.mark.parametrize("name", ["nobody.invalid", "x" * 64 + ".example"])
async def test_a_name_that_cannot_be_found_is_an_error_of_the_system(name, monkeypatch):
    def fail(host, *_):
        host.encode("idna")
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(OSError, match=r"unknown|label"):
        await Resolver().resolve(name)


def test_a_lookup_that_hangs_keeps_nothing_from_ending(monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: gate.wait(20) and [])

    async def ask():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await Resolver().resolve("slow.example")

    began = time.monotonic()
    asyncio.run(ask())
    assert time.monotonic() - began < 10
    gate.set()
