"""Filters that hold for every search of a run, whatever the model asks for."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hermes.protocols import ToolResult
from hermes.tools.base import Tool

_SEARCH = "web_search"


def narrowed(tool: Tool, filters: Mapping[str, Any]) -> Tool:
    """A tool that searches the web within these filters; any other is given back as it is."""
    if not filters or tool.spec.name != _SEARCH:
        return tool

    async def search(services: Any, **arguments: Any) -> ToolResult:
        return await tool.run(services, **both(arguments, filters))

    return msgspec.structs.replace(tool, run=search)


def both(asked: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that ask for no more than either does. Where only one can be heeded, what holds is."""
    excluded = (*(asked.get("exclude_domains") or ()), *(held.get("exclude_domains") or ()))
    return {
        **asked,
        **held,
        **({"exclude_domains": list(dict.fromkeys(excluded))} if excluded else {}),
        **_later("after", max, asked, held),
        **_later("before", min, asked, held),
    }


def _later(name: str, choose: Any, asked: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, str]:
    """The narrower of two days, which are written so that they sort as text."""
    days = [str(given[name]) for given in (asked, held) if given.get(name)]
    return {name: choose(days)} if days else {}
