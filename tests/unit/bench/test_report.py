import json
import subprocess
import sys

import pytest
from bench import __main__ as bench
from bench.install import requirements_of, size_of
from bench.measure import ROOT, Figure, Goal


def run(*arguments):
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_last_line_is_json_with_every_measure():
    done = run("--quick", "--only", "install,start")
    report = json.loads(done.stdout.splitlines()[-1])
    figures = {figure["name"]: figure for figure in report["figures"]}

    assert done.returncode == 0, done.stderr
    assert list(figures) == [
        "install.distributions",
        "install.size",
        "start.version",
        "start.help",
        "start.launcher",
    ]
    assert all(
        {"value", "floor", "ratio", "goal", "ok", "unit"} <= figure.keys() for figure in figures.values()
    )
    assert figures["start.help"]["ratio"] > figures["start.version"]["ratio"] > 1
    assert figures["install.distributions"]["ok"] is True
    assert report["pinning"]
    assert "start.version" in done.stdout.splitlines()[-4]


def test_an_unknown_measure_is_refused_with_the_known_ones():
    done = run("--only", "start,speed")

    assert done.returncode == 2
    assert "`speed` is none of start, scout, one-shot" in done.stderr


def test_the_table_lines_up_and_says_what_is_missed():
    met = Figure(name="a", what="short", value=1234.5, floor=1000, unit="µs", goal=Goal(1.6))
    missed = Figure(name="longer", what="long words", value=70, unit="MB", goal=Goal(60, "value at most"))

    head, first, second = bench.table([met, missed]).splitlines()

    assert head.split() == ["name", "what", "value", "floor", "ratio", "goal", "ok"]
    assert first.split()[-4:] == ["1.23x", "≤", "1.6x", "yes"]
    assert second.endswith("≤ 60   NO")
    assert first.index("short") == second.index("long words") == head.index("what")


def test_an_install_is_walked_from_its_requirements():
    brought = requirements_of("hermes")

    assert {"hermes", "aiohttp", "yarl", "msgspec"} <= brought
    assert not {"pip", "setuptools", "pytest", "mypy", "ruff"} & brought


@pytest.mark.parametrize("name", ["hermes", "aiohttp"])
def test_sizes_count_what_is_on_disk(name):
    from importlib.metadata import distribution

    assert 100_000 < size_of(distribution(name)) < 50_000_000
