"""Every JSON shape that is a typed value here, field by field; and the tools as models are told of them."""

from collections.abc import Iterable

import msgspec

from hermes.tools.toolbox import select
from manual.schemas import EVENTS, SHAPES, schema_of
from manual.table import code, table

NAME = "shapes.md"
_LEAD = """# All JSON shapes

This page is made from the code. The page [JSON shapes](../reference/json-shapes.md) says who prints which.

The schema of every line of `hermes chat --json-lines` is [events.schema.json](events.schema.json).
"""


def text() -> str:
    parts = [_LEAD, "## The events\n"]
    for kind in EVENTS:
        config = kind.__struct_config__
        parts += [f"### {config.tag}\n", *_section(kind)]
    parts.append("## The values in them, and those that other commands print\n")
    for kind in SHAPES:
        parts += [f"### {kind.__name__}\n", *_section(kind)]
    parts.append("## The tools\n")
    for tool in select(("all",), ()):
        spec = tool.spec
        schema = msgspec.json.format(msgspec.json.encode(spec.parameters), indent=2).decode()
        parts += [f"### {spec.name}\n", f"{_words(spec.description)}\n", f"```json\n{schema}\n```\n"]
    return "\n".join(parts)


def _section(kind: type[msgspec.Struct]) -> Iterable[str]:
    words = kind.__dict__.get("__doc__")
    if words:
        yield f"{_words(words)}\n"
    fields = schema_of(kind)["properties"]
    rows = [(code(name), _kind(held)) for name, held in fields.items() if name != "type"]
    yield table(("field", "kind"), rows)


def _words(text: str) -> str:
    return " ".join(text.split())


def _kind(held: dict[str, object]) -> str:
    """The kind of a value in a word or two."""
    match held:
        case {"$ref": str(place)}:
            return place.rpartition("/")[2]
        case {"enum": list(names)}:
            return ", ".join(code(str(name)) for name in names)
        case {"anyOf": list(ways)}:
            return " or ".join(_kind(way) for way in ways)
        case {"type": "array", "items": dict(items)}:
            return f"list of {_kind(items)}"
        case {"type": str(word)}:
            return word
        case _:
            return "any"
