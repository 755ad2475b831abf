"""Blocking code of others, run in a thread that nobody has to wait for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], seconds: float | None = None) -> T:
    """What `work` gives, or what it raises; `TimeoutError` after so many seconds, where there is a limit.

    Each call has a thread of its own: one that hangs is left behind, and keeps neither the next call nor
    the end of the program waiting.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def tell(result: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if isinstance(error, StopIteration):  # a future refuses it
            outcome.set_exception(RuntimeError("it raised StopIteration"))
        elif error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = context.run(work)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call is waited for
            failure = error
        with suppress(RuntimeError):  # the loop has ended, and with it who asked
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(seconds):
        return await outcome
