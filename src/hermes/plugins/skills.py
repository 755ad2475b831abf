"""Skills of plugins as a tool: a model sees which there are, and reads the one it needs."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from hermes.errors import ToolError
from hermes.plugins.context import Skill
from hermes.plugins.tooling import Offer, as_tool
from hermes.tools.base import Tool

NAME = "skill"
_FILE = "SKILL.md"
_LONGEST = 100_000


def skill_tool(skills: Sequence[Skill]) -> Tool:
    """The tool that reads these skills; its description tells what they are for."""
    known = {skill.address: skill for skill in skills}

    def read(arguments: Mapping[str, Any]) -> str:
        name = arguments.get("name")
        if name not in known:
            raise ToolError(f"there is no skill `{name}`; there are {', '.join(map('`{}`'.format, known))}")
        return _text_of(known[name])

    listed = "; ".join(f"{address}: {_line(skill.description)}" for address, skill in known.items())
    return as_tool(
        Offer(
            name=NAME,
            toolset="skills",
            schema={
                "type": "object",
                "properties": {"name": {"type": "string", "enum": list(known)}},
                "required": ["name"],
            },
            handler=read,
            description=f"Read how to do something before you do it. There are {listed}",
            effect="reads",
        )
    )


def _line(description: str) -> str:
    return " ".join(description.split()) or "no description"


def _text_of(skill: Skill) -> str:
    """The text of a skill, whose path is a file or a folder with a `SKILL.md`."""
    path = os.path.join(skill.path, _FILE) if os.path.isdir(skill.path) else skill.path
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise ToolError(f"the skill `{skill.address}` cannot be read: {reason}") from error
