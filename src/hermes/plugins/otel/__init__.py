"""Traces and metrics by the semantic conventions for generative AI, to OpenTelemetry or to a file.

names     what spans, attributes and metrics are called
recorder  from hooks to spans
sinks     a file with one line of JSON for each
sdk       the OpenTelemetry SDK, where it is installed
"""

import os
from typing import Any, Literal

import msgspec

from .recorder import Recorder
from .sinks import FileSink, Sink

try:
    from .sdk import connect
except ModuleNotFoundError:  # the extra `hermes[otel]` is not installed

    def connect() -> None:  # type: ignore[misc]
        return None


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """`exporter` is `sdk`, `jsonl`, or `auto`: the SDK where it is set up, else the file `path`."""

    exporter: Literal["auto", "sdk", "jsonl"] = "auto"
    path: str = ""
    content: bool = False
    """Whether what was said is told, too."""


def register(ctx: Any) -> None:
    settings = msgspec.convert(dict(ctx.settings), Settings)
    recorder = Recorder(_sink(settings, ctx), content=settings.content, redact=ctx.redact)
    ctx.register_hook("pre_llm_call", recorder.begin_turn)
    ctx.register_hook("post_api_request", recorder.model_call)
    ctx.register_hook("api_request_error", recorder.failed_model_call)
    ctx.register_hook("pre_tool_call", recorder.hear_of_tool)
    ctx.register_hook("post_tool_call", recorder.tool_call)
    ctx.register_hook("on_session_end", recorder.end_turn)
    ctx.register_middleware("stream", recorder.first_chunk, permissions=("observe",))


def _sink(settings: Settings, ctx: Any) -> Sink:
    connected = connect() if settings.exporter != "jsonl" else None
    if connected is not None:
        return connected
    if settings.exporter == "sdk":
        raise RuntimeError("no tracer provider is set up, and `opentelemetry-exporter-otlp` is not installed")
    return FileSink(os.path.expanduser(settings.path) or os.path.join(ctx.folder, "spans.jsonl"))
