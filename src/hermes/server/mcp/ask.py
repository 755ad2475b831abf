"""The tool `ask`: a question answered by the agent, which searches, reads and cites."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import anyio

from hermes.app import Runtime, Terms
from hermes.errors import HermesError, Interrupted
from hermes.events import Answer, Event
from hermes.protocols import ToolResult, progress
from hermes.server.mcp import telling
from hermes.server.runs import Ask, Run
from hermes.tools.base import Param, as_json, failure, told, tool


class Asking(NamedTuple):
    """Who answers, and how a run begins."""

    runtime: Runtime
    begin: Callable[[Ask], Run]


async def ask(
    asking: Asking,
    question: Annotated[str, Param("What to find out, as a whole question in plain words.")],
    model: Annotated[
        str | None, Param("Who answers, as PROVIDER/MODEL; what the settings say if not given.")
    ] = None,
) -> ToolResult:
    """Answer a question from the web, with citations: search, read the best pages, and quote them."""
    run = asking.begin(lambda _emit: _answer(asking.runtime, question, model or ""))
    try:
        answer = await run.answer()
    except HermesError as error:
        return failure(told(error))
    finally:
        run.stop(Interrupted("the client left"))
        # A client that cancels does so again and again, and what was said is still kept.
        with anyio.CancelScope(shield=True):
            await run.ended()
    return ToolResult(text=as_json(payload(answer)), is_error=not answer.complete, trusted=False)


async def _answer(runtime: Runtime, question: str, model: str) -> Answer:
    say = progress.get()

    def tell(event: Event) -> None:
        words = telling.line(event)
        if words:
            say(words)

    await runtime.chooser.look_around(model)
    terms = Terms(model=model, tools=runtime.config.server.tools, platform="mcp")
    return await runtime.converse(terms).ask(question, tell)


def payload(answer: Answer) -> dict[str, Any]:
    """The answer in the shape programs rely on, without what only a shell needs."""
    return {
        "session_id": answer.session_id,
        "answer": answer.text,
        "citations": answer.citations,
        "model": answer.model,
        "provider": answer.provider,
        "finish_reason": answer.finish_reason,
        "usage": answer.usage,
        "cost": answer.cost,
    }


TOOL = tool(ask, toolset="ask")
