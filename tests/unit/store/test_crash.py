import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def run_driver(*arguments: object) -> dict:
    command = [sys.executable, str(HERE / "crash_driver.py"), *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kill_9_loses_no_acknowledged_message(path):
    report = run_driver("writers", path, 50, 1)
    assert report["promised"] > 50
    del report["promised"]
    assert report == {"lost": [], "in_order": True, "problems": [], "status": "open"}


def test_kill_9_while_the_file_is_made(tmp_path):
    assert run_driver("openers", tmp_path, 30, 3) == {"problems": []}


async def test_two_processes_with_thirty_writers_each_lose_nothing(store, path, session):
    await store.create(session("s"))
    processes, writers, messages = 2, 30, 20
    commands = [
        [sys.executable, str(HERE / "writers.py"), path, str(process), str(writers), str(messages)]
        for process in range(processes)
    ]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    complaints = [process.communicate(timeout=60)[1] for process in running]
    assert complaints == [""] * processes
    kept = [message.content for message in await store.messages("s")]
    assert len(kept) == processes * writers * messages
    for name in {content.split(":")[0] for content in kept}:
        mine = [content for content in kept if content.startswith(f"{name}:")]
        assert mine == [f"{name}:{number}" for number in range(messages)]
    assert (await store.find("s")).messages == len(kept)


def test_openers_at_the_same_moment_make_one_file_and_set_aside_one(tmp_path):
    assert run_driver("race", tmp_path, 50, 4) == {"problems": []}
