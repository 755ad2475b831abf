"""Whether somebody wants what runs to end, or it only looks so."""

import asyncio


def is_stopped() -> bool:
    """Whether the running task was asked to stop. A plugin can raise the same error by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
