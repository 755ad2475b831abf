"""A thread that does a store's work in order, so that who waits for a locked file can still be stopped."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Writer:
    """One piece of work after the other, in a thread that the first piece starts."""

    def __init__(self) -> None:
        self._thread: concurrent.futures.ThreadPoolExecutor | None = None
        self._starting = threading.Lock()

    @property
    def has_begun(self) -> bool:
        return self._thread is not None

    def do(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have work done after all that was asked for before; it is asked for when this returns."""
        with self._starting:
            if self._thread is None:
                self._thread = concurrent.futures.ThreadPoolExecutor(1, "hermes-store")
            return asyncio.wrap_future(self._thread.submit(work))

    async def close(self, seconds: float) -> bool:
        """Wait so long for what was asked for, and drop what has not begun by then; says if all is done."""
        thread, self._thread = self._thread, None
        if thread is None:
            return True
        last = asyncio.wrap_future(thread.submit(lambda: None))
        _, waiting = await asyncio.wait([last], timeout=seconds)
        thread.shutdown(wait=not waiting, cancel_futures=True)
        return not waiting
