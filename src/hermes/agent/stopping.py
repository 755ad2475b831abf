"""Whether somebody wants what runs to end, or it only looks so; and whether it is its time that is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

_limit: ContextVar[asyncio.Timeout | None] = ContextVar("limit", default=None)


def is_stopped() -> bool:
    """Whether the running task was asked to stop. A plugin can raise the same error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@asynccontextmanager
async def time_limit(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """What runs in here is cut after so many seconds, with `TimeoutError`; in it, `is_out_of_time` tells."""
    async with asyncio.timeout(seconds) as limit:
        outer = _limit.set(limit)
        try:
            yield limit
        finally:
            _limit.reset(outer)


def is_out_of_time() -> bool:
    """Whether what is being stopped is stopped because its time is over, and not by a person."""
    limit = _limit.get()
    return limit is not None and limit.expired()
