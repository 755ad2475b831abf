"""What a call gave, as text: a model reads words, and is told of the rest."""

from collections.abc import Iterator, Sequence

import mcp_types as types

from hermes.protocols import ToolResult
from hermes.tools.base import as_json


def as_result(server: str, result: types.CallToolResult) -> ToolResult:
    """The result of a stranger's tool; what is there as data only is written as JSON."""
    text = "\n\n".join(_texts(result.content))
    if not text and result.structured_content is not None:
        text = as_json(result.structured_content)
    return ToolResult(
        text=text or "(the tool gave nothing back)",
        is_error=result.is_error,
        served_by=f"mcp-{server}",
        trusted=False,
    )


def _texts(content: Sequence[types.ContentBlock]) -> Iterator[str]:
    for block in content:
        match block:
            case types.TextContent():
                yield block.text
            case types.ImageContent() | types.AudioContent():
                yield f"[{block.type} of type {block.mime_type}, not shown]"
            case types.ResourceLink():
                yield f"[{block.name}: {block.uri}]"
            case types.EmbeddedResource(resource=types.TextResourceContents() as held):
                yield f"[{held.uri}]\n{held.text}"
            case types.EmbeddedResource(resource=held):
                yield f"[{held.uri}, not shown]"
