"""A new plugin to begin with: a manifest, a module, and a test that passes."""

import os

from hermes.errors import PluginError, StoreUnavailable, UsageError
from hermes.plugins.discovery import bad_name, slug

_MANIFEST = """\
name: {name}
version: "0.1"
description: Says in the trace which tools were called.
"""

_MODULE = '''\
"""{name}: what it does, in a line."""

import time


def register(ctx):
    ctx.register_middleware("tool_request", rewrite)
    ctx.register_middleware("tool_execution", wrap)
    ctx.register_hook("post_tool_call", tell)


def rewrite(tool_name, args, **_):
    """Return the arguments a tool shall have, or None to leave them as they are."""
    if tool_name != "terminal" or "workdir" in args:
        return None
    return {{"args": {{**args, "workdir": "."}}, "source": "{name}", "reason": "set the folder"}}


def wrap(args, next_call, **_):
    """Call on exactly once, and return what came of it."""
    started = time.monotonic()
    try:
        return next_call(args)
    finally:
        took.append(time.monotonic() - started)


def tell(tool_name, status, **_):
    """Hear of every tool call, whatever came of it."""
    outcomes.append((tool_name, status))


took = []
outcomes = []
'''

_TEST = '''\
"""What {name} does, without a model: `pytest` runs it."""

from pathlib import Path

from hermes.plugins.testing import Harness

PLUGIN = Path(__file__).parents[1]


def test_it_sets_the_folder_of_commands():
    ran = Harness.load(PLUGIN).tool("terminal", {{"command": "ls"}}, result="ok")
    assert ran.args == {{"command": "ls", "workdir": "."}}
    assert (ran.status, ran.result, ran.base_calls) == ("ok", "ok", 1)


def test_it_leaves_other_tools_alone():
    assert Harness.load(PLUGIN).tool("read_file", {{"path": "x"}}).args == {{"path": "x"}}


def test_it_keeps_the_contract():
    Harness.load(PLUGIN).assert_contract()
'''


def write(folder: str, name: str) -> str:
    """Write a plugin of this name into a folder of plugins; gives its path. What is there is not touched."""
    wrong = bad_name(name)
    if wrong:
        raise UsageError(wrong, hint="choose another name")
    path = os.path.join(folder, name)
    if os.path.lexists(path):
        raise PluginError(f"`{path}` is there already", hint="choose another name, or move it away")
    files = {
        "plugin.yaml": _MANIFEST,
        "__init__.py": _MODULE,
        os.path.join("tests", f"test_{slug(name).lower()}.py"): _TEST,
    }
    try:
        os.makedirs(os.path.join(path, "tests"), mode=0o700)
        for file, text in files.items():
            with open(os.path.join(path, file), "x", encoding="utf-8") as target:
                target.write(text.format(name=name))
    except OSError as error:
        raise StoreUnavailable(
            f"cannot write `{path}`: {(error.strerror or 'unknown reason').lower()}"
        ) from error
    return path
