"""Execution middleware for tools: notes the call, and returns the result as it came."""

import sys


def register(ctx):
    ctx.register_middleware("tool_execution", noted)


def noted(**kwargs):
    result = kwargs["next_call"](kwargs["args"])
    sys.stderr.write(f"the tool {kwargs['tool_name']} gave {len(result)} characters\n")
    return result
