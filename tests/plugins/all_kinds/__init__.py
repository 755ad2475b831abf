"""Every kind of middleware, and hooks, all of which take whatever comes."""

import json
import os

MIDDLEWARE = ("llm_request", "llm_execution", "tool_request", "tool_execution")
HOOKS = ("pre_api_request", "post_api_request", "pre_tool_call", "post_tool_call", "transform_tool_result")


def register(ctx):
    for kind in MIDDLEWARE:
        ctx.register_middleware(kind, around(kind))
    for hook in HOOKS:
        ctx.register_hook(hook, told(hook))


def around(kind):
    def middleware(**kwargs):
        note(kind, kwargs)
        if kind.endswith("_execution"):
            return kwargs["next_call"](kwargs.get("request", kwargs.get("args")))
        return None

    return middleware


def told(hook):
    def observer(**kwargs):
        note(hook, kwargs)

    return observer


def note(name, kwargs):
    shown = {key: value for key, value in kwargs.items() if isinstance(value, str | int | list | dict)}
    with open(os.path.join(os.environ["HERMES_HOME"], "noted.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, **shown}, default=repr) + "\n")
