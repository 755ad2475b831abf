"""A network of pretence: every connection ends at one server on loopback, which knows where it was to go.

`Sentinel.new_socket` makes the sockets of a client: what they connect to is written down and redirected.
`Names` answers lookups from a table. Both stand where the real ones do, so that nothing else differs.
"""

import socket
from urllib.parse import unquote

from aiohttp.abc import AbstractResolver, ResolveResult

from simulators.scripted import Exchange, ScriptedServer


class Names(AbstractResolver):
    """Lookups by table; a list of lists is one answer after the other, the last one for good."""

    def __init__(self, table):
        self._table = table
        self.asked = []

    async def resolve(self, host, port=0, family=socket.AF_UNSPEC):
        name = host.lower().removesuffix(".")
        self.asked.append(name)
        answers = self._table.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        if answers and isinstance(answers[0], list):
            answers = answers[min(self.asked.count(name), len(answers)) - 1]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in answers
        ]

    async def close(self):
        pass


class Sentinel(ScriptedServer):
    """Answers `ok`, or redirects as the path says: `/to/STATUS/LOCATION`."""

    def __init__(self, script=None):
        super().__init__(script or answer)
        self.connects = []
        self.peer = None
        """Who a socket says is on the other end; None for whom it was told to connect to."""

    def new_socket(self, info):
        made = _Pretending(socket.AF_INET, socket.SOCK_STREAM)
        made.sentinel = self
        return made


class _Pretending(socket.socket):
    """A socket that goes to the sentinel, whatever it is told, and names who it was told."""

    @property
    def family(self):
        return socket.AF_UNSPEC  # no family that asyncio would look the address up for

    def connect(self, address):
        self.told = address
        self.sentinel.connects.append(address[0])
        super().connect(("127.0.0.1", self.sentinel.port))

    def getpeername(self):
        return self.sentinel.peer or self.told


async def answer(exchange: Exchange) -> None:
    parts = exchange.request.path.split("/")
    if len(parts) > 3 and parts[1] == "to":
        location = unquote(parts[3]).encode()
        head = b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (int(parts[2]), location)
        await exchange.send(head)
    else:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
