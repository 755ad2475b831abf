"""Run as a program: forked processes race, or are killed at random moments; prints what was lost.

A program of its own, because forking is safe only in a process without threads.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from typing import NoReturn

from hermes.errors import HermesError
from hermes.messages import Message
from hermes.store import Session, Store


def write_until_killed(path: str, writer: int, acknowledged: int) -> None:
    async def write() -> None:
        store = Store.open(path)
        number = 0
        while True:
            await store.append(
                "s", [Message("user", f"{writer}:{number} " + "x" * random.randint(0, 20_000))]
            )
            os.write(acknowledged, f"{writer}:{number}\n".encode())
            number += 1

    asyncio.run(write())


async def create(store: Store, id: str) -> None:
    await store.create(Session(id, "", 0, 0, "p", "m", "/"))
    await store.close()


def open_and_die(path: str) -> None:
    asyncio.run(create(Store.open(path), str(os.getpid())))


def kill_after(seconds: float, child: int) -> None:
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def kill_writers(path: str, kills: int) -> dict[str, object]:
    asyncio.run(create(Store.open(path), "s"))
    promised: list[str] = []
    for writer in range(kills):
        reader, acknowledged = os.pipe()
        child = os.fork()
        if child == 0:
            write_until_killed(path, writer, acknowledged)
        os.close(acknowledged)
        kill_after(random.uniform(0.001, 0.03), child)
        with open(reader) as lines:
            promised += lines.read().split()
    return asyncio.run(account(path, promised))


async def account(path: str, promised: list[str]) -> dict[str, object]:
    store = Store.open(path)
    kept = [(message.content or "").split()[0] for message in await store.messages("s")]
    report = {
        "promised": len(promised),
        "lost": sorted(set(promised) - set(kept)),
        "in_order": kept == sorted(kept, key=lambda name: tuple(map(int, name.split(":")))),
        "problems": [*await store.check(), *store.notices],
        "status": (await store.find("s")).status,
    }
    await store.close()
    return report


def kill_openers(folder: str, kills: int) -> dict[str, object]:
    problems: list[str] = []
    for attempt in range(kills):
        path = os.path.join(folder, str(attempt), "sessions.db")
        for _ in range(2):
            child = os.fork()
            if child == 0:
                open_and_die(path)
                os._exit(0)
            kill_after(random.uniform(0, 0.004), child)
        store = Store.open(path)
        problems += [*asyncio.run(store.check()), *store.notices]
        asyncio.run(store.close())
    return {"problems": problems}


def race_openers(folder: str, rounds: int) -> dict[str, object]:
    """Several processes make the same file at the same moment, or find the same damaged one.

    SQLite lets some fail without a wait.
    """
    reader, complaints = os.pipe()
    for attempt in range(rounds):
        path = os.path.join(folder, str(attempt), "sessions.db")
        damaged = attempt % 2
        if damaged:
            os.mkdir(os.path.dirname(path))
            with open(path, "wb") as file:
                file.write(b"garbage" * 1000)
        start = time.monotonic() + 0.003
        children = [os.fork() or open_at(start, path, complaints) for _ in range(6)]
        for child in children:
            os.waitpid(child, 0)
        aside = [name for name in os.listdir(os.path.dirname(path)) if ".corrupt-" in name]
        if len(aside) != damaged:
            os.write(complaints, f"set aside: {aside}\n".encode())
    os.close(complaints)
    with open(reader) as lines:
        return {"problems": lines.read().splitlines()}


def open_at(start: float, path: str, complaints: int) -> NoReturn:
    while time.monotonic() < start:
        pass
    try:
        Store.open(path)
    except HermesError as error:
        os.write(complaints, f"{error}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    act, place, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    random.seed(seed)
    acts = {"writers": kill_writers, "openers": kill_openers, "race": race_openers}
    print(json.dumps(acts[act](place, kills)))
