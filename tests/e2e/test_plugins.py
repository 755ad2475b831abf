"""`hermes plugins` and the commands of plugins, as a person uses them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from textwrap import dedent

import pytest

MARK = """
    import os, pathlib
    pathlib.Path(os.environ["HERMES_HOME"], "imported").touch()
    print("a word at import")

    def register(ctx):
        ctx.register_hook("post_tool_call", lambda **_: None)
"""


@pytest.fixture
def write(hermes):
    def plugin(name, code=MARK, manifest=""):
        folder = hermes.home / "plugins" / name
        folder.mkdir(parents=True)
        hermes.home.chmod(0o700)
        (folder / "plugin.yaml").write_text(dedent(manifest))
        (folder / "__init__.py").write_text(dedent(code))
        return folder

    return plugin


@pytest.fixture
def settings(hermes):
    return (hermes.home / "config.yaml").read_text


async def states(hermes, **variables):
    listed = (await hermes("plugins", "list", "--json", **variables)).json()
    return {row["key"]: row["state"] for row in listed["plugins"] if row["source"] != "bundled"}


async def test_a_plugin_is_enabled_listed_and_disabled(hermes, write, settings):
    write("mine")
    assert await states(hermes) == {"mine": "not enabled"}
    assert not (hermes.home / "imported").exists()
    enabled = await hermes("plugins", "enable", "mine")
    assert (enabled.code, enabled.out) == (0, "")
    assert "may it replace built-in tools? [y/N]" in enabled.err
    assert "enabled `mine` as it is now (" in enabled.err
    listed = await hermes("plugins", "list", "--json")
    (row,) = [row for row in listed.json()["plugins"] if row["key"] == "mine"]
    assert (row["state"], row["hooks"], row["source"]) == ("enabled", ["post_tool_call"], "user")
    assert f"hash: {row['hash']}" in settings()
    assert "a word at import" in listed.err
    again = await hermes("plugins", "enable", "mine")
    assert (again.code, "enabled already" in again.err) == (0, True)
    assert (await hermes("plugins", "disable", "mine")).code == 0
    assert await states(hermes) == {"mine": "disabled"}
    assert "  enabled: []\n  entries:" in settings()
    assert (await hermes("plugins", "enable", "mine")).code == 0
    assert await states(hermes) == {"mine": "enabled"}


async def test_the_list_for_people_says_what_runs_and_why_not(hermes, write):
    write("good")
    write("bad", "raise SystemExit(3)")
    for name in ("good", "bad"):
        await hermes("plugins", "enable", name)
    write("other")
    listed = await hermes("plugins", "list")
    lines = {line.split()[1]: line for line in listed.out.splitlines()}
    assert lines["good"].startswith("✓")
    assert "1 hooks" in lines["good"]
    assert lines["bad"].startswith("✗")
    assert "SystemExit" in lines["bad"]
    assert "hermes plugins enable other" in lines["other"]
    assert listed.code == 0


async def test_the_lists_are_sorted_and_comments_stay(hermes, write, settings):
    for name in ("b", "a", "c"):
        write(name)
    hermes.home.joinpath("config.yaml").write_text("# mine\nplugins:  # all\n  enabled: [c]  # one\n")
    for name in ("b", "a"):
        assert (await hermes("plugins", "enable", name)).code == 0
    assert settings().startswith("# mine\nplugins:  # all\n  enabled: [a, b, c] # one\n")


async def test_a_leaf_means_the_whole_key_and_an_unknown_name_nothing(hermes, write, settings):
    write("observability/nemo_relay", manifest="name: relay")
    assert (await hermes("plugins", "enable", "nemo_relay")).code == 0
    assert "- observability/nemo_relay\n" in settings()
    assert (await hermes("plugins", "disable", "relay")).code == 0
    unknown = await hermes("plugins", "enable", "nemo")
    assert (unknown.code, unknown.err.splitlines()[0]) == (2, "error: unknown plugin `nemo`")


@pytest.mark.parametrize("name", ["twin", "same"])
async def test_a_name_that_two_have_writes_nothing(hermes, write, name):
    write("a/same", manifest="name: twin")
    write("b/same", manifest="name: twin")
    refused = await hermes("plugins", "enable", name)
    assert refused.code == 2
    assert "`a/same` and `b/same`" in refused.err
    assert not (hermes.home / "config.yaml").exists()


@pytest.mark.parametrize("name", ["../x", "/etc", "a/../../b", ".."])
async def test_a_name_that_is_a_path_is_refused(hermes, name):
    for command in ("enable", "disable", "new"):
        refused = await hermes("plugins", command, name)
        assert refused.code == 2
        assert "cannot be a plugin's name" in refused.err
    assert not hermes.home.exists() or os.listdir(hermes.home) == []


async def test_a_changed_plugin_waits_for_consent(hermes, write):
    folder = write("mine")
    await hermes("plugins", "enable", "mine")
    (folder / "__init__.py").write_text("raise RuntimeError('new')\n")
    listed = await hermes("plugins", "list")
    assert "its files have changed since it was enabled" in listed.out
    assert "RuntimeError" not in listed.out
    again = await hermes("plugins", "enable", "mine")
    assert (again.code, "its files have changed: " in again.err) == (0, True)
    assert await states(hermes) == {"mine": "failed"}


WANTS = "name: mine\ncapabilities: [tool.rewrite, tool.override]\n"
REWRITES = """
    def register(ctx):
        ctx.register_middleware("tool_request", lambda **_: None)
"""


@pytest.mark.parametrize(
    ("given", "words", "held"),
    [
        (b"y\n", (), ["observe", "tool.override", "tool.rewrite"]),
        (b"n\n", (), ["observe"]),
        (b"", (), ["observe"]),
        (b"", ("--yes",), ["observe", "tool.override", "tool.rewrite"]),
    ],
)
async def test_what_a_plugin_wants_is_asked_for_once(hermes, write, given, words, held):
    write("mine", REWRITES, WANTS)
    enabled = await hermes("plugins", "enable", "mine", *words, stdin=given)
    assert "tool.rewrite: it wants to change the arguments of tools" in enabled.err
    listed = (await hermes("plugins", "list", "--json")).json()
    (row,) = [row for row in listed["plugins"] if row["key"] == "mine"]
    assert (row["state"], row["held"]) == ("enabled", held)
    assert "enabled already" in (await hermes("plugins", "enable", "mine")).err


@pytest.mark.parametrize(("given", "state"), [(b"y\n", "enabled"), (b"", "failed")])
async def test_replacing_a_tool_is_asked_for(hermes, write, given, state):
    write("mine", "def register(ctx):\n    ctx.register_tool('web_search', 'm', {}, print, override=True)\n")
    await hermes("plugins", "enable", "mine", stdin=given)
    assert await states(hermes) == {"mine": state}


async def test_a_plugin_that_is_gone_can_be_disabled(hermes):
    hermes.home.mkdir(mode=0o700)
    (hermes.home / "config.yaml").write_text("plugins:\n  enabled: [gone]\n")
    assert (await hermes("plugins", "disable", "gone")).code == 0
    assert (await hermes("plugins", "disable", "never")).code == 2


async def test_check_looks_a_plugin_over(hermes, write):
    good = write("good", REWRITES, "name: good\ncolour: red\n")
    checked = await hermes("plugins", "check", str(good))
    assert (checked.code, "✓ good: it registers without a fault" in checked.out) == (0, True)
    assert "unknown key `colour`" in checked.out
    assert "tool_request" in checked.out
    bad = write("bad", "def register(ctx): ctx.register_hook('post_tool_call', 1)")
    checked = await hermes("plugins", "check", "bad")
    assert (checked.code, "✗ bad: TypeError" in checked.out) == (1, True)
    checked = await hermes("plugins", "check", str(bad), "--json")
    assert (checked.code, checked.json()["ok"]) == (1, False)


async def test_trace_shows_the_order_of_callbacks(hermes, write):
    write(
        "a",
        """
        def first(**_): pass
        def second(**_): pass
        def register(ctx):
            ctx.register_middleware("tool_request", second)
            ctx.register_middleware("tool_request", first, priority=-1, when={"tool_name": "terminal"})
        """,
    )
    await hermes("plugins", "enable", "a")
    traced = (await hermes("plugins", "trace", "terminal", "--json")).json()
    assert [(row["name"], row["skipped"]) for row in traced["callbacks"]] == [("first", ""), ("second", "")]
    shown = await hermes("plugins", "trace", "read_file")
    assert "passed over: its condition" in shown.out.splitlines()[0]


async def test_a_new_plugin_is_found_and_passes_its_check(hermes):
    made = await hermes("plugins", "new", "my-plugin")
    path = made.out.strip()
    assert path == str(hermes.home / "plugins" / "my-plugin")
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", path], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout.decode()
    assert (await hermes("plugins", "check", "my-plugin")).code == 0
    assert (await hermes("plugins", "enable", "my-plugin")).code == 0
    assert await states(hermes) == {"my-plugin": "enabled"}


async def test_stats_of_nothing_say_so(hermes):
    ran = await hermes("plugins", "stats")
    assert (ran.code, ran.out) == (0, "")
    assert (await hermes("plugins", "stats", "--json")).json() == {"callbacks": []}


COMMAND = """
    def register(ctx):
        ctx.register_cli_command("greet", "Say hello.", setup, greet, "Says hello to somebody.")
        ctx.register_cli_command("later", "Do it later.", lambda parser: parser.set_defaults(func=later))

    def setup(parser):
        parser.add_argument("name")
        parser.add_argument("-l", "--loud", action="store_true")

    def greet(args):
        print("HELLO" if args.loud else "hello", args.name)
        return 3 if args.name == "nobody" else None

    async def later(args):
        print("done")
"""


async def test_a_command_of_a_plugin_is_a_command_of_hermes(hermes, write):
    write("mine", COMMAND)
    assert (await hermes("greet", "you")).code == 2
    await hermes("plugins", "enable", "mine")
    said = await hermes("greet", "you", "--loud")
    assert (said.code, said.out) == (0, "HELLO you\n")
    assert (await hermes("greet", "nobody")).code == 3
    assert (await hermes("later")).out == "done\n"
    wrong = await hermes("greet")
    assert (wrong.code, "usage: hermes greet" in wrong.err) == (2, True)
    assert "Says hello to somebody." in (await hermes("greet", "--help")).out
    helped = (await hermes("--help")).out
    assert "greet" in helped.partition("Commands of plugins")[2]
    assert "did you mean" in (await hermes("gret")).err


async def test_no_plugin_machinery_is_loaded_where_nothing_is_enabled(hermes, write):
    write("mine")
    ran = await hermes.shell("$PYTHON -X importtime -m hermes chat -q 'What is scout?'")
    assert ran.code == 0
    assert "hermes.cli" in ran.err
    assert "hermes.plugins" not in ran.err


async def test_safe_mode_and_another_home_run_nothing(hermes, write, tmp_path):
    write("mine", COMMAND)
    await hermes("plugins", "enable", "mine")
    assert (await hermes("later", HERMES_SAFE_MODE="1")).code == 2
    assert (await hermes("later", HERMES_HOME=str(tmp_path / "other"))).code == 2


LOUD = """
    import os, subprocess, time

    def register(ctx):
        ctx.register_middleware("llm_execution", timed)
        ctx.register_middleware("tool_execution", annotate)
        ctx.register_hook("post_tool_call", tell)

    def timed(**kwargs):
        started = time.monotonic()
        response = kwargs["next_call"](kwargs["request"])
        print(f"llm_execution elapsed_ms={int((time.monotonic() - started) * 1000)}")
        return response

    def annotate(**kwargs):
        result = kwargs["next_call"](kwargs["args"])
        subprocess.run(["echo", "from a program"])
        return result

    def tell(**kwargs):
        os.write(1, b"written by hand\\n")
"""


async def test_what_plugins_print_never_mixes_with_the_answer(hermes, write):
    plain = await hermes("chat", "-q", "What is scout?")
    write("loud", LOUD)
    await hermes("plugins", "enable", "loud")
    ran = await hermes("chat", "-q", "What is scout?")
    assert (ran.code, ran.out) == (0, plain.out)
    for words in ("llm_execution elapsed_ms=", "from a program", "written by hand"):
        assert words in ran.err
    assert (await hermes("chat", "-q", "What is scout?", "--json")).json()["error"] is None


async def test_a_reader_that_leaves_is_no_error(hermes, write):
    write("loud", LOUD)
    await hermes("plugins", "enable", "loud")
    ran = await hermes.shell("$PYTHON -m hermes chat -q 'What is scout?' | true")
    assert "Traceback" not in ran.err
    assert "BrokenPipe" not in ran.err


BROKEN = {
    "raises": "raise RuntimeError('no')",
    "gives-nonsense": "return 5",
    "calls-twice": "kwargs.get('next_call', print)(); return kwargs.get('next_call', print)()",
    "hangs": "time.sleep(60)",
    "exits": "sys.exit(3)",
    "forks": "os.fork()",
    "is-cancelled": "raise asyncio.CancelledError",
}
IMPORTS = "import asyncio, os, sys, time\n"


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("kind", ["hooks", "requests"])
@pytest.mark.parametrize("colour", ["", "async "])
async def test_a_plugin_that_fails_everywhere_does_not_stop_an_answer(hermes, write, name, kind, colour):
    hooks = (
        "pre_tool_call",
        "post_tool_call",
        "pre_llm_call",
        "pre_api_request",
        "post_api_request",
        "on_session_end",
    )
    registered = "".join(f"    ctx.register_hook({hook!r}, bad, timeout=0.1)\n" for hook in hooks)
    if kind == "requests":
        kinds = ("tool_request", "llm_request")
        registered = "".join(f"    ctx.register_middleware({kind!r}, bad, timeout=0.1)\n" for kind in kinds)
    code = BROKEN[name].replace("time.sleep", "await asyncio.sleep") if colour else BROKEN[name]
    write("bad", f"{IMPORTS}def register(ctx):\n{registered}\n{colour}def bad(**kwargs):\n    {code}\n")
    await hermes("plugins", "enable", "bad")
    began = time.monotonic()
    ran = await hermes("chat", "-q", "What is scout?")
    assert time.monotonic() - began < 20
    assert ran.code == 0
    assert "scout" in ran.out
    if name in ("raises", "hangs", "exits", "is-cancelled"):
        assert "the plugin `bad`" in ran.err


HANGING = """
    import sys, threading

    def register(ctx):
        schema = {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}

        def hang(args, **_):
            print("hanging", file=sys.stderr, flush=True)
            threading.Event().wait()

        def within(args, **_):
            return ctx.dispatch_tool("hang", {})

        ctx.register_tool("hang", "mine", schema, hang, effect="reads")
        ctx.register_tool("web_search", "web", schema, WHICH, effect="reads", override=True)
"""


@pytest.mark.parametrize("which", ["hang", "within"])
async def test_a_tool_of_a_plugin_that_hangs_does_not_hold_up_the_end(hermes, write, which):
    """Ctrl-C ends the question, and nobody waits for the threads of its tools."""
    write("bad", HANGING.replace("WHICH", which))
    await hermes("plugins", "enable", "bad", stdin=b"y\n")
    process = await hermes.start("chat", "-q", "What is scout?")
    process.stdin.close()
    seen = b""
    while b"hanging" not in seen:
        line = await asyncio.wait_for(process.stderr.readline(), 20)
        assert line, seen
        seen += line
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 130
    assert time.monotonic() - began < 10


async def test_a_policy_that_fails_is_a_no(hermes, write):
    write(
        "bad",
        """
        def register(ctx):
            ctx.register_hook("pre_tool_call", bad, policy=True)

        def bad(**_):
            1 / 0
        """,
    )
    await hermes("plugins", "enable", "bad")
    ran = await hermes("chat", "-q", "What is scout?", "--json")
    calls = ran.json()["tool_calls"]
    assert calls
    assert all(call["is_error"] for call in calls)
    assert "the plugin `bad` (pre_tool_call `bad`): ZeroDivisionError" in ran.err


async def test_what_callbacks_took_is_shown_after_the_run(hermes, write):
    write(
        "mine",
        "def register(ctx):\n    ctx.register_hook('post_tool_call', seen)\n\ndef seen(**_):\n    pass\n",
    )
    await hermes("plugins", "enable", "mine")
    await hermes("chat", "-q", "What is scout?")
    (row,) = (await hermes("plugins", "stats", "--json")).json()["callbacks"]
    assert (row["plugin"], row["name"], row["kind"], row["errors"]) == ("mine", "seen", "post_tool_call", 0)
    assert row["calls"] >= 1
    assert "post_tool_call" in (await hermes("plugins", "stats")).out


async def test_a_tool_and_a_command_of_a_plugin_are_there_in_a_conversation(hermes, write, terminal):
    write(
        "mine",
        """
        def register(ctx):
            ctx.register_command("shout", lambda text: text.upper(), "Say it loud.")
            ctx.register_command("again", lambda text: ctx.inject_message("What is scout?") or None)
            ctx.register_command("break", lambda text: 1 / 0)
        """,
    )
    await hermes("plugins", "enable", "mine")
    screen = terminal("chat", TERM="dumb")
    screen.wait_for("> ")
    screen.type("/shout hello there\n")
    screen.wait_for("HELLO THERE")
    screen.type("/break\n")
    screen.wait_for("`/break` failed: ZeroDivisionError")
    screen.type("/again\n")
    screen.wait_for("scout")
    screen.wait_for("> ")
    screen.type("\x04")
    assert screen.leave() == 0
