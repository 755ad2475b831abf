"""Names of hosts, looked up in threads that nobody waits for."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV

Found = Sequence[tuple[Any, ...]]


class Resolver(AbstractResolver):
    """The system's own lookup. It cannot be cancelled and may take half a minute where there is no network,
    so it runs in a thread that does not keep a command from ending.
    """

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        # Windows finds no `localhost` among the addresses of a machine without a network.
        flags = 0 if host == "localhost" and os.name == "nt" else socket.AI_ADDRCONFIG
        found = await _in_background(
            lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, flags)
        )
        return [
            ResolveResult(
                hostname=host,
                host=_written(address),
                port=address[1],
                family=kind,
                proto=proto,
                flags=_NUMERIC,
            )
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None:
        pass


def _written(address: Sequence[Any]) -> str:
    """An address in figures, with the interface that it is on where that matters."""
    is_on_interface = len(address) == 4 and address[3]
    return f"{address[0].partition('%')[0]}%{address[3]}" if is_on_interface else str(address[0])


async def _in_background(look_up: Callable[[], Found]) -> Found:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Found] = loop.create_future()

    def tell(result: Found | OSError) -> None:
        if found.done():
            return
        if isinstance(result, OSError):
            found.set_exception(result)
        else:
            found.set_result(result)

    def work() -> None:
        result: Found | OSError
        try:
            result = look_up()
        except OSError as error:
            result = error
        except UnicodeError as error:
            result = OSError(str(error))
        with suppress(RuntimeError):  # the loop has ended, and with it who asked
            loop.call_soon_threadsafe(tell, result)

    threading.Thread(target=work, daemon=True).start()
    return await found
