"""Ctrl-C in the worst moment: while a command's event loop is half built."""

import asyncio
import sys

import pytest

INTERRUPTED_WHILE_BUILDING = """
import signal, sys
from asyncio import selector_events

build = selector_events.BaseSelectorEventLoop._make_self_pipe

def interrupted(loop):
    signal.raise_signal(signal.SIGINT)
    build(loop)

selector_events.BaseSelectorEventLoop._make_self_pipe = interrupted
sys.argv = ["hermes", *sys.argv[1:]]
from hermes.cli import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["chat", "-q", "What is scout?"],
        ["search", "scout"],
        ["extract", "hermes://docs/concepts/scout.md"],
        ["sessions", "list"],
        ["models", "--offline"],
        ["doctor", "--offline"],
        ["config", "set", "CUSTOM_API_KEY", "sk-0123456789"],
    ],
    ids=lambda arguments: arguments[0],
)
async def test_ctrl_c_while_the_loop_is_built_leaves_in_words(hermes, arguments):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", INTERRUPTED_WHILE_BUILDING, *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=hermes.environment(),
        cwd=hermes.home.parent,
    )
    out, err = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == "error: interrupted"
    assert not any(word in err for word in (b"Traceback", b"ignored", b"never awaited"))
