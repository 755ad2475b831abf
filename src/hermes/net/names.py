"""Names of hosts, looked up in threads that nobody waits for."""

import os
import socket
from collections.abc import Sequence
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from hermes.threads import in_thread

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Resolver(AbstractResolver):
    """The system's own lookup. It cannot be cancelled and may take half a minute where there is no network,
    so it runs in a thread that does not keep a command from ending.
    """

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        # Windows finds no `localhost` among the addresses of a machine without a network.
        flags = 0 if host == "localhost" and os.name == "nt" else socket.AI_ADDRCONFIG
        found: Sequence[tuple[Any, ...]]
        try:
            found = await in_thread(
                lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, flags)
            )
        except UnicodeError as error:
            raise OSError(str(error)) from error
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
