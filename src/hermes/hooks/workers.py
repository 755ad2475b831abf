"""Threads for callbacks that are not async. One that hangs is left behind, and ends with the process."""

import queue
import threading
from collections.abc import Callable

Job = Callable[[], Callable[[], None]]
"""Work, which gives what is to be done last of all, when the thread is free for others again."""

_MOST_IDLE = 8


class Workers:
    """Threads that wait for work; there is always another one, so nobody queues behind a slow callback."""

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[Job | None]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def start(self, job: Job) -> None:
        """Run a job in a thread of its own. What it raises it has to see to itself."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self._work, args=(inbox,), name="hermes-plugin", daemon=True).start()
        inbox.put(job)

    def close(self) -> None:
        """Let the idle threads end; those at work end with it."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    def _work(self, inbox: "queue.SimpleQueue[Job | None]") -> None:
        while (job := inbox.get()) is not None:
            tell = job()
            with self._lock:
                stays = not self._is_closed and len(self._idle) < _MOST_IDLE
                if stays:
                    self._idle.append(inbox)
            tell()
            if not stays:
                return
