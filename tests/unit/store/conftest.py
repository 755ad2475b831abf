from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes.store import Session, Store


class Clock:
    """Each look at it is a second later."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "sessions.db")


@pytest.fixture
async def store(path: str, clock: Clock) -> AsyncIterator[Store]:
    store = Store.open(path, clock)
    yield store
    await store.close()


@pytest.fixture
def session(clock: Clock) -> Callable[..., Session]:
    def make(id: str, title: str = "", cwd: str = "/home/ann") -> Session:
        return Session(id, title, clock.now, clock(), "scout", "extractive", cwd)

    return make
