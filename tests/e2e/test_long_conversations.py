"""Conversations that are summed up and remembered, through the real command and two simulated models."""

import asyncio
import json

import pytest

from hermes.agent.compaction import SUMMARISE, SUMMARY
from hermes.agent.prompt import REMEMBER, REMEMBERED
from simulators.chat_completions import ChatSimulator, Extras, calls, says

LONG = "many words " * 200
WINDOW = {"HERMES_MODEL_CONTEXT_WINDOW": "3000"}
TAKES_WINDOW = Extras(fields=frozenset({"options"}))
FACT = "Ann likes short answers."
OTHER = """
from hermes.protocols import Provider

PROVIDER = Provider(
    name="other",
    title="Other",
    api_mode="chat_completions",
    base_url_env=("OTHER_BASE_URL",),
    key_required=False,
    default_model="small",
)
"""


def last_words(body):
    return str(body["messages"][-1]["content"])


def is_flush(body):
    return last_words(body).endswith(REMEMBER)


def model(body):
    """Keeps a fact when it is asked what to remember, and talks at length otherwise."""
    keeps = calls(("memory", {"action": "add", "text": FACT}))
    return (keeps if is_flush(body) else says(LONG))(body)


@pytest.fixture
def other(hermes):
    (hermes.home / "providers").mkdir(parents=True)
    (hermes.home / "providers" / "other.py").write_text(OTHER)


async def talk(hermes, times, *options, **variables):
    """Questions asked one by one, each by a process of its own."""
    outcomes = []
    for number in range(times):
        going_on = ("-c",) if number else ()
        asked = ("chat", "-q", f"question {number}?", "-m", "custom/m", *going_on, *options)
        outcomes.append(await hermes(*asked, **variables))
        assert outcomes[-1].code == 0, outcomes[-1].err
    return outcomes


async def test_a_model_of_its_own_sums_up_and_the_session_keeps_everything(hermes, other):
    async with (
        ChatSimulator(model, extras=TAKES_WINDOW) as server,
        ChatSimulator(says("What was said: HELLO.")) as helper,
    ):
        variables = {
            "CUSTOM_BASE_URL": server.base_url,
            "OTHER_BASE_URL": helper.base_url,
            "HERMES_AUXILIARY_COMPACTION": "other/small",
            **WINDOW,
        }
        outcomes = await talk(hermes, 3, **variables)
        assert server.refusals == helper.refusals == []
    assert "note: the conversation was shortened" in outcomes[2].err
    [summing] = helper.bodies
    assert (summing["model"], last_words(summing)) == ("small", SUMMARISE)
    assert not summing.get("stream")
    assert "tools" not in summing
    sent = server.bodies[-1]["messages"]
    assert sent[1]["content"].startswith(SUMMARY + "What was said: HELLO.")
    assert "question 0?" not in str(sent)

    [session] = (await hermes("sessions", "list", "--json")).json()["sessions"]
    brief = (await hermes("sessions", "show", session["id"])).out
    full = (await hermes("sessions", "show", session["id"], "--full")).out
    for shown in (brief, full):
        assert all(f"[you]\nquestion {number}?" in shown for number in range(3))
        assert "[summary of the first 4 messages, made for the model]\nWhat was said: HELLO." in shown
    assert full.count(LONG.strip()) == 3
    exported = (await hermes("sessions", "export", session["id"])).out
    assert "HELLO" not in exported
    assert exported.count("## Question") == 3


async def test_a_helper_that_fails_leaves_the_conversation_going(hermes, other):
    async with ChatSimulator(model, extras=TAKES_WINDOW) as server:
        variables = {
            "CUSTOM_BASE_URL": server.base_url,
            "OTHER_BASE_URL": "http://127.0.0.1:9/v1",
            "HERMES_AUXILIARY_COMPACTION": "other/small",
            **WINDOW,
        }
        await talk(hermes, 3, **variables)
        assert server.refusals == []
    assert SUMMARY in str(server.bodies[-1]["messages"][1]["content"])


async def test_facts_stand_in_the_system_prompt_where_the_toolset_is_offered_and_nowhere_else(hermes):
    hermes.home.mkdir()
    (hermes.home / "memory.md").write_text(f"- {FACT}\n")
    async with ChatSimulator(says("ok")) as server:
        for tools in ("memory", "web"):
            asked = ("chat", "-q", "hi", "-m", "custom/m", "--tools", tools)
            await hermes(*asked, CUSTOM_BASE_URL=server.base_url)
    with_memory, without = (body["messages"][0]["content"] for body in server.bodies)
    assert with_memory.endswith(f"{REMEMBERED}- {FACT}")
    assert FACT not in without


@pytest.mark.parametrize("tools", ["memory", "web"])
async def test_memory_is_asked_before_a_summary_and_only_where_it_is_offered(hermes, tools):
    async with ChatSimulator(model, extras=TAKES_WINDOW) as server:
        variables = {"CUSTOM_BASE_URL": server.base_url, **WINDOW}
        await talk(hermes, 5, "--tools", tools, **variables)
        assert server.refusals == []
    asked = [body for body in server.bodies if is_flush(body)]
    summed = [body for body in server.bodies if last_words(body).endswith(SUMMARISE)]
    assert len(summed) == 3
    has_memory = tools == "memory"
    assert len(asked) == (2 if has_memory else 0)
    assert (hermes.home / "memory.md").exists() is has_memory
    if has_memory:
        assert server.bodies.index(asked[0]) + 1 == server.bodies.index(summed[1])
        assert [tool["function"]["name"] for tool in asked[0]["tools"]] == ["memory"]
        assert (hermes.home / "memory.md").read_text() == f"- {FACT}\n"
    assert REMEMBER not in (await hermes("sessions", "show", "question 0?", "--full")).out


@pytest.mark.parametrize(
    ("tools", "questions", "flushes"), [("memory", 4, 1), ("memory", 3, 0), ("web", 4, 0)]
)
async def test_a_long_talk_at_the_prompt_ends_with_what_is_worth_keeping(
    terminal, hermes, tools, questions, flushes
):
    async with ChatSimulator(lambda body: (model if is_flush(body) else says("ok."))(body)) as server:
        screen = terminal(
            "chat", "-m", "custom/m", "--tools", tools, CUSTOM_BASE_URL=server.base_url, TERM="dumb"
        )
        for number in range(questions):
            await asyncio.to_thread(screen.wait_for, r"> ")
            screen.type(f"question {number}?\n")
            await asyncio.to_thread(screen.wait_for, r"ok\.")
        await asyncio.to_thread(screen.wait_for, r"> ")
        screen.type("\x04")
        assert await asyncio.to_thread(screen.leave) == 0
        assert server.refusals == []
    assert [is_flush(body) for body in server.bodies] == [False] * questions + [True] * flushes
    assert (hermes.home / "memory.md").exists() is bool(flushes)
    shown = (await hermes("sessions", "show", "question 0?", "--json")).json()["messages"]
    assert [message["role"] for message in shown] == ["user", "assistant"] * questions


async def test_one_question_asks_nothing_of_memory(hermes):
    async with ChatSimulator(says("ok")) as server:
        await talk(hermes, 5, "--tools", "memory", CUSTOM_BASE_URL=server.base_url)
    assert not any(is_flush(body) for body in server.bodies)


async def test_a_citation_says_whether_its_page_was_read_and_holds_what_is_quoted(hermes):
    page = "hermes://docs/concepts/scout.md"
    script = (
        calls(("web_search", {"query": "what is scout"})),
        calls(("web_extract", {"urls": [page]})),
        lambda body: says(_answer(body))(body),
    )

    def _number_of(url, body):
        found = json.loads(str(body["messages"][3]["content"]).split("\n", 1)[1].rpartition("\n")[0])
        return 1 + [row["url"] for row in found["data"]["web"]].index(url)

    def _answer(body):
        read = _number_of(page, body)
        unread = 1 if read != 1 else 2
        return (
            f'It is said that "Scout is the built-in model of Hermes". [{read}] '
            f"Something else stands elsewhere. [{unread}]"
        )

    async with ChatSimulator(*script) as server:
        asked = ("chat", "-q", "what is scout?", "-m", "custom/m", "--json")
        outcome = await hermes(*asked, CUSTOM_BASE_URL=server.base_url)
        assert server.refusals == []
    verified = {cited["url"]: cited["verified"] for cited in outcome.json()["citations"]}
    assert verified.pop(page) is True
    assert list(verified.values()) == [False]
