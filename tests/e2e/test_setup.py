"""`hermes setup`: by options alone, and as a conversation on a terminal; nothing is written half."""

import asyncio
import json
import stat
import time

import pytest

from simulators.chat_completions import says
from simulators.scripted import ScriptedServer, http_reply

RIGHT = "sk-right-0123456789"
WRONG = "sk-wrong-0123456789"
VARIABLE = "DEEPSEEK_API_KEY"


async def _door(exchange):
    """A model server that knows one key."""
    request = exchange.request
    if request.headers.get("authorization") != f"Bearer {RIGHT}":
        body = b'{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}'
        await exchange.send(http_reply(401, body, content_type="application/json"))
    else:
        await exchange.send(says("ready, as you see")(json.loads(request.body)))
    exchange.close()


@pytest.fixture
async def server():
    async with ScriptedServer(_door) as running:
        yield running


def written(hermes):
    """The settings and the keys in the files, as text."""
    files = (hermes.home / "config.yaml", hermes.home / ".env")
    return [file.read_text() if file.exists() else None for file in files]


async def test_options_alone_set_everything_up(hermes, server):
    hermes.home.mkdir(mode=0o700)
    (hermes.home / "config.yaml").write_text("# mine\nagent:\n  max_turns: 7  # enough\n")
    words = (
        "--model",
        "deepseek/deepseek-chat",
        "--key-stdin",
        "--web-backend",
        "local",
        "--ask",
        "are you there?",
    )
    outcome = await hermes("setup", *words, stdin=f"{RIGHT}\n".encode(), DEEPSEEK_BASE_URL=f"{server.url}/v1")
    assert (outcome.code, outcome.out) == (0, "ready, as you see\n")
    assert "`deepseek/deepseek-chat` answers after " in outcome.err
    settings, keys = written(hermes)
    assert settings.startswith("# mine\nagent:\n  max_turns: 7  # enough\n")
    assert "provider: deepseek\n  default: deepseek-chat\n" in settings
    assert "backend: local\n" in settings
    assert keys == f"{VARIABLE}={RIGHT}\n"
    assert stat.S_IMODE((hermes.home / ".env").stat().st_mode) == 0o600
    assert RIGHT not in outcome.out + outcome.err + settings
    again = await hermes("chat", "-q", "and now?", DEEPSEEK_BASE_URL=f"{server.url}/v1")
    assert (again.code, again.out) == (0, "ready, as you see\n")


async def test_the_trial_is_one_call_and_no_session(hermes, server):
    place = {"DEEPSEEK_BASE_URL": f"{server.url}/v1", "MINE": RIGHT}
    outcome = await hermes("setup", "--model", "deepseek", "--key-from-env", "MINE", "--json", **place)
    assert outcome.json()["changed"] == ["model.provider", "model.default", VARIABLE]
    assert len(server.requests) == 1
    assert (await hermes("sessions", "list", "--json")).json() == {"sessions": []}


async def test_a_wrong_key_by_option_writes_nothing(hermes, server):
    place = {"DEEPSEEK_BASE_URL": f"{server.url}/v1", "MINE": WRONG}
    outcome = await hermes("setup", "--model", "deepseek", "--key-from-env", "MINE", **place)
    assert (outcome.code, outcome.out) == (1, "")
    assert "nothing was written; `--no-test` keeps it untried" in outcome.err
    assert WRONG not in outcome.err
    assert written(hermes) == [None, None]
    untried = await hermes("setup", "--model", "deepseek", "--key-from-env", "MINE", "--no-test", **place)
    assert untried.code == 0
    assert written(hermes)[1] == f"{VARIABLE}={WRONG}\n"


async def test_the_best_that_is_found_is_taken(hermes, server):
    place = {"DEEPSEEK_BASE_URL": f"{server.url}/v1", VARIABLE: RIGHT}
    outcome = await hermes("setup", "--yes", "--json", **place)
    assert outcome.json()["model"].startswith("deepseek/")
    assert written(hermes)[1] is None, "a key in the environment stays there"


async def test_a_conversation_with_a_wrong_key_then_a_right_one(hermes, terminal, server):
    def talk():
        screen = terminal("setup", DEEPSEEK_BASE_URL=f"{server.url}/v1")
        screen.wait_for(r"scout/scout-1.*built in")
        screen.wait_for(r"a number, or a name.*\[1\]: ")
        screen.type("depseek\n")
        screen.wait_for(r"did you mean `deepseek`(?s:.*)model: ")
        screen.type("deepseek\n")
        screen.wait_for(r"key for DeepSeek.*not shown\): ")
        screen.type(f"{WRONG}\n")
        screen.wait_for(r"error: .*key(?s:.*)key for DeepSeek.*: ")
        assert written(hermes) == [None, None]
        screen.type(f"{RIGHT}\n")
        screen.wait_for(r"` answers after .* s: ready, as you see")
        screen.wait_for(r"web backend: ")
        screen.type("exxa\n")
        screen.wait_for(r"did you mean `exa`(?s:.*)web backend: ")
        screen.type("\n")
        screen.wait_for(r"what do you want to know\? \[.*\]: ")
        screen.type("is it you?\n")
        screen.wait_for(r"answering with `deepseek/(?s:.*)ready, as you see")
        assert screen.leave() == 0

    await asyncio.to_thread(talk)
    settings, keys = written(hermes)
    assert "provider: deepseek\n" in settings
    assert "web:" not in settings
    assert keys == f"{VARIABLE}={RIGHT}\n"


def test_ctrl_c_leaves_nothing_behind(hermes, terminal):
    screen = terminal("setup")
    screen.wait_for(r"\[1\]: ")
    screen.type("1\n")
    screen.wait_for(r"web backend: ")
    time.sleep(0.2)  # Python loses a signal that comes between the prompt and its read
    screen.press_ctrl_c()
    screen.wait_for(r"\r\nerror: interrupted")
    assert screen.leave() == 130
    assert written(hermes) == [None, None]
