"""Every kind of middleware and every hook, with what it is told."""

from typing import Any

from hermes.hooks.names import HOOKS, MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA, PAYLOADS, STREAM
from hermes.plugins.testing import samples
from manual.table import code, table

NAME = "hooks.md"
_LEAD = """# All hooks and their payloads

This page is made from the code. The guide [Write a plugin](../guides/write-a-plugin.md) says how to use them.

Middleware is told `middleware_schema_version`, which is `{}`.
Middleware and hooks are told `telemetry_schema_version`, which is `{}`.
"""
_KINDS = (
    (str, "text"),
    (bool, "true or false"),
    (int, "number"),
    (float, "number"),
    (dict, "object"),
    (list, "list"),
)


def text() -> str:
    parts = [_LEAD.format(MIDDLEWARE_SCHEMA, OBSERVER_SCHEMA), "## Middleware\n"]
    for kind, payload in sorted(PAYLOADS.items()):
        given = {payload: {}, f"original_{payload}": {}, **samples.context(kind)}
        if kind.startswith("tool_"):
            given = {"tool_name": "", **given}
        parts += [f"### {kind}\n", table(("told", "kind"), (_row(*item) for item in given.items()))]
        if kind.endswith("_execution"):
            parts.append("It is also given `next_call`, which goes on with the rest of the chain.\n")
    parts += [f"### {STREAM}\n", "It is given `delta`, a piece of the answer, and `ctx`.\n", "## Hooks\n"]
    for name in sorted(HOOKS):
        parts += [f"### {name}\n", _told(name)]
    return "\n".join(parts).rstrip() + "\n"


def _told(name: str) -> str:
    if name not in samples.KNOWN:
        return "The name is taken, so that a plugin may register for it; this version never calls it.\n"
    return table(("told", "kind"), (_row(*item) for item in samples.hook(name)[0].items()))


def _row(name: str, value: Any) -> tuple[str, str]:
    words = next((word for kind, word in _KINDS if type(value) is kind), "depends, or null")
    return code(name), words
