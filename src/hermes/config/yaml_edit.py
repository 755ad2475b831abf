"""Where in a YAML text a change goes: the text is cut and joined, never written anew.

So comments, order, quoting and spacing survive. The caller reads the result back and
refuses it when it does not say what was meant, so the rare shapes not foreseen here do no harm.
"""

from hermes.config.keys import Key
from hermes.config.tree import Node, Scalar, Span, read_plain

Value = Scalar | list[str]
_INDENT = 2


def changed(text: str, root: Node, key: Key, value: Value) -> str:
    """The text with the key set to the value. `root` is its tree, with spans."""
    sections = root.value if isinstance(root.value, dict) else {}
    section = sections.get(key.section)
    if section is None:
        return _add_section(text, root, key, value)
    entries = section.value if isinstance(section.value, dict) else {}
    old = entries.get(key.name)
    if old is not None:
        return _replace(text, old, value)
    return _add_entry(text, section, f"{key.name}: {_inline(value)}")


def _replace(text: str, old: Node, value: Value) -> str:
    span = _span(old)
    new = _inline(value, span.style)
    if span.style == "block":
        new = _block(value, span.column)
    elif span.style in ("|", ">"):
        new += "\n"
    elif span.start == span.end:
        new = f" {new}"
    return text[: span.start] + new + text[span.end :]


def _block(value: Value, column: int) -> str:
    if isinstance(value, list) and value:
        return f"\n{' ' * column}".join(f"- {_inline(item)}" for item in value)
    # A list may stand as far left as its key; anything else has to stand further right.
    return f" {_inline(value)}"


def _add_entry(text: str, section: Node, entry: str) -> str:
    span = _span(section)
    if span.style == "flow":
        return _add_to_flow(text, section, entry)
    if section.value is None and span.start != span.end:
        return f"{text[: span.start]}{{{entry}}}{text[span.end :]}"
    column = span.column if section.value else _key_column(text, span.start) + _INDENT
    return _add_line(text, span.end, " " * column + entry)


def _key_column(text: str, position: int) -> int:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return len(line) - len(line.lstrip(" "))


def _add_to_flow(text: str, collection: Node, entry: str) -> str:
    bracket = _span(collection).end - 1
    comma = ", " if collection.value else ""
    return text[:bracket] + comma + entry + text[bracket:]


def _add_line(text: str, end: int, line: str) -> str:
    """Adds a line after the one that `end` is in; block text ends at the start of the line after it."""
    eol = _eol(text)
    if text[end - 1] != "\n":
        newline = text.find("\n", end)
        if newline < 0:
            return f"{text}{eol}{line}{eol}"
        end = newline + 1
    return f"{text[:end]}{line}{eol}{text[end:]}"


def _add_section(text: str, root: Node, key: Key, value: Value) -> str:
    entry = f"{key.name}: {_inline(value)}"
    if root.span and root.span.style == "flow":
        return _add_to_flow(text, root, f"{key.section}: {{{entry}}}")
    eol = _eol(text)
    margin = " " * root.span.column if root.span and root.value else ""
    start = eol if text and not text.endswith("\n") else ""
    return f"{text}{start}{margin}{key.section}:{eol}{margin}{' ' * _INDENT}{entry}{eol}"


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _span(node: Node) -> Span:
    if node.span is None:
        raise TypeError("a tree read without places")
    return node.span


def _inline(value: Value, style: str = "") -> str:
    """A value on one line, valid inside and outside of brackets, in the quotes of the one before."""
    if isinstance(value, list):
        return f"[{', '.join(_inline(item) for item in value)}]"
    if not isinstance(value, str):
        return str(value)
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    return value if style != '"' and _is_plain(value) else _double_quoted(value)


def _is_plain(value: str) -> bool:
    read = read_plain(f"key: {value}")
    return read is not None and isinstance(read.value, dict) and read.value["key"].value == value


def _double_quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
