"""Request middleware for models: tags every request, and says so in the trace."""


def register(ctx):
    ctx.register_middleware("llm_request", tag)


def tag(**kwargs):
    request = dict(kwargs["request"])
    extra = dict(request.get("extra_body") or {})
    extra["metadata"] = {**extra.get("metadata", {}), "tagged_by_plugin": True}
    request["extra_body"] = extra
    return {"request": request, "source": "llm-tagger", "reason": "tagged the request"}
