"""What is kept: sessions and documents, and whether their files are sound."""

from hermes.cli._checks import Found, Group, Scene, ok, warning


async def _sessions(scene: Scene) -> Found:
    store = scene.runtime.store()
    problems = [*store.notices, *await store.check()]
    if problems:
        fix = "keep what can be read with `hermes sessions export ID`, then move `sessions.db` away"
        return [warning(problem, fix) for problem in problems]
    return ok(f"{len(await store.list(10_000))} kept, and their file is sound")


async def _documents(scene: Scene) -> Found:
    index = scene.runtime.services.index()
    documents = len(index.list())
    if index.notices:
        return warning("; ".join(index.notices), "read your files again with `hermes index add PATH`")
    return ok(f"{documents} in the local index; add yours with `hermes index add PATH`")


GROUP = Group(title="what is kept", place=6, checks={"sessions": _sessions, "documents": _documents})
