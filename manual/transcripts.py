"""What commands print, recorded by running them.

In a page, a block of `sh` with a block of `text` right under it is a transcript: the commands, and all that
they print. Those of one page run one after the other on a fresh machine without a key and a network.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md",)
_TRANSCRIPT = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n\n(?P<fence>```+)text\n(?P<shown>.*?)^(?P=fence)$", re.M | re.S
)
_SEVERAL_STREAMS = "exec 2>&1\n"


def recorded(page: str) -> str:
    """The page with what its commands print today."""
    with tempfile.TemporaryDirectory() as folder:
        machine = _Machine(Path(folder))

        def record(found: re.Match[str]) -> str:
            shown = machine.run(found["commands"])
            fence = found["fence"] if found["fence"] not in shown else "````"
            return f"```sh\n{found['commands']}```\n\n{fence}text\n{shown}{fence}"

        return _TRANSCRIPT.sub(record, page)


class _Machine:
    """A home with nothing in it, and the command on its path."""

    def __init__(self, folder: Path) -> None:
        self._home = folder.resolve()
        programs = self._home / "bin"
        programs.mkdir()
        command = programs / "hermes"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m hermes "$@"\n')
        command.chmod(0o755)
        self._environment = {
            "HOME": str(self._home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "HERMES_MODEL_LOCAL_SERVERS": "false",
        }

    def run(self, commands: str) -> str:
        ran = subprocess.run(
            ["sh", "-c", _SEVERAL_STREAMS + commands.replace("./hermes ", "hermes ")],
            cwd=self._home,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return ran.stdout.replace(str(self._home), "~")
