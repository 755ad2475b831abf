"""The tool `memory`; `facts` keeps what it is told."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Literal, Protocol

from hermes.protocols import ToolResult
from hermes.tools.base import Param, as_json, tool
from hermes.tools.memory.facts import MOST_CHARACTERS, Memory


class Services(Protocol):
    @property
    def memory(self) -> Memory: ...


async def memory(
    services: Services,
    action: Annotated[Literal["add", "remove", "replace", "list"], Param("What to do.")],
    text: Annotated[str, Param("The fact to add, or to put in place of `old`: one short sentence.")] = "",
    old: Annotated[str, Param("The fact to remove or replace, or a part that only it has.")] = "",
) -> ToolResult:
    """Keep small facts about the user and their work across sessions, 4000 characters in all."""
    kept = services.memory
    actions: dict[str, Callable[[], bool]] = {
        "add": lambda: kept.add(text),
        "remove": lambda: kept.remove(old or text),
        "replace": lambda: kept.replace(old, text),
        "list": lambda: False,
    }
    changed = await asyncio.to_thread(actions[action])
    facts = kept.facts()
    used = sum(map(len, facts))
    return ToolResult(
        text=as_json({"changed": changed, "facts": facts, "characters": used, "limit": MOST_CHARACTERS})
    )


TOOL = tool(memory, toolset="memory", effect="changes")
