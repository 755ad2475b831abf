"""Hermes on a real terminal: a pty types, and reads what a person would see."""

import re

import pytest


def test_a_conversation_at_the_prompt(terminal):
    screen = terminal("chat", TERM="dumb")
    screen.wait_for(r"answering with `scout/scout-1`")
    screen.wait_for(r"> ")
    screen.type("How do I add a provider?\n")
    screen.wait_for(r"\[1\].*hermes://docs/")
    screen.wait_for(r"> ")
    screen.type("\n")
    screen.wait_for(r"> ")
    screen.type("\x04")
    assert screen.leave() == 0


def test_ctrl_c_at_the_prompt_leaves(terminal):
    screen = terminal("chat", TERM="dumb")
    screen.wait_for(r"> ")
    screen.press_ctrl_c()
    assert screen.leave() == 130
    assert "Traceback" not in screen.seen


def test_an_error_does_not_end_the_conversation(terminal):
    screen = terminal("chat", "-m", "custom/m", TERM="dumb", CUSTOM_BASE_URL="http://127.0.0.1:9/v1")
    screen.wait_for(r"> ")
    screen.type("hello?\n")
    screen.wait_for(r"error: .*127\.0\.0\.1:9")
    screen.wait_for(r"> ")
    screen.type("\x04")
    assert screen.leave() == 0


@pytest.mark.parametrize(("reply", "code"), [("y", 0), ("n", 2)])
def test_a_stored_key_goes_to_another_host_when_the_user_says_yes(terminal, hermes, reply, code):
    hermes.home.mkdir()
    (hermes.home / ".env").write_text("OPENAI_API_KEY=sk-stored-0123456789\n")
    (hermes.home / ".env").chmod(0o600)
    arguments = ("chat", "-q", "hi", "-m", "openai", "--explain")
    screen = terminal(*arguments, OPENAI_BASE_URL="https://other.example/v1")
    screen.wait_for(r"send the key stored for api\.openai\.com to other\.example\? \[y/N\]: ")
    screen.type(f"{reply}\n")
    assert screen.leave() == code
    assert "sk-stored" not in screen.seen
    if reply == "y":
        screen = terminal(*arguments, OPENAI_BASE_URL="https://other.example/v1")
        assert screen.leave() == 0
        assert "send the key" not in screen.seen


def test_text_streams_to_a_terminal_and_sources_follow(terminal):
    screen = terminal("chat", "-q", "How do I add a tool?")
    shown = screen.wait_for(r"\n\[1\] .*hermes://docs/")
    assert re.search(r"· web_search \S.*characters by local", shown)
    assert screen.leave() == 0
