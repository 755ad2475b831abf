"""Plugins written against the contract alone, run as they are: the real command, a strict model server.

Their manifests name no capabilities. What they saw they write to a file beside them.
"""

import json
from textwrap import dedent

import pytest

from simulators.chat_completions import ChatSimulator, Extras, calls, fails, says

TAGGER = """
    def register(ctx):
        ctx.register_middleware("llm_request", add_tag)


    def add_tag(**kwargs):
        request = dict(kwargs["request"])
        body = dict(request.get("extra_body") or {})
        body.setdefault("metadata", {})["tagged_by_demo"] = True
        request["extra_body"] = body
        return {"request": request, "source": "middleware-demo", "reason": "tagged provider request"}
"""

WORKDIR = """
    def register(ctx):
        ctx.register_middleware("tool_request", default_workdir)


    def default_workdir(**kwargs):
        if kwargs.get("tool_name") != "terminal":
            return None
        args = dict(kwargs["args"])
        args.setdefault("workdir", "FOLDER")
        return {"args": args, "source": "middleware-demo", "reason": "defaulted terminal workdir"}
"""

TIMER = """
    import time


    def register(ctx):
        ctx.register_middleware("llm_execution", timed)


    def timed(**kwargs):
        begin = time.monotonic()
        answer = kwargs["next_call"](kwargs["request"])
        print("the model took", time.monotonic() - begin)
        return answer
"""

ANNOTATOR = """
    def register(ctx):
        ctx.register_middleware("tool_execution", annotate)


    def annotate(**kwargs):
        return kwargs["next_call"](kwargs["args"])
"""

WATCHER = """
    import json, os

    HOOKS = HOOK_NAMES

    def note(hook, kwargs):
        with open(os.path.join(os.path.dirname(__file__), ".seen.jsonl"), "a") as file:
            file.write(json.dumps([hook, kwargs], default=repr) + "\\n")

    def listener(hook):
        def on_hook(**kwargs):
            note(hook, kwargs)
        return on_hook

    def register(ctx):
        for hook in HOOKS:
            ctx.register_hook(hook, listener(hook))
"""

EVERYTHING = (
    WATCHER
    + """
        ctx.register_middleware("llm_request", on_llm_request)
        ctx.register_middleware("llm_execution", on_llm_execution)
        ctx.register_middleware("tool_request", on_tool_request)
        ctx.register_middleware("tool_execution", on_tool_execution)

    def shown(kwargs):
        return {name: value for name, value in kwargs.items() if name != "next_call"}

    def on_llm_request(**kwargs):
        note("llm_request", shown(kwargs))
        return {"request": {**kwargs["request"], "temperature": 0.5}, "source": "all", "reason": "warmer"}

    def on_llm_execution(**kwargs):
        note("llm_execution", shown(kwargs))
        return kwargs["next_call"](kwargs["request"])

    def on_tool_request(**kwargs):
        note("tool_request", shown(kwargs))
        return {"args": {**kwargs["args"], "limit": 5}, "source": "all", "reason": "shorter"}

    def on_tool_execution(**kwargs):
        note("tool_execution", shown(kwargs))
        return kwargs["next_call"](kwargs["args"])
"""
)

OBSERVABILITY = (
    WATCHER
    + """
        ctx.register_middleware("llm_execution", managed_llm)
        ctx.register_middleware("tool_execution", managed_tool)

    def managed_llm(**kwargs):
        result = kwargs["next_call"](kwargs.get("request"))
        note("llm_execution", {"type": type(result).__name__})
        return result

    def managed_tool(**kwargs):
        result = kwargs["next_call"](kwargs.get("args"))
        note("tool_execution", {"result": result})
        return result
"""
)

HOOKS = (
    "on_session_start", "on_session_end", "on_session_finalize", "on_session_reset", "pre_llm_call",
    "post_llm_call", "pre_api_request", "post_api_request", "api_request_error", "pre_tool_call",
    "post_tool_call", "pre_approval_request", "post_approval_response", "subagent_start", "subagent_stop",
)  # fmt: skip
IDS = ("session_id", "task_id", "turn_id", "api_request_id")
MODEL = ("-m", "custom/m")
TAGGED = Extras(fields=frozenset({"metadata"}))


@pytest.fixture
def enabled(hermes):
    async def enable(name, code, **words):
        folder = hermes.home / "plugins" / name
        folder.mkdir(parents=True)
        hermes.home.chmod(0o700)
        for word, value in words.items():
            code = code.replace(word, value)
        (folder / "plugin.yaml").write_text(f"name: {name}\nversion: '1.0'\n")
        (folder / "__init__.py").write_text(dedent(code))
        ran = await hermes("plugins", "enable", name)
        assert ran.code == 0, ran.err
        return Seen(folder)

    return enable


class Seen:
    """What a plugin wrote down."""

    def __init__(self, folder):
        self._file = folder / ".seen.jsonl"

    def all(self):
        return [json.loads(line) for line in self._file.read_text().splitlines()]

    def names(self):
        return [name for name, _ in self.all()]

    def told(self, name):
        return [payload for hook, payload in self.all() if hook == name]


async def ask(hermes, server, *words):
    ran = await hermes("chat", "-q", "go on", *MODEL, *words, CUSTOM_BASE_URL=server.base_url)
    assert ran.code == 0, ran.err
    return ran


async def test_a_tagged_request_reaches_the_provider_and_is_told(hermes, enabled):
    await enabled("tagger", TAGGER)
    seen = await enabled("watcher", WATCHER, HOOK_NAMES=repr(HOOKS))
    async with ChatSimulator(says("ok"), extras=TAGGED) as server:
        assert (await ask(hermes, server)).out == "ok\n"
    assert server.bodies[0]["metadata"] == {"tagged_by_demo": True}
    assert "extra_body" not in server.bodies[0]
    trace = [{"source": "middleware-demo", "reason": "tagged provider request"}]
    for hook in ("pre_api_request", "post_api_request"):
        (told,) = seen.told(hook)
        assert told["request"]["body"]["extra_body"] == {"metadata": {"tagged_by_demo": True}}
        assert told["middleware_trace"] == trace


async def test_a_working_folder_is_set_for_the_terminal_alone(hermes, enabled, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "a.txt").write_text("hello")
    await enabled("workdir", WORKDIR, FOLDER=str(tmp_path / "work"))
    seen = await enabled("watcher", WATCHER, HOOK_NAMES=repr(HOOKS))
    script = (calls(("terminal", {"command": "pwd"})), calls(("read_file", {"path": "a.txt"})), says("ok"))
    async with ChatSimulator(*script) as server:
        await ask(hermes, server, "--tools", "terminal,file")
    trace = [{"source": "middleware-demo", "reason": "defaulted terminal workdir"}]
    for hook in ("pre_tool_call", "post_tool_call"):
        command, reading = seen.told(hook)
        assert command["args"]["workdir"] == str(tmp_path / "work")
        assert command["middleware_trace"] == trace
        assert reading["args"] == {"path": "a.txt"}
        assert reading["middleware_trace"] == []
    assert str(tmp_path / "work") in seen.told("post_tool_call")[0]["result"]


async def test_wrappers_of_calls_change_nothing(hermes, enabled, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    script = (calls(("read_file", {"path": "a.txt"})), says("ok"))
    async with ChatSimulator(*script) as bare:
        plain = await ask(hermes, bare, "--tools", "file")
    await enabled("timer", TIMER)
    await enabled("annotator", ANNOTATOR)
    async with ChatSimulator(*script) as server:
        ran = await ask(hermes, server, "--tools", "file")
    assert ran.out == plain.out
    assert ran.err.count("the model took") == 2
    assert server.bodies == bare.bodies


async def test_all_four_kinds_and_hooks_see_one_call_in_their_order(hermes, enabled, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    seen = await enabled("all", EVERYTHING, HOOK_NAMES=repr(HOOKS))
    script = (calls(("read_file", {"path": "a.txt"})), fails(503), says("ok"))
    async with ChatSimulator(*script) as server:
        await ask(hermes, server, "--tools", "file")
    model = ["llm_request", "pre_api_request", "llm_execution"]
    names = seen.names()
    assert names[: names.index("post_llm_call")] == [
        *("on_session_start", "pre_llm_call"),
        *(*model, "post_api_request"),
        *("tool_request", "pre_tool_call", "tool_execution", "post_tool_call"),
        *(*model, "api_request_error"),
        *(*model, "post_api_request"),
    ]
    assert "on_session_end" in names
    assert [body["temperature"] for body in server.bodies] == [0.5] * 3
    (ran,) = seen.told("tool_execution")
    assert (ran["args"], ran["original_args"]) == ({"path": "a.txt", "limit": 5}, {"path": "a.txt"})
    assert "temperature" not in seen.told("llm_execution")[0]["original_request"]


async def test_every_payload_has_its_versions_and_ids(hermes, enabled, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    seen = await enabled("all", EVERYTHING, HOOK_NAMES=repr(HOOKS))
    script = (calls(("read_file", {"path": "a.txt"})), says("ok"))
    async with ChatSimulator(*script) as server:
        await ask(hermes, server, "--tools", "file")
    for name, payload in seen.all():
        assert payload["telemetry_schema_version"] == "hermes.observer.v1"
        is_middleware = name.endswith(("_request", "_execution")) and not name.startswith("pre_")
        is_middleware = is_middleware and name != "post_api_request"
        assert (payload.get("middleware_schema_version") == "hermes.middleware.v1") is is_middleware, name
        if name.startswith(("llm_", "tool_")) or name.endswith(("_tool_call", "_api_request")):
            assert all(isinstance(payload[id], str) and payload[id] for id in IDS), name
        if name.startswith("tool_") or name.endswith("_tool_call"):
            assert isinstance(payload["tool_call_id"], str)
            assert payload["tool_call_id"]


async def test_the_shape_of_an_observability_plugin_sees_all_and_changes_nothing(hermes, enabled, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    script = (
        calls(("read_file", {"path": "a.txt"}), ("read_file", {"path": "gone.txt"})),
        calls(("terminal", {"command": "rm -rf precious"})),
        says("ok"),
    )
    async with ChatSimulator(*script) as bare:
        plain = await ask(hermes, bare, "--tools", "terminal,file")
    seen = await enabled("observability", OBSERVABILITY, HOOK_NAMES=repr(HOOKS))
    async with ChatSimulator(*script) as server:
        ran = await ask(hermes, server, "--tools", "terminal,file")
    assert (ran.out, server.bodies) == (plain.out, bare.bodies)
    names = seen.names()
    counted = {name: names.count(name) for name in names}
    assert counted["pre_tool_call"] == counted["post_tool_call"] == 3
    assert counted["pre_api_request"] == counted["post_api_request"] == counted["llm_execution"] == 3
    assert counted["tool_execution"] == 1
    assert sorted(told["status"] for told in seen.told("post_tool_call")) == ["blocked", "error", "ok"]
    assert counted["on_session_start"] == counted["on_session_end"] == 1
    stats = (await hermes("plugins", "stats", "--json")).json()["callbacks"]
    assert sum(row["errors"] + row["ignored"] + row["timeouts"] for row in stats) == 0


async def test_a_plugin_that_is_enabled_in_another_home_does_not_run(hermes, enabled, tmp_path):
    seen = await enabled("all", EVERYTHING, HOOK_NAMES=repr(HOOKS))
    async with ChatSimulator(says("ok")) as server:
        other = {"HERMES_HOME": str(tmp_path / "other"), "CUSTOM_BASE_URL": server.base_url}
        ran = await hermes("chat", "-q", "go on", *MODEL, **other)
    assert (ran.code, ran.out) == (0, "ok\n")
    assert "temperature" not in server.bodies[0]
    assert not seen._file.exists()


async def test_in_observe_mode_nothing_is_rewritten_and_hooks_still_fire(hermes, enabled, tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    seen = await enabled("all", EVERYTHING, HOOK_NAMES=repr(HOOKS))
    script = (calls(("read_file", {"path": "a.txt"})), says("ok"))
    assert (await hermes("config", "set", "plugins.mode", "observe")).code == 0
    async with ChatSimulator(*script) as server:
        await ask(hermes, server, "--tools", "file")
    assert all("temperature" not in body for body in server.bodies)
    assert seen.told("post_tool_call")[0]["args"] == {"path": "a.txt"}
    assert {"pre_api_request", "post_llm_call", "on_session_end"} <= set(seen.names())
    stats = (await hermes("plugins", "stats", "--json")).json()["callbacks"]
    dropped = {row["kind"]: row["ignored"] for row in stats if row["ignored"]}
    assert dropped == {"llm_request": 2, "tool_request": 1}
