"""Request middleware for tools: a folder for commands that name none."""


def register(ctx):
    ctx.register_middleware("tool_request", default_folder)


def default_folder(**kwargs):
    if kwargs.get("tool_name") != "terminal":
        return None
    args = dict(kwargs["args"])
    args.setdefault("workdir", "inside")
    return {"args": args, "source": "terminal-folder", "reason": "defaulted the folder"}
