"""What is kept: sessions and documents, and whether their files are sound."""

import asyncio
import os
from functools import partial

from hermes.cli._checks import Found, Group, Scene, ok, warning
from hermes.store import Store
from hermes.threads import in_thread

MOST_COUNTED = 10_000


async def _sessions(scene: Scene) -> Found:
    """Whether the file is sound; in a thread, because a large one takes long and is not waited for."""
    path = os.path.join(scene.runtime.config.home, "sessions.db")
    if not os.path.lexists(path):
        return ok("none kept yet")
    count, problems = await in_thread(partial(asyncio.run, _looked_through(path)))
    if problems:
        fix = "keep what can be read with `hermes sessions export ID`, then move `sessions.db` away"
        return [warning(problem, fix) for problem in problems]
    return ok(f"{count} kept, and their file is sound")


async def _looked_through(path: str) -> tuple[int, list[str]]:
    store = Store.open(path)
    try:
        return len(await store.list(MOST_COUNTED)), [*store.notices, *await store.check()]
    finally:
        await store.close()


async def _documents(scene: Scene) -> Found:
    index = scene.runtime.services.index()
    documents = len(index.list())
    if index.notices:
        return warning("; ".join(index.notices), "read your files again with `hermes index add PATH`")
    return ok(f"{documents} in the local index; add yours with `hermes index add PATH`")


GROUP = Group(title="what is kept", place=6, checks={"sessions": _sessions, "documents": _documents})
