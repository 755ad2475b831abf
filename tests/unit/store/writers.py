"""Run as a program: many threads, each with a store of its own, append to one session at once."""

import asyncio
import sys
import threading

from hermes.messages import Message
from hermes.store import Store


def write(path: str, name: str, messages: int) -> None:
    async def run() -> None:
        store = Store.open(path)
        for number in range(messages):
            await store.append("s", [Message("user", f"{name}:{number}")])
        await store.close()

    asyncio.run(run())


if __name__ == "__main__":
    path, process, writers, messages = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    threads = [
        threading.Thread(target=write, args=(path, f"{process}-{writer}", messages))
        for writer in range(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
