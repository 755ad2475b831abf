"""What the loop does about answers that are cut, empty, unreadable or too long, on real sockets."""

import pytest

from hermes.agent.budget import Limits
from hermes.agent.prompt import CONTINUE, NUDGE
from hermes.errors import ContextOverflow, InvalidResponse
from hermes.events import Compacted, Notice, Text
from hermes.messages import Message
from simulators.chat_completions import calls, fails, says
from simulators.talk import Bench

CUT_CALL = calls(("look", '{"q": "x"'), finish="length")


def shown(bench):
    return "".join(event.delta for event in bench.events if isinstance(event, Text))


async def test_an_answer_in_three_parts_is_one_answer():
    script = says("One, tw", finish="length"), says("o, three ", finish="length"), says(" and four.")
    async with Bench(*script) as bench:
        answer = await bench.ask()
        assert answer.text == shown(bench) == "One, two, three  and four."
        assert (answer.finish_reason, answer.complete) == ("stop", True)
        assert [body["messages"][-1]["content"] for body in bench.server.bodies[1:]] == [CONTINUE, CONTINUE]
        assert answer.usage.total_tokens == 45


async def test_an_answer_that_never_ends_is_marked_as_cut():
    async with Bench(says("more ", finish="length")) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("more " * 4, "length", False)
        assert len(bench.server.bodies) == 4


async def test_a_cut_call_is_asked_for_with_more_room_and_never_run():
    async with Bench(
        CUT_CALL, CUT_CALL, calls(("look", {"q": "x"})), says("done"), max_tokens=1_000
    ) as bench:
        answer = await bench.ask()
        assert [body["max_tokens"] for body in bench.server.bodies] == [1_000, 2_000, 4_000, 1_000]
        assert bench.tools.called == [("look", {"q": "x"})]
        assert bench.roles() == ["user", "assistant", "tool", "assistant"]
        assert answer.text == "done"


async def test_calls_that_are_always_cut_end_the_turn():
    async with Bench(CUT_CALL) as bench:
        with pytest.raises(InvalidResponse, match="cut off at the output limit"):
            await bench.ask()
        assert bench.tools.called == []
        assert bench.roles() == ["user"]


async def test_silence_after_tools_is_nudged():
    async with Bench(calls(("look", {"q": "x"})), says(""), says("So it is.")) as bench:
        assert (await bench.ask()).text == "So it is."
        assert bench.server.bodies[2]["messages"][-1] == {"role": "user", "content": NUDGE}


async def test_a_model_that_says_nothing_is_asked_four_times():
    async with Bench(says("")) as bench:
        with pytest.raises(InvalidResponse, match="answered with nothing"):
            await bench.ask()
        assert len(bench.server.bodies) == 4
        assert bench.roles() == ["user"]


async def test_a_thought_alone_is_followed_up():
    async with Bench(says("", reasoning="hm"), says("Right.")) as bench:
        assert (await bench.ask()).text == "Right."
        assert [message.reasoning for message in bench.log.kept] == [None, "hm", None]


async def test_arguments_that_cannot_be_read_are_asked_for_again_and_then_explained():
    unreadable = calls(("look", "{bad}"), ("look", {"q": "sibling"}), ("look", "[1]"))
    async with Bench(unreadable, unreadable, unreadable, says("I see.")) as bench:
        await bench.ask()
        assert bench.tools.called == []
        assert bench.roles() == ["user", "assistant", "tool", "tool", "tool", "assistant"]
        call, *_ = (message for message in bench.log.kept if message.tool_calls)
        results = [message for message in bench.log.kept if message.role == "tool"]
        assert [result.tool_call_id for result in results] == [made.id for made in call.tool_calls]
        for result, words in zip(
            results, ("not valid JSON", "skipped", "must be a JSON object"), strict=True
        ):
            assert words in result.content


async def test_arguments_in_the_manner_of_python_are_understood():
    async with Bench(calls(("look", "{'q': 'x'}")), calls(("look", '{"q": "a\nb"}')), says("ok")) as bench:
        await bench.ask()
        assert bench.tools.called == [("look", {"q": "x"}), ("look", {"q": "a\nb"})]


async def test_tools_that_do_not_exist_end_the_turn_after_three_rounds():
    async with Bench(calls(("nosuch", {}))) as bench:
        with pytest.raises(InvalidResponse, match="`nosuch`"):
            await bench.ask()
        assert len(bench.server.bodies) == 3
        assert bench.roles() == ["user", *["assistant", "tool"] * 3]


async def test_the_summary_at_a_limit_runs_no_calls_and_says_so():
    async with Bench(calls(("look", {"q": "x"}), text="So far.")) as bench:
        answer = await bench.ask(limits=Limits(tokens=20))
        assert (answer.text, answer.complete, answer.finish_reason) == ("So far.", False, "incomplete")
        assert len(bench.tools.called) == 2
        assert "limit of 20 tokens" in bench.server.bodies[-1]["messages"][-1]["content"]
        assert [event for event in bench.events if isinstance(event, Notice)]


LONG = "word " * 400


@pytest.mark.parametrize(("said", "looked_up"), [(10, False), (80, True)])
async def test_a_window_that_nobody_told_is_looked_up_once_a_conversation_is_long(said, looked_up):
    asked = []

    def window(*names):
        asked.append(names)
        return 30_000

    async with Bench(says("A summary."), says("Answer.")) as bench:
        for number in range(said):
            await bench.conversation.add(
                Message(role="user", content=f"{number} {LONG}"), Message(role="assistant", content="Yes.")
            )
        await bench.ask("And now?", window=window)
        assert bool(asked) is looked_up
        assert any(isinstance(event, Compacted) for event in bench.events) is looked_up


async def test_a_conversation_that_nears_its_window_is_summed_up_and_nothing_is_lost():
    async with Bench(says("A summary."), says("Answer."), context_window=1_000) as bench:
        for number in range(4):
            await bench.conversation.add(
                Message(role="user", content=f"{number} {LONG}"), Message(role="assistant", content="Yes.")
            )
        answer = await bench.ask("And now?")
        assert answer.text == "Answer."
        summed_up, asked = (body["messages"] for body in bench.server.bodies)
        assert "Summarise the conversation" in summed_up[-1]["content"]
        assert "A summary." in asked[1]["content"]
        assert asked[-1]["content"] == "And now?"
        assert len(asked) < len(summed_up)
        [compacted] = (event for event in bench.events if isinstance(event, Compacted))
        assert compacted.tokens_after < compacted.tokens_before
        assert [
            message.content for message in answer.messages if message.role == "user" and not message.replaces
        ] == [
            *(f"{number} {LONG}" for number in range(4)),
            "And now?",
        ]


async def test_a_model_that_cannot_sum_up_loses_nothing_either():
    async with Bench(fails(400, "no"), says("Answer."), context_window=1_000) as bench:
        for number in range(4):
            await bench.conversation.add(Message(role="user", content=f"question {number} {LONG}"))
        assert (await bench.ask("And now?")).text == "Answer."
        assert "user: question 0" in bench.server.bodies[-1]["messages"][1]["content"]


async def test_a_call_that_is_too_long_is_made_shorter_and_sent_again():
    too_long = fails(400, "This model's maximum context length is 4096 tokens")
    async with Bench(calls(("look", {"q": LONG})), too_long, says("Answer.")) as bench:
        assert (await bench.ask()).text == "Answer."
        assert "left out to save room" in bench.server.bodies[-1]["messages"][-1]["content"]


async def test_what_cannot_be_made_shorter_is_said():
    async with Bench(fails(400, "This model's maximum context length is 10 tokens")) as bench:
        with pytest.raises(ContextOverflow):
            await bench.ask()
        assert len(bench.server.bodies) == 1


async def test_a_broken_tool_is_told_to_the_model_and_its_siblings_answer():
    async with Bench(calls(("look", {"q": "a"}), ("look", {"q": "b"})), says("ok")) as bench:
        sound = bench.tools.call

        async def broken(name, arguments, judged=None):
            if arguments == {"q": "a"}:
                raise ZeroDivisionError("by zero")
            return await sound(name, arguments)

        bench.tools.call = broken
        assert (await bench.ask()).text == "ok"
        first, second = (message.content for message in bench.log.kept if message.role == "tool")
        assert "the tool is broken: ZeroDivisionError: by zero" in first
        assert second == "saw b"
