"""What a server offers, shown to the person who decides about it: all that a model would read."""

from collections.abc import Iterator, Mapping

from hermes.tools.mcp.listing import ListedTool, Listing
from hermes.tools.mcp.pins import Pin
from hermes.tools.mcp.spec import Spec


def describe(spec: Spec, listing: Listing, before: Pin | None) -> str:
    """The tools with their words; where some were agreed to before, what is different now."""
    return "\n".join((f"use the tools of `{spec.name}`: {spec.who}", *_lines(spec, listing, before)))


def why(spec: Spec, before: Pin | None) -> str:
    """Why a person is asked."""
    if before is None:
        return "nobody has agreed to its tools yet"
    if before.who != spec.who:
        return f"another program or address was agreed to: {before.who}"
    return "its tools are not those that were agreed to"


def _lines(spec: Spec, listing: Listing, before: Pin | None) -> Iterator[str]:
    known = {tool.name: tool for tool in before.tools} if before is not None else {}
    now = {tool.name: tool for tool in listing.tools}
    for name, tool in now.items():
        if known.get(name) != tool:
            mark = "changed: " if name in known else "new: " if known else ""
            yield from _tool(tool, mark, known.get(name))
    yield from (f"- gone: {name}" for name in known if name not in now)
    same = sum(known.get(name) == tool for name, tool in now.items())
    if same:
        yield f"- as before: {same} of {len(now)} tools"
    yield from (f"- not offered: {words}" for words in listing.left_out)
    if spec.tools is not None:
        yield f"- offered of these: {', '.join(spec.tools) or 'none'}"


def _tool(tool: ListedTool, mark: str, before: ListedTool | None) -> Iterator[str]:
    yield f"- {mark}{tool.name} ({tool.effect}): {tool.description}"
    if before is not None and before.description != tool.description:
        yield f"    before: {before.description}"
    parameters: Mapping[str, object] = tool.parameters["properties"]
    for name, schema in parameters.items():
        told = schema.get("description", "") if isinstance(schema, Mapping) else ""
        yield f"    {name}: {told}".rstrip(": ")
