"""Callbacks written once and run in both colours, and a host to register them with."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any

import pytest

from hermes.hooks import HookHost, Options, Registration

Body = Callable[..., Generator[Any, Any, Any]]


class Shop:
    """A host, what it warned of, and a base that remembers what it was called with."""

    def __init__(self, **settings: Any) -> None:
        self.warnings: list[str] = []
        self.host = HookHost(warn=self.warnings.append, **settings)
        self.done: list[Any] = []
        self.failure: BaseException | None = None

    def add(self, kind: str, callback: Callable[..., Any], plugin: str = "demo", **options: Any) -> None:
        self.host.add([Registration(plugin=plugin, kind=kind, callback=callback, options=Options(**options))])

    async def base(self, payload: Any) -> Any:
        self.done.append(payload)
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        return "done"

    async def run(self, payload: Any = None, kind: str = "tool_execution", **context: Any) -> Any:
        return await self.host.run(kind, {"a": 1} if payload is None else payload, self.base, context)


@pytest.fixture
def shop():
    made: list[Shop] = []

    def make(**settings: Any) -> Shop:
        made.append(Shop(**settings))
        return made[-1]

    yield make
    for one in made:
        one.host.close()


def in_sync(body: Body) -> Callable[..., Any]:
    """A callback that is not async from a body whose `yield` calls on."""

    def callback(**kwargs: Any) -> Any:
        steps = body(kwargs)
        try:
            wanted = next(steps)
            while True:
                try:
                    result = kwargs["next_call"](*wanted)
                except BaseException as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(result)
        except StopIteration as end:
            return end.value

    return callback


def in_async(body: Body) -> Callable[..., Any]:
    """The same as a coroutine function."""

    async def callback(**kwargs: Any) -> Any:
        steps = body(kwargs)
        try:
            wanted = next(steps)
            while True:
                try:
                    result = await kwargs["next_call"](*wanted)
                except BaseException as error:
                    wanted = steps.throw(error)
                else:
                    wanted = steps.send(result)
        except StopIteration as end:
            return end.value

    return callback


@pytest.fixture(params=[in_sync, in_async], ids=["sync", "async"])
def coloured(request: pytest.FixtureRequest) -> Callable[[Body], Callable[..., Any]]:
    return request.param
