"""A thread that waits for a locked file, in order, so that who waits with it can still be stopped."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Writer:
    """One piece of work after the other, in a thread that the first piece starts."""

    def __init__(self) -> None:
        self._thread: concurrent.futures.ThreadPoolExecutor | None = None
        self._last: concurrent.futures.Future[Any] | None = None
        self._starting = threading.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked for is done."""
        return self._last is None or self._last.done()

    def do(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Have work done after all that was asked for before; it is asked for when this returns."""
        with self._starting:
            if self._thread is None:
                self._thread = concurrent.futures.ThreadPoolExecutor(1, "hermes-store")
            asked = self._thread.submit(work)
            self._last = asked
        return asyncio.wrap_future(asked)

    async def close(self, seconds: float) -> bool:
        """Wait so long for what was asked for, and drop what has not begun by then; says if all is done."""
        if self._thread is None:
            return True
        _, late = await asyncio.wait([self.do(lambda: None)], timeout=seconds)
        self._thread.shutdown(wait=not late, cancel_futures=True)
        self._thread = None
        return not late
