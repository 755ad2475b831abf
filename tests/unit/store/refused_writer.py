"""Run as a program: appends until the store refuses; prints how many were saved, and the refusal."""

import asyncio
import json
import os
import resource
import sys

from hermes.errors import HermesError
from hermes.messages import Message
from hermes.store import Session, Store

NOBODY = 65534


def fill_disk(path: str) -> None:
    """Let no file grow any more, as on a full disk."""
    size = max(os.path.getsize(path), os.path.getsize(f"{path}-wal")) + 300_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


async def write(path: str, limit: bool) -> None:
    saved = 0
    try:
        store = Store.open(path)
        await store.create(Session("s", "", 0, 0, "p", "m", "/"))
        if limit:
            fill_disk(path)
        for _ in range(1000):
            await store.append("s", [Message("user", "x" * 5000)])
            saved += 1
    except HermesError as error:
        print(
            json.dumps(
                {"error": type(error).__name__, "words": str(error), "hint": error.hint, "saved": saved}
            )
        )


if __name__ == "__main__":
    if sys.argv[2] == "as-nobody" and os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    asyncio.run(write(sys.argv[1], limit=sys.argv[2] == "disk-full"))
