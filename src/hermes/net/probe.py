"""Which ports of this machine somebody listens on. Nothing is sent, and no other machine is asked."""

import asyncio
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"


async def listening(ports: Collection[int], seconds: float = 0.3) -> frozenset[int]:
    """Those of the ports that accept a connection within so many seconds, all tried at once."""
    tries = {port: asyncio.ensure_future(_accepts(port)) for port in ports if 0 < port < 65536}
    if not tries:
        return frozenset()
    _, late = await asyncio.wait(tries.values(), timeout=seconds)
    for attempt in late:
        attempt.cancel()
    if late:
        await asyncio.wait(late)
    return frozenset(port for port, attempt in tries.items() if not attempt.cancelled() and attempt.result())


async def _accepts(port: int) -> bool:
    """A bare socket: this is on the way of every first question, and streams cost ten times as much."""
    with socket.socket() as caller:
        caller.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(caller, (LOOPBACK, port))
        except OSError:
            return False
        return True
