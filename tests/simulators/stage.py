"""One server on loopback for a whole file of tests, in a thread: it does what the running test says.

stage.play(cut_after_a_word)       # what every request is answered with, from now on
...                                # run a command in this thread, or a process
assert len(stage.requests) == 1
"""

import asyncio
import threading
from types import TracebackType
from typing import Self

from simulators.scripted import Exchange, Handler, Received, ScriptedServer


class Stage:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stage")
        self._server = ScriptedServer(self._serve)
        self._handler: Handler | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._server.__aexit__(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def requests(self) -> list[Received]:
        """What came since the last `play`."""
        return self._server.requests

    def play(self, handler: Handler) -> None:
        self._server.requests.clear()
        self._handler = handler

    async def _serve(self, exchange: Exchange) -> None:
        assert self._handler is not None
        await self._handler(exchange)
