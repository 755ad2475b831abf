"""Web pages of the size and shape that people read, and a server on loopback that gives them away.

Run as a module it prints its port, and serves `/NUMBER` until its stdin is closed.
"""

import asyncio
import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORDS = (
    *("the", "of", "and", "under", "with", "between", "water", "stone", "river", "light", "city", "people"),
    *(
        "year",
        "house",
        "small",
        "long",
        "old",
        "new",
        "open",
        "north",
        "time",
        "place",
        "work",
        "part",
        "form",
    ),
    *("line", "field", "paper", "story", "market", "letter", "number", "winter", "found", "made", "garden"),
)


@cache
def page(number: int) -> bytes:
    """An article of some 60 kB: menus, paragraphs with links, lists, a table and code, always the same."""
    chance = random.Random(number)

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    def paragraph() -> str:
        link = f'<a href="/{words(1)}/{number}">{words(3)}</a>'
        return f'<p class="body">{words(60)} {link}, <em>{words(2)}</em> {words(40)}.</p>'

    def row() -> str:
        return f"<tr><td>{words(2)}</td><td>{chance.random():.3f}</td><td>{words(4)}</td></tr>"

    menu = "".join(f'<li class="item"><a href="/menu/{n}">{words(2)}</a></li>' for n in range(120))
    rows = "".join(row() for _ in range(40))
    parts = []
    for _ in range(12):
        parts += [f"<h2 id='s'>{words(5)}</h2>", *(paragraph() for _ in range(5))]
        parts.append("<ul>" + "".join(f"<li>{words(9)}</li>" for _ in range(6)) + "</ul>")
    style = "".join(f".c{n}{{margin:{n}px;color:#{n:03x}}}" for n in range(150))
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{words(6)}</title>"
        f"<style>{style}</style><script>var data = [{','.join(map(str, range(800)))}];</script></head>"
        f"<body><header><nav><ul>{menu}</ul></nav></header><main><article><h1>{words(6)}</h1>{''.join(parts)}<table>{rows}</table>"
        f"<pre><code>{words(50)}</code></pre></article></main><footer>{menu}</footer></body></html>"
    ).encode()


class Connection(asyncio.Protocol):
    """One kept-alive connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._write = transport.write

    def data_received(self, data: bytes) -> None:
        for head in data.split(b"\r\n\r\n")[:-1]:
            self._write(reply(int(head.split(b" ", 2)[1].strip(b"/"))))


@cache
def reply(number: int) -> bytes:
    body = page(number)
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The server in a process of its own: its base URL, for as long as this is entered."""
    command = [sys.executable, "-m", "bench.pages"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


async def serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    asyncio.run(serve())
