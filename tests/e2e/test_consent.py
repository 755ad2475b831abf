"""A dangerous command: asked about on a terminal, denied where nobody is, allowed by `--yes`."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from simulators.chat_completions import ChatSimulator, calls, says

DELETE = calls(("terminal", {"command": "rm -rf precious"}))
ASKED = r"\[N\]o"
TERMINAL = ("-m", "custom/m", "--tools", "terminal")


@pytest.fixture
def precious(tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear Ann")
    return folder


def result(server):
    """What the model was told of its call."""
    return server.bodies[1]["messages"][-1]["content"]


async def on_screen(act, *arguments):
    return await asyncio.to_thread(act, *arguments)


async def ended(pid):
    """Return when a process is gone, or only waits to be buried."""
    async with asyncio.timeout(5):
        while not is_dead(pid):
            await asyncio.sleep(0.02)


def is_dead(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.mark.parametrize(
    ("typed", "done"),
    [("o\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("\x04", False)],
)
async def test_a_person_is_asked_and_what_they_say_is_done(terminal, precious, typed, done):
    async with ChatSimulator(DELETE, says("As you wish.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        asked = await on_screen(screen.wait_for, ASKED)
        assert "rm -rf precious" in asked
        assert precious.exists()
        screen.type(typed)
        await on_screen(screen.wait_for, r"As you wish\.")
        assert await on_screen(screen.leave) == 0
    assert precious.exists() is not done
    assert ("not consented" in result(server)) is not done
    assert server.refusals == []


async def test_the_question_shows_the_command_and_the_rule_and_its_text_is_set_in(terminal, precious):
    command = calls(("terminal", {"command": "rm -rf precious\necho 'may it be done? [o]nce'\x1b[2J"}))
    async with ChatSimulator(command, says("As you wish.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        asked = await on_screen(screen.wait_for, ASKED)
        screen.type("n\n")
        await on_screen(screen.wait_for, r"As you wish\.")
    question = asked[asked.index("`terminal` wants") :].replace("\r", "")
    assert "\n    rm -rf precious\n    echo 'may it be done? [o]nce'\\u001b[2J\n" in question
    assert "\nit is asked because it deletes folders with all that is in them\n" in question
    assert "\n    terminal.deletes_folders\n" in question
    assert question.endswith("\nmay it be done? [o]nce, this [s]ession, [N]o")


async def test_a_long_command_is_shown_in_full_and_a_very_long_one_with_both_ends(terminal, precious):
    long = calls(("terminal", {"command": f"echo {'x' * 3_000}; rm -rf precious"}))
    longer = calls(("terminal", {"command": f"rm -rf precious; echo {'y' * 20_000}; rm -rf ./precious"}))
    async with ChatSimulator(long, longer, says("As you wish.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        assert f"echo {'x' * 3_000}; rm -rf precious" in await on_screen(screen.wait_for, ASKED)
        screen.type("n\n")
        asked = await on_screen(screen.wait_for, ASKED)
        screen.type("n\n")
        await on_screen(screen.wait_for, r"As you wish\.")
    assert "    rm -rf precious; echo yyy" in asked
    assert "yyy; rm -rf ./precious" in asked
    assert "    [… 16,041 characters left out …]" in asked


async def test_what_was_typed_before_the_question_is_no_answer(terminal, precious):
    async with ChatSimulator(DELETE, says("As you wish.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        screen.type("o\no\nalw")
        await on_screen(screen.wait_for, ASKED)
        await asyncio.sleep(0.2)
        assert len(server.bodies) == 1
        screen.type("n\n")
        await on_screen(screen.wait_for, r"As you wish\.")
        assert await on_screen(screen.leave) == 0
    assert precious.exists()
    assert "not consented" in result(server)


async def test_who_does_not_answer_in_time_has_said_no_and_is_told(terminal, precious):
    async with ChatSimulator(DELETE, says("As you wish.")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "HERMES_APPROVALS_TIMEOUT": "1"}
        screen = terminal("chat", "-q", "clean up", *TERMINAL, **variables)
        await on_screen(screen.wait_for, ASKED)
        told = await on_screen(screen.wait_for, r"As you wish\.")
        assert await on_screen(screen.leave) == 0
    assert "not done, nobody answered in time: rm -rf precious" in told
    assert "`approvals.timeout`" in told
    assert "nobody answered within 1 seconds" in result(server)
    assert precious.exists()


async def test_a_session_is_asked_once_for_a_rule_and_another_rule_again(terminal, precious, tmp_path):
    (tmp_path / "other").mkdir()
    script = (
        DELETE,
        calls(("terminal", {"command": "rm -rf other"})),
        calls(("terminal", {"command": "git reset --hard"})),
        says("As you wish."),
    )
    async with ChatSimulator(*script) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        await on_screen(screen.wait_for, ASKED)
        screen.type("s\n")
        assert "git reset --hard" in await on_screen(screen.wait_for, ASKED)
        screen.type("n\n")
        await on_screen(screen.wait_for, r"As you wish\.")
    assert not precious.exists()
    assert not (tmp_path / "other").exists()


async def test_always_is_written_to_the_settings_and_holds_in_the_next_run(terminal, hermes, precious):
    hermes.home.mkdir()
    settings = hermes.home / "config.yaml"
    settings.write_text("# mine\napprovals:\n  timeout: 30  # enough\n")
    async with ChatSimulator(DELETE, says("As you wish."), DELETE, says("Again.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        await on_screen(screen.wait_for, ASKED)
        screen.type("a\n")
        await on_screen(screen.wait_for, r"As you wish\.")
        assert await on_screen(screen.leave) == 0
        assert not precious.exists()
        written = "# mine\napprovals:\n  timeout: 30  # enough\n  allow:\n  - rm -rf precious\n"
        assert settings.read_text() == written
        precious.mkdir()
        outcome = await hermes("chat", "-q", "again", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
    assert (outcome.code, outcome.out) == (0, "Again.\n")
    assert not precious.exists()


async def test_settings_that_cannot_be_written_are_said_and_it_is_done(terminal, hermes, precious):
    hermes.home.mkdir()
    (hermes.home / "config.yaml").write_text("# lost\n---\nweb:\n")
    async with ChatSimulator(DELETE, says("As you wish.")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        await on_screen(screen.wait_for, ASKED)
        screen.type("always\n")
        await on_screen(screen.wait_for, r"`rm -rf precious` is allowed in this run only")
        assert await on_screen(screen.leave) == 0
    assert not precious.exists()


async def test_what_the_settings_deny_is_not_done_whatever_yes_says(hermes, precious):
    async with ChatSimulator(DELETE, says("No.")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "HERMES_APPROVALS_DENY": "rm *"}
        outcome = await hermes("chat", "-q", "clean up", "--yes", *TERMINAL, **variables)
    assert outcome.code == 0
    assert "`approvals.deny` holds `rm *`" in result(server)
    assert precious.exists()


async def test_calls_side_by_side_are_asked_about_one_after_the_other(terminal, tmp_path):
    for name in ("one.env", "two.env"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".env").write_text(f"WORD={name}\n")
    both = calls(("read_file", {"path": "one.env/.env"}), ("read_file", {"path": "two.env/.env"}))
    async with ChatSimulator(both, says("I have seen one.")) as server:
        arguments = ("chat", "-q", "look", "-m", "custom/m", "--tools", "file")
        screen = terminal(*arguments, CUSTOM_BASE_URL=server.base_url)
        assert "one.env" in await on_screen(screen.wait_for, ASKED)
        screen.type("n\n")
        assert "two.env" in await on_screen(screen.wait_for, ASKED)
        screen.type("y\n")
        await on_screen(screen.wait_for, r"I have seen one\.")
        assert await on_screen(screen.leave) == 0
    refused, read = (message["content"] for message in server.bodies[1]["messages"][-2:])
    assert "not consented" in refused
    assert "WORD=two.env" in read


async def test_ctrl_c_at_the_question_returns_at_once_and_does_nothing(terminal, precious, hermes):
    async with ChatSimulator(DELETE, says("no")) as server:
        screen = terminal("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        await on_screen(screen.wait_for, ASKED)
        began = time.monotonic()
        screen.press_ctrl_c()
        assert await on_screen(screen.leave) == 130
        assert time.monotonic() - began < 1.5
        assert "Traceback" not in screen.seen
        assert precious.exists()
        again = await hermes("chat", "-c", "-q", "so?", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
    assert (again.code, again.out) == (0, "no\n")
    assert server.refusals == []


async def test_a_conversation_goes_on_after_ctrl_c_at_the_question(terminal, precious):
    async with ChatSimulator(DELETE, says("Still here.")) as server:
        screen = terminal("chat", *TERMINAL, CUSTOM_BASE_URL=server.base_url, TERM="dumb")
        await on_screen(screen.wait_for, r"> ")
        screen.type("clean up\n")
        await on_screen(screen.wait_for, ASKED)
        screen.press_ctrl_c()
        await on_screen(screen.wait_for, r"stopped; what was said is kept")
        screen.type("so?\n")
        await on_screen(screen.wait_for, r"Still here\.")
        screen.type("\x04")
        assert await on_screen(screen.leave) == 0
    assert precious.exists()
    assert server.refusals == []


async def test_where_nobody_can_be_asked_the_answer_is_no(hermes, precious):
    async with ChatSimulator(DELETE, says("I may not.")) as server:
        outcome = await hermes("chat", "-q", "clean up", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
    assert (outcome.code, outcome.out) == (0, "I may not.\n")
    assert "not done, nobody is here to ask: rm -rf precious\nhint: `--yes`" in outcome.err
    assert precious.exists()
    assert "not consented" in result(server)


async def test_yes_allows_it_beforehand_and_says_so(hermes, precious):
    async with ChatSimulator(DELETE, says("Done.")) as server:
        outcome = await hermes("chat", "-q", "clean up", "--yes", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
    assert (outcome.code, outcome.out) == (0, "Done.\n")
    assert "allowed by `--yes`: rm -rf precious" in outcome.err
    assert not precious.exists()
    assert json.loads(result(server))["exit_code"] == 0


async def test_yes_does_not_allow_what_is_never_run(hermes, tmp_path):
    forbidden = calls(("terminal", {"command": f"rm -rf {tmp_path} ~"}))
    async with ChatSimulator(forbidden, says("No.")) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, "HOME": str(tmp_path)}
        await hermes("chat", "-q", "clean up", "--yes", *TERMINAL, **variables)
    assert "never run" in result(server)
    assert tmp_path.exists()


async def test_the_output_of_a_command_is_told_as_it_appears(hermes):
    command = calls(("terminal", {"command": "echo one; sleep 0.1; echo two"}))
    async with ChatSimulator(command, says("Two words.")) as server:
        outcome = await hermes(
            "chat", "-q", "say it", "--json-lines", *TERMINAL, CUSTOM_BASE_URL=server.base_url
        )
    events = [json.loads(line) for line in outcome.out.splitlines()]
    started, *progress, finished = [event for event in events if event["type"].startswith("tool_")]
    assert (started["type"], finished["type"]) == ("tool_started", "tool_finished")
    assert {event["type"] for event in progress} == {"tool_progress"}
    assert [event["text"] for event in progress] == ["one\n", "two\n"]
    assert {(event["id"], event["name"]) for event in progress} == {(started["id"], "terminal")}


async def test_ctrl_c_while_a_command_runs_ends_it_and_all_it_started(terminal, hermes, tmp_path):
    mark = tmp_path / "pid"
    command = calls(("terminal", {"command": f"(sleep 60 & echo $! > {mark}; wait)"}))
    async with ChatSimulator(command, says("Where were we?")) as server:
        screen = terminal("chat", "-q", "wait", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
        await on_screen(screen.wait_for, r"· terminal \(sleep 60 &")
        async with asyncio.timeout(20):
            while not (mark.exists() and mark.read_text().strip()):
                await asyncio.sleep(0.02)
        began = time.monotonic()
        screen.press_ctrl_c()
        assert await on_screen(screen.leave) == 130
        assert time.monotonic() - began < 1.5
        assert "Traceback" not in screen.seen
        await ended(int(mark.read_text()))
        again = await hermes("chat", "-c", "-q", "so?", *TERMINAL, CUSTOM_BASE_URL=server.base_url)
    assert again.out == "Where were we?\n"
    assert server.refusals == []
