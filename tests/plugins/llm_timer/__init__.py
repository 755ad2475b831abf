"""Execution middleware for models: times the call, and returns the response as it came."""

import time


def register(ctx):
    ctx.register_middleware("llm_execution", timed)


def timed(**kwargs):
    started = time.monotonic()
    response = kwargs["next_call"](kwargs["request"])
    print(f"the model took {int((time.monotonic() - started) * 1000)} ms")
    return response
