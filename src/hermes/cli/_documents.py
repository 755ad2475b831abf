"""A session as a document to keep."""

from collections.abc import Sequence
from typing import Literal, get_args

from hermes.cli._html import html
from hermes.cli._json import as_json
from hermes.cli._transcript import markdown
from hermes.messages import Message
from hermes.store import Happening, SessionInfo

Format = Literal["md", "html", "json"]
FORMATS: tuple[str, ...] = get_args(Format)


def document(
    format: str, session: SessionInfo, messages: Sequence[Message], events: Sequence[Happening]
) -> str:
    """The session in one of `FORMATS`; only JSON holds what happened between the messages."""
    match format:
        case "html":
            return html(session, messages)
        case "json":
            return as_json({"session": session, "messages": messages, "events": events})
        case _:
            return markdown(session, messages)
