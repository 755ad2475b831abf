"""Which ports of this machine somebody listens on. Nothing is sent, and no other machine is asked."""

import asyncio
from collections.abc import Collection

LOOPBACK = ("127.0.0.1", "::1")


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
    for host in LOOPBACK:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            continue
        writer.transport.abort()
        return True
    return False
