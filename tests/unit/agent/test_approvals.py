"""Whether a call may be run: the order of what decides, what is remembered, and who is asked."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.approvals import Approvals, Policy, escalated, joined
from hermes.agent.digest import digest
from hermes.protocols import CallIds, Concern

IDS = CallIds(session_id="s", turn_id="t", api_request_id="t:api:1", tool_call_id="c1")


def ask(command="rm -rf build", *, rules=("terminal.deletes_folders",), kind="ask", keep="always", parts=()):
    return Concern(kind=kind, action=command, reason="it deletes", rules=rules, keep=keep, parts=parts)


class Person:
    """Gives the answers in order, then says no; remembers what was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, wanted):
        self.asked.append(wanted)
        answer = self.answers.pop(0) if self.answers else "deny"
        if isinstance(answer, BaseException):
            raise answer
        await asyncio.sleep(0)
        return answer


class Heard:
    def __init__(self):
        self.told = []

    async def asked(self, wanted):
        self.told.append(("asked", wanted.action))

    async def answered(self, wanted, choice):
        self.told.append(("answered", choice))

    async def unasked(self, wanted, *, allowed):
        self.told.append(("unasked", allowed))


async def judged(approvals, concern, *, arguments=None, ids=IDS):
    given = {"command": concern.action if concern else "ls"} if arguments is None else arguments
    return await approvals.judge("terminal", given, concern, ids)


async def test_what_is_forbidden_is_never_asked_and_nothing_allows_it():
    person = Person("always")
    approvals = Approvals(Policy(yes=True, allow=("*",)), person, agreed=["terminal.deletes_folders"])
    refused = await judged(approvals, ask("rm -rf /", kind="forbidden"))
    assert refused.error_type == "forbidden"
    assert "never run" in refused.words
    assert person.asked == []


@pytest.mark.parametrize("kind", ["ask", "free"])
@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("git push origin", ()),
        ("cd x && git push", ("cd x", "git push")),
        ("sudo g\\it  push", ("sudo git push", "git push")),
    ],
)
async def test_what_the_settings_deny_beats_yes_and_everything_else(kind, command, parts):
    person = Person("once")
    policy = Policy(deny=("git push*",), allow=("*",), yes=True)
    refused = await judged(
        Approvals(policy, person, agreed=["r"]), ask(command, kind=kind, rules=("r",), parts=parts)
    )
    assert "`approvals.deny` holds `git push*`" in refused.words
    assert refused.error_type == "approval_denied"
    assert person.asked == []


async def test_a_tool_that_declares_nothing_can_be_denied_too():
    approvals = Approvals(Policy(deny=("web_extract *evil.example*",)))
    assert await approvals.judge("web_extract", {"urls": ["https://evil.example/"]}, None) is not None
    assert await approvals.judge("web_extract", {"urls": ["https://good.example/"]}, None) is None


async def test_what_nothing_speaks_against_is_run_unasked():
    heard = Heard()
    approvals = Approvals(listeners=[heard])
    assert await judged(approvals, None) is None
    assert await judged(approvals, ask("ls", kind="free", rules=())) is None
    assert heard.told == []


@pytest.mark.parametrize("yes", [True, False])
async def test_yes_allows_what_is_asked_and_without_anybody_the_answer_is_no(yes):
    heard = Heard()
    refused = await judged(Approvals(Policy(yes=yes), listeners=[heard]), ask())
    assert (refused is None) is yes
    assert heard.told == [("unasked", yes)]


@pytest.mark.parametrize(
    ("pattern", "command", "allowed"),
    [
        ("rm -rf build", "rm -rf build", True),
        ("rm -rf build", " rm -rf build\n", True),
        ("rm -rf build", "rm -rf build /home", False),
        ("rm -rf build*", "rm -rf build-2", True),
        ("git * --force", "git push --force", True),
        ("RM *", "rm -rf build", False),
    ],
)
async def test_the_list_of_what_is_allowed_takes_texts_and_globs(pattern, command, allowed):
    refused = await judged(Approvals(Policy(allow=(pattern,))), ask(command))
    assert (refused is None) is allowed


async def test_what_may_not_last_is_not_allowed_by_the_list():
    policy = Policy(allow=("*",))
    assert await judged(Approvals(policy), ask("rm -rf a; rm -rf b", keep="session")) is not None
    assert await judged(Approvals(policy), ask("secret", keep="once")) is not None


async def test_once_is_for_one_call():
    person = Person("once", "once")
    approvals = Approvals(approve=person)
    assert await judged(approvals, ask(), ids=CallIds()) is None
    assert await judged(approvals, ask(), ids=CallIds()) is None
    assert len(person.asked) == 2


async def test_a_session_is_for_the_rule_whatever_the_command():
    person = Person("session")
    approvals = Approvals(approve=person)
    assert await judged(approvals, ask("rm -rf one")) is None
    assert await judged(approvals, ask("rm -rf two")) is None
    assert len(person.asked) == 1
    assert approvals.agreed == {"terminal.deletes_folders"}
    both = ask("sudo rm -rf three", rules=("terminal.is_someone_else", "terminal.deletes_folders"))
    assert await judged(approvals, both) is not None
    assert len(person.asked) == 2
    going_on = Approvals(agreed=approvals.agreed)
    assert await judged(going_on, ask("rm -rf four")) is None


@pytest.mark.parametrize("command", ["rm -rf build", "rm -rf build/*", "rm -rf [a]?"])
async def test_always_is_for_the_very_text(command):
    person, kept = Person("always"), []
    approvals = Approvals(approve=person, remember=kept.append)
    assert await judged(approvals, ask(command)) is None
    assert await judged(approvals, ask(command)) is None
    assert len(person.asked) == 1
    next_run = Approvals(Policy(allow=tuple(kept)))
    assert await judged(next_run, ask(command)) is None
    for other in (f"{command} /home", "rm -rf build/x /home", "rm -rf a"):
        assert await judged(next_run, ask(other)) is not None


async def test_what_is_remembered_is_written_away_from_the_event_loop():
    threads = []
    approvals = Approvals(
        approve=Person("always"), remember=lambda _text: threads.append(threading.current_thread())
    )
    await judged(approvals, ask())
    assert threads != [threading.current_thread()]


@pytest.mark.parametrize(("keep", "answers"), [("once", 3), ("session", 1)])
async def test_an_answer_lasts_no_longer_than_it_may(keep, answers):
    person, kept = Person("always", "session", "once"), []
    approvals = Approvals(approve=person, remember=kept.append)
    for number in range(3):
        ids = CallIds(api_request_id="a", tool_call_id=str(number))
        assert await judged(approvals, ask(keep=keep), ids=ids) is None
    assert len(person.asked) == answers
    assert kept == []


@pytest.mark.parametrize("answer", ["deny", "no", "", None, True, ["once"], OSError("gone"), KeyError("x")])
async def test_whatever_is_no_consent_is_a_no(answer):
    heard = Heard()
    refused = await judged(Approvals(approve=Person(answer), listeners=[heard]), ask())
    assert "has not consented" in refused.words
    assert refused.error_type == "approval_denied"
    assert heard.told == [("asked", "rm -rf build"), ("answered", "deny")]


async def test_who_does_not_answer_in_time_has_said_no():
    heard = Heard()

    async def sleepy(_wanted):
        await asyncio.Event().wait()

    refused = await judged(Approvals(Policy(timeout=0.02), sleepy, listeners=[heard]), ask())
    assert "nobody answered within 0.02 seconds" in refused.words
    assert heard.told[-1] == ("answered", "timeout")


async def test_an_interrupt_at_the_question_is_a_no_and_passes_on():
    heard, waits = Heard(), asyncio.Event()

    async def sleepy(_wanted):
        waits.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(judged(Approvals(approve=sleepy, listeners=[heard]), ask()))
    await waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.told[-1] == ("answered", "deny")


async def test_calls_side_by_side_ask_one_after_the_other_and_share_an_answer():
    open_questions, most = 0, 0

    async def approve(_wanted):
        nonlocal open_questions, most
        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0.01)
        open_questions -= 1
        return "session" if len(heard.told) > 3 else "once"

    heard = Heard()
    approvals = Approvals(approve=approve, listeners=[heard])
    calls = [CallIds(api_request_id="a", tool_call_id=str(number)) for number in range(5)]
    assert await asyncio.gather(*(judged(approvals, ask(), ids=ids) for ids in calls)) == [None] * 5
    assert most == 1
    assert [told for told, _ in heard.told].count("asked") == 3


async def test_about_the_same_arguments_of_one_call_it_is_asked_once():
    person = Person("once", "deny", "once")
    approvals = Approvals(approve=person)
    assert await judged(approvals, ask()) is None
    assert await judged(approvals, ask()) is None
    assert await judged(approvals, ask("rm -rf home")) is not None
    assert await judged(approvals, ask("rm -rf home")) is not None
    assert len(person.asked) == 2
    later = CallIds(session_id="s", turn_id="t", api_request_id="t:api:2", tool_call_id="c1")
    assert await judged(approvals, ask(), ids=later) is None
    assert len(person.asked) == 3


async def test_the_question_says_everything_and_carries_the_ids():
    person = Person()
    await judged(Approvals(approve=person), ask(rules=("a", "b"), keep="session"))
    [wanted] = person.asked
    assert (wanted.tool, wanted.action, wanted.reason) == ("terminal", "rm -rf build", "it deletes")
    assert (wanted.rules, wanted.keep, wanted.ids) == (("a", "b"), "session", IDS)


async def test_a_concern_without_a_rule_is_asked_every_time():
    person = Person("session", "session")
    approvals = Approvals(Policy(allow=("*",)), person)
    for number in range(2):
        ids = CallIds(api_request_id="a", tool_call_id=str(number))
        await judged(approvals, ask(rules=()), ids=ids)
    assert len(person.asked) == 2


class TestEscalation:
    """A plugin's `approve`, through the same object."""

    async def test_without_anybody_it_is_refused(self):
        concern = escalated("look", {"q": 1}, "are you sure")
        refused = await Approvals().judge("look", {"q": 1}, concern, IDS)
        assert "are you sure" in refused.words

    async def test_always_is_for_the_key_of_the_rule(self):
        person, kept = Person("always"), []
        approvals = Approvals(approve=person, remember=kept.append)
        for arguments in ({"q": 1}, {"q": 2}):
            concern = escalated("look", arguments, rule_key="k")
            assert await approvals.judge("look", arguments, concern, IDS) is None
        assert kept == ["plugin_rule:k"]
        other = escalated("look", {"q": 1}, rule_key="other")
        assert await approvals.judge("look", {"q": 1}, other) is not None
        assert [wanted.rules for wanted in person.asked] == [("plugin_rule:k",), ("plugin_rule:other",)]

    async def test_without_a_key_the_tool_is_the_rule_and_no_glob_allows_it(self):
        concern = escalated("look", {})
        assert concern.rules == ("plugin_rule:look",)
        assert await Approvals(Policy(allow=("*",))).judge("look", {}, concern) is not None
        assert await Approvals(Policy(allow=("plugin_rule:look",))).judge("look", {}, concern) is None

    async def test_what_the_tool_says_against_it_is_asked_in_the_same_question(self):
        person, kept = Person("always"), []
        concern = escalated("terminal", {"command": "rm -rf build"}, "think", "k", beside=ask())
        assert (concern.action, concern.reason) == ("rm -rf build", "it deletes; think")
        await judged(Approvals(approve=person, remember=kept.append), concern)
        assert kept == ["plugin_rule:k", "rm -rf build"]
        forbidden = escalated("terminal", {}, beside=ask("rm -rf /", kind="forbidden"))
        assert (forbidden.kind, forbidden.reason) == ("forbidden", "it deletes")


def test_concerns_about_one_call_become_one_question():
    tool = ask("cd x && rm -rf y", parts=("cd x", "rm -rf y"))
    guard = Concern(kind="ask", action="terminal {}", reason="strangers", rules=("g",), keep="session")
    assert joined(None, None) is None
    assert joined(None, guard) is guard
    both = joined(tool, guard)
    assert (both.action, both.reason) == (tool.action, "it deletes; strangers")
    assert (both.rules, both.keep, both.parts) == (("terminal.deletes_folders", "g"), "session", tool.parts)
    free = joined(ask("ls", kind="free", rules=()), guard)
    assert (free.kind, free.action, free.rules) == ("ask", "ls", ("g",))


@given(st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.integers() | st.none(), max_size=4))
def test_a_digest_is_of_what_is_called_not_of_how_it_is_written(arguments):
    turned = dict(reversed(arguments.items()))
    assert digest("t", arguments) == digest("t", turned)
    assert digest("t", arguments) != digest("u", arguments)
    assert digest("t", arguments) != digest("t", {**arguments, "more": 1})


@pytest.mark.parametrize("value", [object(), {1, 2}, 1 << 80, "\ud800", float("nan"), b"x"])
def test_anything_has_a_digest(value):
    assert len(digest("t", {"v": value})) == 64
