"""Whole turns in real processes, killed at random moments or side by side in one session."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
KILLS = int(os.environ.get("HERMES_TEST_KILLS", "40"))
"""200 of them take a minute: `HERMES_TEST_KILLS=200 pytest tests/wire/test_crashes.py`."""


def run_driver(*arguments: object) -> dict:
    command = [sys.executable, str(HERE / "crash_driver.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=30 + 5 * KILLS, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kill_9_at_any_point_of_a_turn_loses_nothing_that_was_promised(tmp_path):
    report = run_driver("kill", tmp_path, KILLS, 1)
    assert report["promised"] > KILLS
    assert (report["problems"], report["refusals"]) == ([], [])
    assert set(report["statuses"]) <= {"open", "done"}


def test_processes_that_talk_in_one_session_at_once_lose_no_turn(tmp_path):
    report = run_driver("race", tmp_path, 3, 2)
    assert report == {"problems": [], "lost": [], "codes": True, "statuses": ["done"], "refusals": []}
