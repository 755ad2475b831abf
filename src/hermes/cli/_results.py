"""What a search found, as people read it: title, address, description."""

from hermes.cli._border import border, is_terminal, one_line, visible
from hermes.cli._width import columns, wrapped

WIDEST = 300
INDENT = "   "


def show_result(position: int, title: str, url: str, description: str) -> None:
    """Print one result; on a terminal its words are kept together, and its address is one line to click."""
    stream = border().stdout
    words = one_line(description, WIDEST)
    if is_terminal(stream):
        lines = wrapped(visible(words), columns(stream) - len(INDENT))
        words = f"\n{INDENT}".join(lines)
    border().show(f"{position}. {one_line(title)}\n{INDENT}{url}\n{INDENT}{words}\n\n")
