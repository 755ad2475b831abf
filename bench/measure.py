"""How things are measured: CPU of children and of this process, floors taken in turn with their subjects."""

import asyncio
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from statistics import median
from typing import Any, Literal

import msgspec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = sys.executable
HERMES = os.path.join(os.path.dirname(PYTHON), "hermes")

MILLI = 1e3
MICRO = 1e6

GoalKind = Literal["ratio at most", "ratio at least", "value at most"]


class Goal(msgspec.Struct, frozen=True):
    limit: float
    kind: GoalKind = "ratio at most"

    def __str__(self) -> str:
        sign = "≥" if self.kind == "ratio at least" else "≤"
        return f"{sign} {self.limit:g}{'x' if self.kind.startswith('ratio') else ''}"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured number: beside its floor, and against its goal, where it has them."""

    name: str
    what: str
    value: float
    unit: str
    floor: float | None = None
    goal: Goal | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None

    @property
    def ok(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.goal is None:
            return None
        judged = self.value if self.goal.kind == "value at most" else self.ratio
        if judged is None:
            return False
        return judged >= self.goal.limit if self.goal.kind == "ratio at least" else judged <= self.goal.limit

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "what": self.what,
            "unit": self.unit,
            "value": self.value,
            "floor": self.floor,
            "ratio": self.ratio,
            "goal": self.goal.limit if self.goal else None,
            "goal_is": self.goal.kind if self.goal else None,
            "ok": self.ok,
        }


class Plan(msgspec.Struct, frozen=True):
    """What every measure is told: where the server is, a folder of its own, and how thorough to be."""

    server: str
    folder: str
    is_quick: bool

    def rounds(self, full: int, quick: int) -> int:
        return quick if self.is_quick else full


class Usage(msgspec.Struct, frozen=True):
    """What one child process cost, in seconds."""

    cpu: float
    wall: float


def interleave(subjects: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """The samples of each subject, one per round, after a round that does not count.

    Each round starts with another subject, so that whatever else the machine does falls on all alike.
    """
    for subject in subjects:
        subject()
    samples: list[list[float]] = [[] for _ in subjects]
    for turn in range(rounds):
        for place in range(len(subjects)):
            which = (turn + place) % len(subjects)
            samples[which].append(subjects[which]())
    return samples


def medians(subjects: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    return [median(samples) for samples in interleave(subjects, rounds)]


def run_child(command: Sequence[str], environ: Mapping[str, str]) -> Usage:
    """Run a command to its end; raises `RuntimeError` with its last words when it fails."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        said = child.stderr.read() if child.stderr else b""
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(
            f"{command} ended with {child.returncode}: {said.decode(errors='replace')[-2000:]}"
        )
    return Usage(cpu=_seconds(used), wall=wall)


_PEAK = """
import os, resource, sys
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def peak_megabytes(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """The most memory a command held at once.

    Started by a small process of its own: a child counts as its peak what its parent held before.
    """
    helper = [PYTHON, "-I", "-S", "-c", _PEAK, *command]
    peak = int(subprocess.run(helper, env=environ, check=True, stdout=subprocess.PIPE).stdout)
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


Work = Callable[[], Awaitable[object]]
Meter = Callable[[Work, int], Coroutine[Any, Any, float]]


def sampler(runner: asyncio.Runner, meter: Meter, work: Work, units: int) -> Callable[[], float]:
    """A subject that does its work on the runner's loop and is measured by the meter."""
    return lambda: runner.run(meter(work, units))


async def cpu_per_unit(work: Work, units: int) -> float:
    """CPU seconds that `work` takes in this process, for each of its units."""
    gc.collect()
    started = time.process_time()
    await work()
    return (time.process_time() - started) / units


async def units_per_second(work: Work, units: int) -> float:
    gc.collect()
    started = time.perf_counter()
    await work()
    return units / (time.perf_counter() - started)


def settle() -> None:
    """Take what is loaded out of the collector's sight, so that nobody pays for another's modules."""
    gc.collect()
    gc.freeze()


def child_environment(home: str, **more: str) -> dict[str, str]:
    """An environment without the keys, proxies and settings of whoever runs this."""
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": home,
        "HERMES_HOME": home,
        "LC_ALL": "C.UTF-8",
        **more,
    }
