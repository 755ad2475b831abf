"""Bombs and lies: each bad body ends as a page or a plain error, soon, and in little memory."""

import asyncio
import gzip
import json
import os
import sys
import zlib
from functools import cache
from pathlib import Path

import pytest

from simulators.scripted import Exchange, ScriptedServer

MB = 1 << 20
LONGEST = 5.0
MOST_MEMORY = 64 * MB


def packed(size, piece=bytes(MB)):
    """A gzip of so many bytes of nothing, made without holding them."""
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([engine.compress(piece) for _ in range(size // len(piece))]) + engine.flush()


def pdf(pages="1", extra=""):
    return (
        f"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R{extra}>>endobj\n"
        f"2 0 obj<</Type/Pages/Count {pages}/Kids[2 0 R 3 0 R]>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    ).encode()


LAUGHS = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
HTML = "text/html"

ZIPPED = {"content-encoding": "gzip"}
FEED = {"content-type": "text/xml"}
OUTSIDE = '<!ENTITY x SYSTEM "file:///etc/passwd">'


@cache
def bodies():
    """By name: headers, body, and what the outcome says."""
    return {
        "warm": ({"content-type": HTML}, b"<p>hello", "hello"),
        "gzip bomb": ({"content-encoding": "gzip", "content-type": HTML}, packed(256 * MB), "100 times"),
        "deflate bomb": ({"content-encoding": "deflate"}, zlib.compress(bytes(64 * MB)), "100 times"),
        "gzip in gzip": (ZIPPED, gzip.compress(packed(64 * MB)), "archive"),
        "twice encoded": ({"content-encoding": "gzip, gzip"}, gzip.compress(packed(MB)), "cannot be read"),
        "brotli unasked": ({"content-encoding": "br"}, b"\x8b\x03\x80" * 99, "cannot be read"),
        "zstd unasked": ({"content-encoding": "zstd"}, b"\x28\xb5\x2f\xfd" * 99, "cannot be read"),
        "gzip that is none": ({"content-encoding": "gzip"}, b"<p>plain", "cannot be read"),
        "endless": ({"content-type": HTML, "endless": "yes"}, b"<p>more " * 1000, "left out"),
        "one line": ({"content-type": "text/plain"}, b"x" * (9 * MB), "left out"),
        "one tag": ({"content-type": HTML}, b"<p " + b"a" * (9 * MB), "note"),
        "many attributes": ({"content-type": HTML}, b"<p " + b"a=1 " * (MB // 2) + b">hello", "hello"),
        "nested": ({"content-type": HTML}, b"<div>" * 1_000_000 + b"deep", ""),
        "open tags": ({"content-type": HTML}, b"<b><i><font>" * 200_000 + b"x", ""),
        "nested tables": ({"content-type": HTML}, b"<table><tr><td>" * 100_000, ""),
        "nested lists": ({"content-type": HTML}, b"<ul><li>" * 200_000 + b"x", ""),
        "open comment": ({"content-type": HTML}, b"<!--" * MB, ""),
        "entities": ({"content-type": HTML}, b"<p>" + b"&amp;&lt" * MB, "left out"),
        "deep json": ({"content-type": "application/json"}, b"[" * 100_000, "nested too deeply"),
        "wide json": ({"content-type": "application/json"}, b"[" + b"1," * MB + b"1]", "left out"),
        "laughs": (
            {"content-type": "application/rss+xml"},
            f'<!DOCTYPE rss [<!ENTITY e0 "ha">{LAUGHS}]><rss><channel>&e9;</channel></rss>'.encode(),
            "entities",
        ),
        "entity from outside": (
            FEED,
            f"<!DOCTYPE rss [{OUTSIDE}]><rss><channel><title>&x;</title></channel></rss>".encode(),
            "entities",
        ),
        "svg": (
            {"content-type": "image/svg+xml"},
            f"<!DOCTYPE svg [{OUTSIDE}]><svg>&x;</svg>".encode(),
            "picture",
        ),
        "deep feed": (FEED, b"<rss>" + b"<a>" * 100_000, "nested too deeply"),
        "long feed": (FEED, b"<rss>" + b"<item><title>t</title></item>" * 300_000, "only the first"),
        "program": ({"content-type": HTML}, b"MZ\x90\x00" + bytes(1000), "program"),
        "page as pdf": ({"content-type": "application/pdf"}, b"<html><p>hello</html>", "hello"),
        "broken pdf": ({"content-type": "application/pdf"}, b"%PDF-1.7\nnothing", "not a readable PDF"),
        "pdf of many pages": ({"content-type": "application/pdf"}, pdf("1000000"), ""),
        "pdf that runs": ({}, pdf(extra="/OpenAction<</S/JavaScript/JS(app.alert(1))>>"), ""),
        "pdf in a ring": ({}, b"%PDF-1.4\nxref\n0 1\ntrailer<</Prev 9/Size 1>>\nstartxref\n9", "readable"),
        "wrong encoding": ({"content-type": "text/html; charset=big5"}, b"<p>\xff\xfe\xfa\x81hello", "hello"),
        "no marks": ({"content-type": "text/plain"}, "hello there".encode("utf-16-le"), "hello there"),
        "nuls": ({"content-type": HTML}, b"<p>hel\x00lo" + b" word" * 30, "lo word"),
        "nothing": ({"content-type": HTML}, b"", "is empty"),
    }  # fmt: skip


async def serve(exchange: Exchange) -> None:
    fields, body, _ = bodies()[exchange.request.path.removeprefix("/").replace("%20", " ")]
    is_endless = "endless" in fields
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if name != "endless")
    length = "" if is_endless else f"content-length: {len(body)}\r\n"
    await exchange.send(f"HTTP/1.1 200 OK\r\nconnection: close\r\n{lines}{length}\r\n".encode())
    await exchange.send(body)
    while is_endless:
        await exchange.send(body)
    exchange.close()


async def run(names):
    async with ScriptedServer(serve) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("bodies_driver.py")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        urls = {name: f"{server.url}/{name.replace(' ', '%20')}" for name in names}
        out, err = await asyncio.wait_for(process.communicate(json.dumps(urls).encode()), 300)
    assert (process.returncode, err.decode()) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory was held")
async def test_bombs_and_lies_end_soon_and_in_little_memory():
    outcomes = await run(list(bodies()))
    assert [outcome["name"] for outcome in outcomes] == list(bodies())
    for outcome in outcomes:
        said = f"{outcome['error']} {outcome['content']}"
        assert bodies()[outcome["name"]][2] in said, outcome
        assert outcome["seconds"] < LONGEST, outcome
        assert outcome["grown"] < MOST_MEMORY, outcome
