"""Markdown tables."""

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing where there are no rows."""
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    if not body:
        return ""
    return "\n".join((f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *body)) + "\n"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
