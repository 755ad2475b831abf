"""The real command in a real process, with a home of its own and no network but loopback."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from functools import partial
from typing import NamedTuple

import pytest

from hermes import discover
from hermes.agent.send import ModelClient
from hermes.cli import _shell
from simulators import bedrock_converse
from simulators.naps import Naps
from simulators.stage import Stage

PATIENCE = 20
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

    async def shell(self, code, **variables):
        """Run shell code, in which `$PYTHON` is the interpreter."""
        process = await asyncio.create_subprocess_shell(
            code,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment(PYTHON=sys.executable, **variables),
        )
        out, err = await asyncio.wait_for(process.communicate(), timeout=60)
        return Outcome(process.returncode, out.decode(), err.decode())


@pytest.fixture(scope="session")
def stage():
    with Stage() as stage:
        yield stage


class Inside:
    """The command, run in this process: the same code as in its own, for a twentieth of the time.

    Says its exit code, stdout and stderr. What a model is waited for between two tries takes no time.
    """

    key = "sk-test-0123456789abcdef"

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments):
        code = _shell.run(arguments)
        return (code, *self._capsys.readouterr())

    def ask(self, model="custom/m", *options):
        return self("chat", "-q", "hello?", "-m", model, *options)


@pytest.fixture
def inside(stage, tmp_path, monkeypatch, capsys):
    """The command beside the stage, which is the server of every model."""
    variables = {
        "HERMES_HOME": tmp_path / "home", "HERMES_DEBUG": "1", "HERMES_MODEL_TIMEOUT": "0.3",
        "CUSTOM_BASE_URL": f"{stage.url}/v1", "CUSTOM_API_KEY": Inside.key,
        "ANTHROPIC_BASE_URL": stage.url, "ANTHROPIC_API_KEY": Inside.key,
        "OPENAI_BASE_URL": f"{stage.url}/v1", "OPENAI_API_KEY": Inside.key,
        "BEDROCK_BASE_URL": stage.url, "AWS_ACCESS_KEY_ID": bedrock_converse.KEY_ID,
        "AWS_SECRET_ACCESS_KEY": bedrock_converse.SECRET, "AWS_REGION": bedrock_converse.REGION,
    }  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    discover.module("hermes.providers.bedrock.signing")._session.cache_clear()
    monkeypatch.setattr("hermes.app.runtime.ModelClient", partial(ModelClient, sleep=Naps()))
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield Inside(capsys)


@pytest.fixture
def hermes(tmp_path):
    return Hermes(tmp_path / "home")


class Terminal:
    """`hermes …` on a pty of its own."""

    def __init__(self, *arguments, env, cwd):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hermes", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm", **env},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, pattern):
        """Read until the pattern stands on the screen after what was waited for before."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < end, f"{pattern!r} never came; the screen says {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += self._read()
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def press_ctrl_c(self):
        """What a terminal does on Ctrl-C to the program in its foreground."""
        os.killpg(self.process.pid, signal.SIGINT)

    def leave(self):
        """Read on until the program ends; returns its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end; the screen says {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += self._read()
        return self.process.returncode

    def _read(self):
        try:
            return os.read(self.master, 65536).decode(errors="replace")
        except OSError:
            return ""


@pytest.fixture
def terminal(hermes):
    opened = []

    def start(*arguments, **variables):
        opened.append(Terminal(*arguments, env=hermes.environment(**variables), cwd=hermes.home.parent))
        return opened[-1]

    yield start
    for screen in opened:
        screen.process.kill()
        screen.process.wait()
        os.close(screen.master)
