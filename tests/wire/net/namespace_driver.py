"""Runs inside a network namespace: every address is routed to this machine, and one server hears them all.

Names go through the system's own lookup to a name server that answers from the table. Whatever was connected
to is known from the listening end, so that nothing in the client can hide it.
"""

import asyncio
import socket
import struct
import subprocess
import sys
from urllib.parse import unquote

from hermes.errors import NetError
from hermes.net.client import Client
from hermes.net.guard import Guard
from hermes.net.retry import RetryPolicy
from hermes.protocols import Deadlines, HttpRequest
from simulators.places import ALLOWED, CLOSED_HOPS, DENIED, NAMES, PUBLIC, STATUSES, hop

CANNOT = 77
PORTS = (80, 443, 22, 25, 3000, 6379, 8000, 8080, 8443, 9200, 11434, 65535)
A, AAAA = 1, 28


class NameServer(asyncio.DatagramProtocol):
    """A and AAAA records from the table; `rebind.example` is public once and loopback ever after."""

    def __init__(self):
        self.asked = []

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, sender):
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1"))
            at += 1 + data[at]
        kind = struct.unpack("!H", data[at + 1 : at + 3])[0]
        name = ".".join(labels).lower()
        self.asked.append((name, kind))
        answers = self._answers(name, kind)
        code = 0 if answers or name in NAMES or name == "rebind.example" else 3
        reply = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(answers), 0, 0) + data[12 : at + 5]
        for address in answers:
            family = socket.AF_INET6 if kind == AAAA else socket.AF_INET
            packed = socket.inet_pton(family, address)
            reply += struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(packed)) + packed
        self.transport.sendto(reply, sender)

    def _answers(self, name, kind):
        if name == "rebind.example":
            found = [PUBLIC if self.asked.count((name, kind)) == 1 else "127.0.0.1"]
        else:
            found = NAMES.get(name, [])
        return [address for address in found if (":" in address) == (kind == AAAA)]


class Listener:
    def __init__(self):
        self.reached = []
        self.requests = 0

    async def heard(self, reader, writer):
        self.reached.append(writer.get_extra_info("sockname")[0])
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests += 1
            parts = head.split(" ")[1].split("/")
            reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
            if len(parts) > 3 and parts[1] == "to":
                fields = int(parts[2]), unquote(parts[3]).encode()
                reply = (
                    b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    % fields
                )
            writer.write(reply)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


def set_up():
    commands = ("link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo")
    for words in commands:
        ran = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"`ip {words}` failed: {ran.stderr.strip()}")
            sys.exit(CANNOT)


async def attempt(client, url):
    try:
        async with client.open(HttpRequest("GET", url, deadlines=Deadlines(connect=0.5))) as reply:
            return await reply.read()
    except NetError as error:
        return error


def plain(address):
    return address.removeprefix("::ffff:") if "." in address else address


async def check(listener, names):
    client = Client(guard=Guard(), retry=RetryPolicy(attempts=1), environ={})
    wrong = []
    for urls in DENIED.values():
        for url in urls:
            got = await attempt(client, url)
            if not isinstance(got, NetError) or listener.reached:
                wrong.append(f"not refused: {url!r}: {got!r} {listener.reached}")
            listener.reached.clear()
    for url, expected in ALLOWED:
        got = await attempt(client, url)
        if not listener.reached or plain(listener.reached[0]) not in map(plain, expected):
            wrong.append(f"not reached: {url!r}: {got!r} {listener.reached}")
        listener.reached.clear()
    for status in STATUSES:
        for location in CLOSED_HOPS:
            got = await attempt(client, hop(location, status))
            if not isinstance(got, NetError) or {plain(address) for address in listener.reached} != {PUBLIC}:
                wrong.append(f"followed: {status} {location}: {got!r} {listener.reached}")
            listener.reached.clear()
    names.asked.clear()
    got = await attempt(client, "http://rebind.example/")
    if got != b"ok" or [plain(address) for address in listener.reached] != [PUBLIC]:
        wrong.append(f"rebinding: {got!r} {listener.reached}")
    if names.asked.count(("rebind.example", A)) != 1:
        wrong.append(f"rebinding: looked up {names.asked}")
    await client.close()
    return wrong


async def main():
    listener, names = Listener(), NameServer()
    loop = asyncio.get_running_loop()
    both = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    both.bind(("::", 53))
    datagrams, _ = await loop.create_datagram_endpoint(lambda: names, sock=both)
    servers = []
    for port in PORTS:
        listening = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        servers.append(await asyncio.start_server(listener.heard, sock=listening))
    found = await loop.getaddrinfo("public.example", 80, type=socket.SOCK_STREAM)
    if {info[4][0] for info in found} != {PUBLIC}:
        print("names are not looked up through the name server of the namespace")
        return CANNOT
    wrong = await check(listener, names)
    for server in servers:
        server.close()
        await server.wait_closed()
    datagrams.close()
    print("\n".join(wrong))
    print(f"denied {sum(map(len, DENIED.values()))}, allowed {len(ALLOWED)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    set_up()
    sys.exit(asyncio.run(main()))
