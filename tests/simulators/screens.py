"""`hermes …` on a terminal that is really drawn: a pty of a given size, read back by a terminal emulator.

async with Screen("chat", env=…, cwd=…) as screen:
    await screen.shows(r"^>$")          # rows of the screen, without trailing blanks
    screen.type("hello\\r")
"""

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from typing import Self

import pyte

PATIENCE = 30.0
HERMES = (sys.executable, "-m", "hermes")
_TAKE_IT = "import fcntl, os, sys; fcntl.ioctl(0, %d, 0); os.execv(sys.argv[1], sys.argv[1:])"
OWN_TERMINAL = (sys.executable, "-I", "-S", "-c", _TAKE_IT % termios.TIOCSCTTY)
"""Runs a program with the terminal at its stdin as the one whose Ctrl-C it hears."""


class Screen:
    def __init__(
        self,
        *arguments: str,
        env: Mapping[str, str],
        cwd: object,
        columns: int = 80,
        lines: int = 40,
        program: tuple[str, ...] = HERMES,
    ) -> None:
        self.display = pyte.Screen(columns, lines)
        self.raw = ""
        self._stream = pyte.ByteStream(self.display)
        self._command = [*OWN_TERMINAL, *program, *arguments]
        self._env = {"TERM": "xterm-256color", **env}
        self._cwd = cwd

    async def __aenter__(self) -> Self:
        self.master, slave = pty.openpty()
        self._set_size(slave)
        self.process = subprocess.Popen(
            self._command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._env,
            cwd=str(self._cwd),
            start_new_session=True,
        )
        os.close(slave)
        os.set_blocking(self.master, False)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.display.display).rstrip()

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def resize(self, columns: int, lines: int) -> None:
        self.display.resize(lines, columns)
        self._set_size(self.master)
        os.killpg(self.process.pid, signal.SIGWINCH)

    async def shows(self, pattern: str) -> str:
        """Read until the pattern is found on the screen, and give all of it."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.text, re.M):
            assert time.monotonic() < end, f"{pattern!r} never came; the screen says:\n{self.text}"
            assert self._read() or self.process.poll() is None, f"it ended; the screen says:\n{self.text}"
            await asyncio.sleep(0.01)
        return self.text

    async def ends(self) -> int:
        """Read on until the program ends; gives its exit code."""
        end = time.monotonic() + PATIENCE
        while self._read() or self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end; the screen says:\n{self.text}"
            await asyncio.sleep(0.01)
        return self.process.wait()

    def _read(self) -> bool:
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nothing to read yet, or nobody at the other end
            return False
        self.raw += data.decode(errors="replace")
        self._stream.feed(data)
        return bool(data)

    def _set_size(self, terminal: int) -> None:
        size = struct.pack("HHHH", self.display.lines, self.display.columns, 0, 0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
