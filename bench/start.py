"""What a whole command costs, in units of an interpreter that does nothing."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from bench.measure import (
    HERMES,
    MILLI,
    PYTHON,
    ROOT,
    Figure,
    Goal,
    Plan,
    child_environment,
    interleave,
    medians,
    peak_megabytes,
    run_child,
)

BARE = [PYTHON, "-c", "pass"]
VERSION = [HERMES, "--version"]
SCOUT = [HERMES, "chat", "-q", "How do I add a web search backend?"]
ONE_SHOT = [HERMES, "chat", "-q", "hi", "-m", "custom/bench"]
DOCTOR = [HERMES, "doctor", "--offline"]
SMALL_CONFIG = "agent:\n  max_turns: 20\nweb:\n  extract_char_limit: 15000\n"


def measure_start(plan: Plan) -> list[Figure]:
    environ = child_environment(plan.folder)
    commands = (BARE, VERSION, [HERMES, "--help"])
    bare, version, help = medians([_cpu_of(command, environ) for command in commands], plan.rounds(40, 8))
    return [
        _cpu("start.version", "hermes --version, CPU", version, bare, 2.5),
        _cpu("start.help", "hermes --help, CPU", help, bare, 6),
        _launcher(plan),
    ]


def _launcher(plan: Plan) -> Figure:
    environ = child_environment(plan.folder)
    launcher = [_checkout(plan.folder), "--version"]
    script, launched = interleave(
        [lambda: run_child(VERSION, environ).wall, lambda: run_child(launcher, environ).wall],
        plan.rounds(40, 8),
    )
    over = median(slow - quick for quick, slow in zip(script, launched, strict=True))
    return Figure(name="start.launcher", what="./hermes over its script, wall", value=over * MILLI, unit="ms")


def _checkout(folder: str) -> str:
    """The launcher in a checkout that counts as installed, so that measuring it installs nothing."""
    root, venv = os.path.join(folder, "checkout"), os.path.dirname(os.path.dirname(PYTHON))
    os.makedirs(os.path.join(root, ".venv"))
    for name in ("hermes", "pyproject.toml", "constraints.txt"):
        shutil.copy2(os.path.join(ROOT, name), root)
    for name in ("bin", "lib", "pyvenv.cfg"):
        os.symlink(os.path.join(venv, name), os.path.join(root, ".venv", name))
    with open(os.path.join(root, ".venv", ".ready"), "w", encoding="utf-8"):
        return os.path.join(root, "hermes")


def measure_scout(plan: Plan) -> list[Figure]:
    without = child_environment(os.path.join(plan.folder, "without-config"))
    configured = child_environment(os.path.join(plan.folder, "with-config"))
    os.makedirs(configured["HERMES_HOME"])
    with open(os.path.join(configured["HERMES_HOME"], "config.yaml"), "w", encoding="utf-8") as file:
        file.write(SMALL_CONFIG)
    subjects = [_cpu_of(BARE, without), _cpu_of(SCOUT, without), _cpu_of(SCOUT, configured)]
    bare, plain, with_config = medians(subjects, plan.rounds(25, 5))
    return [
        _cpu("scout", "hermes chat -q with scout, CPU", plain, bare, 16),
        _cpu("scout.config", "the same with a config.yaml, CPU", with_config, bare, 16),
    ]


def measure_one_shot(plan: Plan) -> list[Figure]:
    home = os.path.join(plan.folder, "one-shot")
    environ = child_environment(home, CUSTOM_BASE_URL=plan.server)
    bare, asked = medians([_cpu_of(BARE, environ), _cpu_of(ONE_SHOT, environ)], plan.rounds(25, 5))
    peak = median(peak_megabytes(ONE_SHOT, environ) for _ in range(plan.rounds(5, 1)))
    return [
        _cpu("one-shot", "hermes chat -q against a server, CPU", asked, bare, 33),
        Figure(
            name="one-shot.memory",
            what="the same, peak memory",
            value=peak,
            unit="MB",
            goal=Goal(60, "value at most"),
        ),
    ]


def measure_shell(plan: Plan) -> list[Figure]:
    """What a person waits for beside answers: the checks of doctor, and a line that a shell completes."""
    environ = child_environment(os.path.join(plan.folder, "shell"))
    asked = {"COMP_WORDS": "hermes chat -m sco", "COMP_CWORD": "3", "_HERMES_COMPLETE": "bash_complete"}
    subjects = [
        _cpu_of(BARE, environ),
        _cpu_of(DOCTOR, environ),
        _cpu_of([HERMES], {**environ, **asked}),
    ]
    bare, doctor, completed = medians(subjects, plan.rounds(15, 3))
    return [
        Figure(
            name="shell.doctor",
            what="hermes doctor --offline, CPU",
            value=doctor * MILLI,
            unit="ms",
            floor=bare * MILLI,
        ),
        Figure(
            name="shell.completion",
            what="a model's name completed, CPU",
            value=completed * MILLI,
            unit="ms",
            floor=bare * MILLI,
        ),
    ]


def _cpu_of(command: Sequence[str], environ: Mapping[str, str]) -> Callable[[], float]:
    return lambda: run_child(command, environ).cpu


def _cpu(name: str, what: str, value: float, bare: float, limit: float) -> Figure:
    return Figure(name=name, what=what, value=value * MILLI, unit="ms", floor=bare * MILLI, goal=Goal(limit))
