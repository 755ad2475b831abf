"""Enabled plugins, run: each registers all or nothing, and none harms the others."""

import os
import sys

import msgspec
import pytest

from hermes.errors import ToolError
from hermes.plugins.contents import content_hash
from hermes.plugins.loading import found_plugins, load_found
from hermes.protocols import ToolResult
from hermes.tools.toolbox import Toolbox

GOOD = """
    def register(ctx):
        ctx.register_hook("post_tool_call", seen)

    def seen(**kwargs):
        pass
"""
HALF = """
    def register(ctx):
        ctx.register_middleware("tool_request", lambda **_: None)
        ctx.register_hook("post_tool_call", lambda **_: None)
        ctx.register_tool("half", "half", {}, lambda args: "x")
        ctx.register_command("half", lambda text: None)
        ctx.register_cli_command("half", "Half.", lambda parser: None)
        raise RuntimeError("in the middle")
"""


def test_what_a_failing_plugin_registered_is_gone_and_the_next_one_loads(home):
    home.plugin("a", HALF)
    home.plugin("b", GOOD)
    home.enable("a", "b")
    loaded = home.load()
    assert [(record.key, record.state, record.reason) for record in loaded.plugins] == [
        ("a", "failed", "RuntimeError: in the middle"),
        ("b", "enabled", ""),
    ]
    assert [registration.plugin for registration in loaded.registrations] == ["b"]
    assert (loaded.tools, loaded.commands, loaded.cli_commands) == ((), (), ())
    assert loaded.warnings == ("the plugin `a` is not loaded: RuntimeError: in the middle",)
    assert "hermes_plugins.a" not in sys.modules


FAULTS = {
    "1 / 0": "ZeroDivisionError",
    "raise SystemExit(3)": "SystemExit",
    "import sys; sys.exit()": "SystemExit",
    "raise BaseException('odd')": "BaseException: odd",
    "class Odd(BaseException): pass\nraise Odd": "Odd",
    "def f(:": "SyntaxError",
    "import nothing_like_this": "ModuleNotFoundError",
    "x = 1": "no register() function",
    "register = 5": "no register() function",
    "async def register(ctx): pass": "async",
    "def register(): pass": "TypeError",
    "def register(ctx): ctx.nonsense": "has no `nonsense`",
    "def register(ctx): raise SystemExit": "SystemExit",
    "def register(ctx): raise GeneratorExit": "GeneratorExit",
    "def register(ctx): ctx.register_hook('post_tool_call', 5)": "cannot be called",
    "def register(ctx): ctx.register_middleware('tool_request', print, priority='high')": "`priority`",
    "def register(ctx): ctx.register_middleware('tool_request', print, on_error='maybe')": "`on_error`",
    "def register(ctx): ctx.register_middleware('tool_request', print, max_calls=0)": "`max_calls`",
    "def register(ctx): ctx.register_hook('post_tool_call', print, timeout=-1)": "`timeout`",
    "def register(ctx): ctx.register_hook('post_tool_call', print, when=3)": "`when`",
    "def register(ctx): ctx.register_hook('post_tool_call', print, breaker=3)": "`breaker`",
    "def register(ctx): ctx.register_skill('a:b', '/')": "cannot be a skill's name",
    "def register(ctx): ctx.register_skill('a', '/nothing/here')": "no skill at",
}


@pytest.mark.parametrize("code", FAULTS)
def test_whatever_a_plugin_does_wrong_is_its_own_affair(home, code):
    home.plugin("bad", code)
    home.plugin("good", GOOD)
    home.enable("bad", "good")
    records = home.records()
    assert records["good"].state == "enabled"
    assert records["bad"].state == "failed"
    assert FAULTS[code] in records["bad"].reason


def test_the_user_can_stop_the_loading(home):
    home.plugin("slow", "raise KeyboardInterrupt")
    home.enable("slow")
    with pytest.raises(KeyboardInterrupt):
        home.load()


def test_a_folder_without_a_module_is_a_failure(home):
    (home.plugin("empty") / "__init__.py").unlink()
    home.enable("empty")
    assert home.records()["empty"].state == "failed"


def test_a_module_that_anybody_may_write_is_not_run(home):
    (home.plugin("open", GOOD) / "__init__.py").chmod(0o666)
    home.enable("open")
    record = home.records()["open"]
    assert record.state == "failed"
    assert "other users" in record.reason


def test_what_a_plugin_prints_while_it_is_loaded_goes_to_stderr(home, capfd):
    home.plugin(
        "loud",
        """
        import os, subprocess
        print("printed at import")
        os.write(1, b"written at import\\n")
        subprocess.run(["echo", "echoed at import"])

        def register(ctx):
            print("printed in register")
        """,
    )
    home.enable("loud")
    assert home.records()["loud"].state == "enabled"
    print("ours")
    out, err = capfd.readouterr()
    assert out == "ours\n"
    for words in ("printed at import", "written at import", "echoed at import", "printed in register"):
        assert words in err


def test_a_plugin_that_forks_leaves_one_of_us(home, capfd):
    home.plugin(
        "fork",
        """
        import os, warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.fork()

        def register(ctx):
            pass
        """,
    )
    home.enable("fork")
    assert home.records()["fork"].state == "enabled"
    os.write(1, b"once\n")
    os.waitpid(-1, 0)
    assert capfd.readouterr().out == "once\n"


def test_a_plugin_that_hangs_is_ended(home):
    home.plugin("slow", "import time\ntry:\n    time.sleep(60)\nexcept Exception:\n    pass\n")
    home.plugin("good", GOOD)
    home.enable("slow", "good")
    config = home.config()
    quick = msgspec.structs.replace(config.plugins, timeout=0.1)
    loaded = load_found(found_plugins(config, ""), msgspec.structs.replace(config, plugins=quick))
    slow, good = sorted(loaded.plugins, key=lambda one: one.state)[::-1]
    assert (slow.state, good.state) == ("failed", "enabled")
    assert "longer than 0.1 seconds" in slow.reason


def test_relative_imports_work_and_an_update_is_seen(home):
    folder = home.plugin(
        "rel",
        """
        from . import part
        from .part import NAME

        def register(ctx):
            ctx.register_skill(NAME, __file__)
        """,
        part="NAME = 'first'\n",
    )
    home.enable("rel")
    assert [skill.address for skill in home.load().skills] == ["rel:first"]
    (folder / "part.py").write_text("NAME = 'another'\n")
    assert [skill.address for skill in home.load().skills] == ["rel:another"]


def test_the_module_has_the_name_of_its_key(home):
    home.plugin("my-plug", GOOD, within=home.root / "plugins" / "cat")
    home.enable("cat/my-plug")
    (registration,) = home.load().registrations
    assert registration.callback.__module__ == "hermes_plugins.cat__my_plug"
    assert registration.plugin == "cat/my-plug"


def test_an_unknown_hook_or_kind_is_stored_and_said(home):
    home.plugin(
        "odd",
        """
        def register(ctx):
            ctx.register_hook('nope', print)
            ctx.register_middleware('never', print)
        """,
    )
    home.enable("odd")
    loaded = home.load()
    assert [registration.kind for registration in loaded.registrations] == ["nope", "never"]
    assert [("nope" in w, "never" in w) for w in loaded.plugins[0].warnings] == [(True, False), (False, True)]


def test_callbacks_that_cannot_be_put_in_order_fail_the_plugin_that_came_later(home):
    code = "def register(ctx):\n    ctx.register_middleware('tool_request', print, before=[{other!r}])\n"
    home.plugin("a", code.format(other="b"))
    home.plugin("b", code.format(other="a"))
    home.plugin("c", code.format(other="a"))
    home.enable("a", "b", "c")
    assert [record.state for record in home.load().plugins] == ["enabled", "failed", "enabled"]


def test_the_mode_off_imports_nothing(home):
    home.plugin("bad", "raise RuntimeError")
    home.settings("plugins: {enabled: [bad], mode: off}\n")
    loaded = home.load()
    assert (loaded.registrations, loaded.warnings) == ((), ())


@pytest.mark.parametrize("kind", ["exclusive", "model-provider", "platform"])
def test_kinds_that_are_loaded_elsewhere_are_listed_and_not_imported(home, kind):
    home.plugin("other", "raise RuntimeError", f"kind: {kind}")
    home.enable("other")
    record = home.records()["other"]
    assert record.state == "not loaded"
    assert record.reason


def test_a_bundled_backend_loads_by_itself_and_can_be_disabled(home):
    home.plugin("search", GOOD, "kind: backend", within=home.bundled)
    assert home.records()["search"].state == "enabled"
    home.settings("plugins: {disabled: [search]}\n")
    assert home.records()["search"].state == "disabled"
    home.plugin("mine", GOOD, "kind: backend")
    assert home.records()["mine"].state == "not enabled"


def test_a_plugin_whose_files_changed_waits_for_consent(home):
    folder = home.plugin("mine", GOOD, part="x = 1\n")
    agreed = content_hash(str(folder))
    home.settings(f"plugins:\n  enabled: [mine]\n  entries:\n    mine: {{hash: {agreed}}}\n")
    assert home.records()["mine"].state == "enabled"
    (folder / "part.py").write_text("x = 2\n")
    record = home.records()["mine"]
    assert record.state == "changed"
    assert "hermes plugins enable mine" in record.reason
    assert home.load().registrations == ()


def test_the_hash_is_of_names_and_contents_and_of_nothing_else(home):
    folder = home.plugin("mine", GOOD, part="x = 1\n")
    before = content_hash(str(folder))
    for noise in ("__pycache__", ".git", ".pytest_cache"):
        (folder / noise).mkdir()
        (folder / noise / "x").write_text("y")
    (folder / ".hidden").write_text("y")
    (folder / "part.py").touch()
    assert content_hash(str(folder)) == before
    (folder / "part.py").rename(folder / "other.py")
    assert content_hash(str(folder)) != before


def test_a_link_out_of_a_plugins_folder_is_refused(home, tmp_path):
    folder = home.plugin("mine", GOOD)
    (tmp_path / "outside.py").write_text("x = 1")
    (folder / "part.py").symlink_to(tmp_path / "outside.py")
    home.enable("mine")
    record = home.records()["mine"]
    assert record.state == "refused"
    assert "leads out" in record.reason


def test_a_pipe_in_a_plugins_folder_is_refused_and_not_waited_for(home):
    folder = home.plugin("mine", GOOD)
    os.mkfifo(folder / "pipe")
    home.enable("mine")
    assert home.records()["mine"].state == "refused"


TOOL = """
    def register(ctx):
        ctx.register_tool("echo", "mine", {schema}, handler{more})

    {handler}
"""
SCHEMA = {
    "name": "echo",
    "description": "Say it.",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
}


def tool(home, handler="def handler(args, **kwargs): return str(args)", schema=SCHEMA, more=""):
    home.plugin("mine", TOOL.format(schema=schema, handler=handler, more=more))
    home.enable("mine")
    loaded = home.load()
    assert loaded.plugins[0].state == "enabled", loaded.plugins[0].reason
    return Toolbox(loaded.tools, Services())


class Services:
    def setting(self, name):
        return None


async def test_a_tool_of_a_plugin_is_called_with_its_arguments_made_to_fit(home):
    box = tool(home)
    (spec,) = box.specs()
    assert (spec.name, spec.description) == ("echo", "Say it.")
    assert await box.call("echo", {"n": "5"}) == ToolResult("{'n': 5}")
    with pytest.raises(ToolError, match="has no parameter `m`"):
        await box.call("echo", {"m": 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "function", "function": SCHEMA},
        {"name": "echo", "input_schema": SCHEMA["parameters"]},
        SCHEMA["parameters"],
    ],
)
async def test_a_schema_is_understood_wherever_the_parameters_stand(home, schema):
    assert await tool(home, schema=schema).call("echo", {"n": 5}) == ToolResult("{'n': 5}")


async def test_a_schema_may_say_more_than_ours_do(home):
    properties = {
        "a": {"type": ["string", "null"]},
        "b": {"anyOf": [{"type": "string"}]},
        "c": {"type": "array"},
        "d": {},
    }
    box = tool(home, schema={"parameters": {"properties": properties, "additionalProperties": True}})
    given = {"a": "x", "b": 1, "c": [1], "d": {}, "more": True}
    assert (await box.call("echo", given)).text == str(given)


@pytest.mark.parametrize(
    ("handler", "text", "is_error"),
    [
        ("async def handler(args, **kwargs): return 'later'", "later", False),
        ("def handler(args): return {'ok': 1}", '{\n  "ok": 1\n}', False),
        ("def handler(args): return None", "", False),
        ('def handler(args): return \'{"error": "no"}\'', '{"error": "no"}', True),
        ("def handler(args): return {'error': ''}", '{\n  "error": ""\n}', False),
        ("def handler(args): raise KeyError('k')", "KeyError", True),
        ("def handler(args): raise SystemExit(1)", "SystemExit", True),
        ("async def handler(args): raise ValueError('v')", "ValueError: v", True),
        ("def handler(): pass", "TypeError", True),
        ("def handler(args): return object", "<class", False),
    ],
)
async def test_what_a_handler_gives_is_a_result(home, handler, text, is_error):
    result = await tool(home, handler).call("echo", {})
    assert text in result.text
    assert result.is_error is is_error


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (", check_fn=lambda: False", "cannot be used now"),
        (", check_fn=lambda: 1 / 0", "check failed: ZeroDivisionError"),
        (", requires_env=['ACME_KEY']", "`ACME_KEY` is not set"),
        (", requires_env=[{'name': 'ACME_KEY'}]", "`ACME_KEY` is not set"),
        (", check_fn=lambda: True, is_async=True, emoji='x'", None),
    ],
)
def test_a_tool_says_what_it_lacks(home, more, words):
    lacks = tool(home, more=more).why_not()
    assert (words is None and lacks == {}) or words in lacks["echo"]


OVERRIDE = "def register(ctx):\n    ctx.register_tool('web_search', 'mine', {}, print, override=True)\n"


def test_a_taken_name_is_refused_unless_it_is_meant(home):
    home.plugin("a", "def register(ctx):\n    ctx.register_tool('web_search', 'web', {}, print)\n")
    home.plugin("b", "def register(ctx):\n    ctx.register_tool('own', 'b', {}, print)\n")
    home.plugin("c", "def register(ctx):\n    ctx.register_tool('own', 'c', {}, print)\n")
    home.enable("a", "b", "c")
    loaded = home.load()
    assert [tool.toolset for tool in loaded.tools] == ["b"]
    assert [record.state for record in loaded.plugins] == ["enabled"] * 3
    assert ["there is one already" in warning for warning in loaded.warnings] == [True, True]


def test_replacing_a_tool_has_to_be_allowed(home):
    home.plugin("mine", OVERRIDE)
    home.enable("mine")
    record = home.records()["mine"]
    assert record.state == "failed"
    assert "may not replace the tool `web_search`" in record.reason
    home.settings("plugins: {enabled: [mine], entries: {mine: {allow_tool_override: true}}}\n")
    assert home.records()["mine"].tools == ("web_search",)


def test_a_bundled_plugin_may_replace_a_tool(home):
    home.plugin("ours", OVERRIDE, within=home.bundled)
    home.enable("ours")
    assert home.records()["ours"].tools == ("web_search",)


def test_a_name_of_a_module_that_is_no_tool_is_free(home):
    home.plugin("mine", "def register(ctx):\n    ctx.register_tool('toolbox', 'm', {}, print)\n")
    home.enable("mine")
    assert home.records()["mine"].tools == ("toolbox",)


def test_commands_have_plain_names_and_do_not_take_those_of_others(home):
    home.plugin(
        "mine",
        """
        def register(ctx):
            ctx.register_command("/Say Hello", lambda text: text, "Say it.", "WORDS")
            ctx.register_command(" / ", lambda text: text)
            ctx.register_cli_command("chat", "Mine.", lambda parser: None)
            ctx.register_cli_command("hello", "Say hello.", lambda parser: None)
        """,
    )
    home.plugin("other", "def register(ctx):\n    ctx.register_command('say-hello', print)\n")
    home.enable("mine", "other")
    loaded = home.load()
    assert [(one.plugin, one.name, one.args_hint) for one in loaded.commands] == [
        ("mine", "say-hello", "WORDS")
    ]
    assert [one.name for one in loaded.cli_commands] == ["hello"]
    assert loaded.plugins[0].commands == ("/say-hello", "hello")
    assert len(loaded.warnings) == 3


def test_what_is_not_there_is_said_and_does_nothing(home):
    home.plugin(
        "much", "def register(ctx):\n    ctx.register_platform('x')\n    ctx.register_tts_provider(1, a=2)\n"
    )
    home.enable("much")
    loaded = home.load()
    assert loaded.plugins[0].state == "enabled"
    assert [
        "`ctx.register_platform`" in loaded.warnings[0],
        "`ctx.register_tts_provider`" in loaded.warnings[1],
    ]


def test_web_backends_are_collected(home):
    home.plugin(
        "mine",
        """
        class Backend:
            name = "acme"
            def search(self, query, limit): return []

        def register(ctx):
            ctx.register_web_search_provider(Backend())
            ctx.register_web_search_provider("acme")
        """,
    )
    home.enable("mine")
    loaded = home.load()
    assert [backend.name for backend in loaded.web_backends] == ["acme"]
    assert "is none" in loaded.warnings[0]


def test_a_plugin_knows_its_manifest_its_settings_and_its_profile(home):
    home.plugin(
        "mine",
        """
        def register(ctx):
            told = f"{ctx.manifest.name} {ctx.manifest.version} {ctx.settings['limit']} {ctx.profile_name}"
            ctx.register_command(told, print)
        """,
        "name: mine\nversion: 2",
    )
    home.settings("plugins: {enabled: [mine], entries: {mine: {settings: {limit: 5}}}}\n")
    assert home.load().commands[0].name == "mine-2-5-default"


async def test_skills_are_a_tool_that_reads_them(home):
    folder = home.plugin(
        "guide",
        """
        import os

        def register(ctx):
            here = os.path.dirname(__file__)
            ctx.register_skill("bake", os.path.join(here, "bake.md"), "How to  bake a cake.")
            ctx.register_skill("fold", here)
        """,
    )
    (folder / "bake.md").write_text("An hour.")
    (folder / "SKILL.md").write_text("Twice.")
    home.enable("guide")
    (tool,) = home.load().tools
    assert (tool.spec.name, tool.toolset, tool.effect) == ("skill", "skills", "reads")
    assert "guide:bake: How to bake a cake." in tool.spec.description
    assert (await tool.run(None, name="guide:bake")).text == "An hour."
    assert (await tool.run(None, name="guide:fold")).text == "Twice."
    (folder / "bake.md").unlink()
    with pytest.raises(ToolError, match="cannot be read"):
        await tool.run(None, name="guide:bake")
    with pytest.raises(ToolError, match="there is no skill `x`; there are `guide:bake`"):
        await tool.run(None, name="x")


def test_who_looks_for_a_fault_is_told_what_became_of_each(home):
    home.plugin("bad", "def register(ctx):\n    1 / 0\n")
    home.plugin("off")
    home.enable("bad")
    assert home.load().details == ()
    told = "\n".join(home.load(HERMES_PLUGINS_DEBUG="1").details)
    assert "the plugin `bad` (user) is failed: ZeroDivisionError" in told
    assert "the plugin `off` (user) is not enabled" in told
    assert "in register" in told
