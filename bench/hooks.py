"""What plugins cost: nobody listening, callbacks that rewrite, frames around a call, and a hook.

The payload is a long conversation of 200 messages with 40 tools. The floor of what is copied is the
standard library's deep copy, which is what a plugin host would use without thinking about it.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from typing import Any

from bench.measure import MICRO, Figure, Goal, Plan, cpu_per_unit, medians, sampler, settle
from hermes.hooks import HookHost, Registration

CONTEXT = {"session_id": "s", "task_id": "t", "turn_id": "u", "api_request_id": "r", "tool_name": "look"}
CALLBACKS = (1, 3, 10)


def payload() -> dict[str, Any]:
    """A request as it is after many turns."""
    return {
        "model": "m",
        "messages": [{"role": "user", "content": "x" * 2000} for _ in range(200)],
        "tools": [{"type": "function", "function": _tool(f"t{number}")} for number in range(40)],
    }


def _tool(name: str) -> dict[str, Any]:
    fields = {name: {"type": "string", "description": "What it is."} for name in "abcd"}
    schema = {"type": "object", "properties": fields, "required": ["a", "b"]}
    return {"name": name, "description": "Do something.", "parameters": schema}


def host(kind: str, callback: Callable[..., Any], many: int) -> HookHost:
    made = HookHost()
    made.add([Registration(plugin=f"p{n}", kind=kind, callback=callback) for n in range(many)])
    return made


def rewrite(**kwargs: Any) -> dict[str, Any]:
    return {"request": kwargs["request"]}


async def rewrite_async(**kwargs: Any) -> dict[str, Any]:
    return {"request": kwargs["request"]}


def wrap(**kwargs: Any) -> Any:
    return kwargs["next_call"](kwargs["args"])


async def wrap_async(**kwargs: Any) -> Any:
    return await kwargs["next_call"](kwargs["args"])


def look(**_kwargs: Any) -> None:
    return None


async def look_async(**_kwargs: Any) -> None:
    return None


async def base(_args: dict[str, Any]) -> str:
    return "done"


def measure_hooks(plan: Plan) -> list[Figure]:
    with asyncio.Runner() as runner:
        settle()
        return [
            *_idle(runner, plan),
            *_requests(runner, plan),
            *_frames(runner, plan),
            *_observers(runner, plan),
        ]


def _take(
    runner: asyncio.Runner, plan: Plan, works: list[tuple[Callable[[], Awaitable[object]], int]]
) -> list[float]:
    """What each of these takes, in microseconds of this process; each is called so many times a round."""

    def repeated(work: Callable[[], Awaitable[object]], times: int) -> Callable[[], Awaitable[object]]:
        async def run() -> None:
            for _ in range(times):
                await work()

        return run

    subjects = [sampler(runner, cpu_per_unit, repeated(work, times), times) for work, times in works]
    return [taken * MICRO for taken in medians(subjects, plan.rounds(25, 5))]


def _idle(runner: asyncio.Runner, plan: Plan) -> list[Figure]:
    nobody, request = HookHost(), payload()
    bare, asked, ran, told = _take(
        runner,
        plan,
        [
            (lambda: base(request), 5000),
            (lambda: nobody.apply_request("llm_request", request, CONTEXT), 5000),
            (lambda: nobody.run("llm_execution", request, base, CONTEXT), 5000),
            (lambda: nobody.emit("post_tool_call", dict), 5000),
        ],
    )
    at_most = Goal(1, "value at most")
    return [
        _figure("hooks.idle.request", "rewriting, nobody listens, CPU", asked - bare, goal=at_most),
        _figure("hooks.idle.execution", "wrapping, nobody listens, CPU", ran - bare, goal=at_most),
        _figure("hooks.idle.hook", "telling, nobody listens, CPU", told - bare, goal=at_most),
    ]


def _requests(runner: asyncio.Runner, plan: Plan) -> list[Figure]:
    request = payload()

    async def two_deep_copies() -> None:
        copy.deepcopy(request)
        copy.deepcopy(request)

    hosts = [host("llm_request", rewrite_async, many) for many in CALLBACKS]
    threaded = host("llm_request", rewrite, 1)
    works = [(_asking(one, request), 20) for one in (*hosts, threaded)]
    *taken, hopped, floor = _take(runner, plan, [*works, (two_deep_copies, 5)])
    threaded.close()
    figures = [
        _figure(
            f"hooks.request.{many}",
            f"{many} rewriting a long request, two deep copies, CPU",
            value,
            floor=floor,
            goal=Goal(0.2) if many == 1 else None,
        )
        for many, value in zip(CALLBACKS, taken, strict=True)
    ]
    hop = _figure(
        "hooks.request.thread", "1 in a thread, two deep copies, CPU", hopped, floor=floor, goal=Goal(0.2)
    )
    return [*figures, hop]


def _asking(one: HookHost, request: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    return lambda: one.apply_request("llm_request", request, CONTEXT)


def _frames(runner: asyncio.Runner, plan: Plan) -> list[Figure]:
    args = {"path": "a.txt", "limit": 5}
    hosts = [host("tool_execution", callback, many) for callback in (wrap, wrap_async) for many in (1, 10)]
    works = [(_running(one, args), 300) for one in hosts]
    *taken, bare = _take(runner, plan, [*works, (lambda: base(args), 300)])
    plain_one, plain_ten, async_one, async_ten = taken
    for one in hosts:
        one.close()
    plain, awaited = (plain_ten - plain_one) / 9, (async_ten - async_one) / 9
    at_most = Goal(6, "value at most")
    return [
        _figure("hooks.frame.plain", "one frame more (of 10, in a thread), CPU", plain, goal=at_most),
        _figure("hooks.frame.async", "one frame more (of 10, async), CPU", awaited, goal=at_most),
        _figure("hooks.first.plain", "the first frame, with its hop to a thread, CPU", plain_one - bare),
        _figure("hooks.first.async", "the first frame, async, CPU", async_one - bare),
    ]


def _running(one: HookHost, args: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    return lambda: one.run("tool_execution", args, base, CONTEXT)


def _observers(runner: asyncio.Runner, plan: Plan) -> list[Figure]:
    told = {**CONTEXT, "args": {"path": "a.txt"}, "result": "x" * 2000, "status": "ok"}
    hosts = [host("post_tool_call", callback, 1) for callback in (look, look_async)]
    works = [(_telling(one, told), 300) for one in hosts]
    plain, awaited = _take(runner, plan, works)
    for one in hosts:
        one.close()
    return [
        _figure("hooks.hook.plain", "one hook, with its hop to a thread, CPU", plain),
        _figure("hooks.hook.async", "one hook, async, CPU", awaited),
    ]


def _telling(one: HookHost, told: dict[str, Any]) -> Callable[[], Awaitable[object]]:
    return lambda: one.emit("post_tool_call", lambda: told)


def _figure(
    name: str, what: str, value: float, *, floor: float | None = None, goal: Goal | None = None
) -> Figure:
    return Figure(name=name, what=what, value=value, floor=floor, unit="µs", goal=goal)
