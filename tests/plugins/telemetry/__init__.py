"""Fifteen hooks and both execution kinds: each call passed on once, each result returned as it is."""

import os

HOOKS = (
    "on_session_start", "on_session_end", "on_session_finalize", "on_session_reset", "pre_llm_call",
    "post_llm_call", "pre_api_request", "post_api_request", "api_request_error", "pre_tool_call",
    "post_tool_call", "pre_approval_request", "post_approval_response", "subagent_start", "subagent_stop",
)  # fmt: skip


class Exporter:
    def __init__(self):
        self.path = os.path.join(os.environ["HERMES_HOME"], "spans.txt")

    def write(self, name):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def listener(self, hook):
        return lambda **payload: self.write(f"{hook} {payload['telemetry_schema_version']}")

    def on_llm_execution(self, *, request, next_call, **_):
        self.write("llm begins")
        try:
            return next_call(request)
        finally:
            self.write("llm ends")

    def on_tool_execution(self, *, args, next_call, **_):
        self.write("tool begins")
        try:
            return next_call(args)
        finally:
            self.write("tool ends")


def register(ctx):
    exporter = Exporter()
    for hook in HOOKS:
        ctx.register_hook(hook, exporter.listener(hook))
    ctx.register_middleware("llm_execution", exporter.on_llm_execution)
    ctx.register_middleware("tool_execution", exporter.on_tool_execution)
