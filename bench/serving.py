"""What `hermes serve` adds: to a bare Starlette echo until the first byte, to a relay by hand for each
chunk, and to memory with two hundred streams at once.

Every subject is a process of its own before the same model provider, and tells its own CPU and memory.
Run as a module with the name of a subject, the provider's address and a folder, it prints its port, and
what it has used so far whenever a line comes in.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import aiohttp
import msgspec
import uvicorn
from aiohttp import web
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bench.measure import MICRO, MILLI, PYTHON, ROOT, Figure, Goal, Plan, child_environment, medians
from bench.wires import CHAT
from hermes.config import load
from hermes.server.app import assemble
from hermes.server.running import bind
from hermes.server.running import server as hermes_server
from hermes.server.services import Services
from hermes.server.tokens import Tokens

TOKEN = "bench-token-0123456789"
PATH = "/v1/chat/completions"
AT_ONCE = 200
LONG = 2000


class Used(msgspec.Struct, frozen=True):
    """What a process has used so far: CPU seconds, and megabytes now."""

    cpu: float
    megabytes: float


class Subject:
    """A server in a process of its own, asked over real sockets."""

    def __init__(self, name: str, plan: Plan) -> None:
        folder = os.path.join(plan.folder, name)
        os.makedirs(folder)
        self._process = subprocess.Popen(
            [PYTHON, "-m", "bench.serving", name, plan.server, folder],
            cwd=ROOT,
            env=child_environment(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self._line())}{PATH}"

    def used(self) -> Used:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=Used)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextlib.contextmanager
def subjects(plan: Plan, *names: str) -> Iterator[list[Subject]]:
    with contextlib.ExitStack() as stack:
        found = []
        for name in names:
            found.append(Subject(name, plan))
            stack.callback(found[-1].close)
        yield found


def measure_serve(plan: Plan) -> list[Figure]:
    with subjects(plan, "hermes", "echo", "relay") as (hermes, echo, relay), asyncio.Runner() as runner:
        rounds = plan.rounds(12, 4)
        cost = partial(_cpu_per_unit, runner)
        answer, bare = medians(
            [partial(cost, one, "bench-burst-1", 50, 50) for one in (hermes, echo)], rounds
        )
        figures = [
            Figure(
                name="serve.first-byte",
                what="a short stream over a bare echo, CPU",
                value=(answer - bare) * MILLI,
                unit="ms",
                goal=Goal(3, "value at most"),
            )
        ]
        for name, model, chunks in (
            ("serve.chunk", f"bench-burst-{LONG}", LONG),
            ("serve.chunk.single", "bench-paced-500", 500),
        ):
            ours, floor = medians([partial(cost, one, model, 1, chunks) for one in (hermes, relay)], rounds)
            what = "a chunk in bursts, CPU" if "burst" in model else "a chunk in its own write, CPU"
            figures.append(
                Figure(name=name, what=what, value=ours * MICRO, floor=floor * MICRO, unit="µs", goal=Goal(3))
            )
        return [*figures, *_memory(runner, hermes, plan.rounds(5, 3))]


def _memory(runner: asyncio.Runner, hermes: Subject, waves: int) -> Iterator[Figure]:
    """Memory after some waves of streams, and how much more after as many again."""
    for _ in range(waves):
        runner.run(_ask(hermes.url, "bench-burst-200", AT_ONCE))
    before, began = hermes.used(), time.perf_counter()
    for _ in range(waves):
        runner.run(_ask(hermes.url, "bench-burst-200", AT_ONCE))
    after, seconds = hermes.used(), time.perf_counter() - began
    yield Figure(
        name="serve.memory",
        what=f"more memory after {waves} more waves of {AT_ONCE} streams",
        value=after.megabytes - before.megabytes,
        unit="MB",
        goal=Goal(10, "value at most"),
    )
    yield Figure(
        name="serve.rate",
        what=f"chunks to {AT_ONCE} streams at once, rate",
        value=waves * AT_ONCE * 200 / seconds,
        unit="chunks/s",
    )


def _cpu_per_unit(runner: asyncio.Runner, subject: Subject, model: str, times: int, units: int) -> float:
    """CPU seconds of a subject for each unit of so many answers, one after the other."""
    before = subject.used().cpu
    runner.run(_ask(subject.url, model, 1, times))
    return (subject.used().cpu - before) / units


async def _ask(url: str, model: str, at_once: int, times: int = 1) -> None:
    body = msgspec.json.encode(
        {
            "model": f"custom/{model}",
            "stream": True,
            "messages": [{"role": "user", "content": "Where is the answer, and who says so?"}],
        }
    )
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}

    async def read(session: aiohttp.ClientSession) -> None:
        for _ in range(times):
            async with session.post(url, data=body, headers=headers) as reply:
                if reply.status != 200 or b"[DONE]" not in await reply.read():
                    raise RuntimeError(f"{url} answered with {reply.status}")

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(read(session) for _ in range(at_once)))


def _hermes(provider: str, folder: str) -> Any:
    config = load(
        {
            "HERMES_HOME": folder,
            "HERMES_MODEL_LOCAL_SERVERS": "false",
            "HERMES_SERVER_REQUESTS_PER_MINUTE": "1000000",
            "CUSTOM_BASE_URL": provider,
        }
    )
    services = Services(config, Tokens([TOKEN]))
    return hermes_server(assemble(services), services.runs, drain=0)


def _echo(_provider: str, _folder: str) -> Any:
    """As little as Starlette can do: read the body, and stream a piece back."""

    async def answer(request: Request) -> StreamingResponse:
        body = await request.body()

        async def pieces() -> AsyncIterator[bytes]:
            yield body
            yield b"data: [DONE]\n\n"

        return StreamingResponse(pieces(), media_type="text/event-stream")

    app = Starlette(routes=[Route(PATH, answer, methods=["POST"])])
    return uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, http="h11"))


def _relay(provider: str, _folder: str) -> web.Application:
    """What has to be done by hand: every chunk is read, and written as a chunk of our own."""
    encode = msgspec.json.encode

    async def answer(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        asked["model"] = asked["model"].partition("/")[2]
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        rest = b""
        session: aiohttp.ClientSession = request.app["session"]
        async with session.post(f"{provider}/chat/completions", data=encode(asked)) as model:
            async for piece in model.content.iter_any():
                texts: list[str] = []
                rest = CHAT.read(rest + piece, texts)
                out = b"".join(
                    b"data: " + encode({"choices": [{"index": 0, "delta": {"content": text}}]}) + b"\n\n"
                    for text in texts
                )
                if out:
                    await reply.write(out)
        await reply.write(b"data: [DONE]\n\n")
        return reply

    app = web.Application()
    app.router.add_post(PATH, answer)

    async def sockets(app: web.Application) -> AsyncIterator[None]:
        app["session"] = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False)
        yield
        await app["session"].close()

    app.cleanup_ctx.append(sockets)
    return app


SUBJECTS: dict[str, Callable[[str, str], Any]] = {"hermes": _hermes, "echo": _echo, "relay": _relay}


async def _serve(name: str, provider: str, folder: str) -> None:
    listening = bind("127.0.0.1", 0)
    made = SUBJECTS[name](provider, folder)
    if isinstance(made, web.Application):
        runner = web.AppRunner(made, access_log=None)
        await runner.setup()
        await web.SockSite(runner, listening).start()
        stop = asyncio.Event()
        _tell(listening.getsockname()[1], asyncio.get_running_loop(), stop.set)
        await stop.wait()
        await runner.cleanup()
        return

    def leave() -> None:
        made.should_exit = True

    _tell(listening.getsockname()[1], asyncio.get_running_loop(), leave)
    await made.serve(sockets=[listening])


def _tell(port: int, loop: asyncio.AbstractEventLoop, leave: Callable[[], None]) -> None:
    """Print the port, then what was used whenever a line comes in, from a thread of its own."""

    def answer() -> None:
        print(port, flush=True)
        for _ in sys.stdin:
            print(msgspec.json.encode(Used(time.process_time(), _megabytes())).decode(), flush=True)
        loop.call_soon_threadsafe(leave)

    threading.Thread(target=answer, daemon=True).start()


def _megabytes() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
