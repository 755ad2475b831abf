"""The real command in a real process, with a home of its own and no network but loopback."""

import asyncio
import json
import os
import sys
from typing import NamedTuple

import pytest

PASSED_ON = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


class Hermes:
    """Runs `hermes …` with this home; keyword arguments are environment variables."""

    def __init__(self, home):
        self.home = home

    def environment(self, **variables):
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        alone = {"HERMES_HOME": str(self.home), "HERMES_DEBUG": "1", "HERMES_MODEL_LOCAL_SERVERS": "false"}
        alone["AWS_EC2_METADATA_DISABLED"] = "true"
        return {**kept, **alone, **variables}

    async def start(self, *arguments, **variables):
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hermes",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment(**variables),
            cwd=self.home.parent,
        )

    async def __call__(self, *arguments, stdin=b"", **variables):
        process = await self.start(*arguments, **variables)
        out, err = await asyncio.wait_for(process.communicate(stdin), timeout=60)
        assert b"Traceback" not in err, err.decode()
        return Outcome(process.returncode, out.decode(), err.decode())


@pytest.fixture
def hermes(tmp_path):
    return Hermes(tmp_path / "home")
