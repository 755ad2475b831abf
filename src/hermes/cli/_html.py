"""A stored conversation as one HTML page that needs nothing else: no script, no style sheet, no picture."""

from collections.abc import Iterator, Sequence
from html import escape

from hermes.agent.past import by_question, citations
from hermes.agent.prompt import is_question
from hermes.cli._border import one_line
from hermes.cli._transcript import UNKNOWN_SOURCE, facts, pictures
from hermes.messages import Citation, Message
from hermes.store import SessionInfo

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }}
details {{ color: #555; }}
h2 {{ font-size: 1rem; margin: 2rem 0 0; }}
</style>
<h1>{title}</h1>
<p>{facts}</p>
{body}
</html>
"""


def html(session: SessionInfo, messages: Sequence[Message]) -> str:
    """The conversation as a page: questions, answers with their sources, and tool calls to unfold."""
    parts: list[str] = []
    for turn in by_question(messages):
        for message in turn:
            parts += _sections(message)
        parts += _cited(turn)
    title = escape(one_line(session.title) or session.id)
    return _PAGE.format(title=title, facts=escape(facts(session)), body="\n".join(parts))


def _sections(message: Message) -> Iterator[str]:
    text = escape((message.content or "").strip())
    if is_question(message):
        yield f"<h2>Question</h2>\n<pre>{text}</pre>"
        yield from (f"<p>{escape(words)}</p>" for words in pictures(message))
    elif message.role == "assistant" and text:
        yield f"<pre>{text}</pre>" if message.tool_calls else f"<h2>Answer</h2>\n<pre>{text}</pre>"
    elif message.role == "tool":
        yield f"<details><summary>result</summary>\n<pre>{text}</pre></details>"
    for call in message.tool_calls:
        yield f"<p>called <code>{escape(call.name)}</code> <code>{escape(call.arguments)}</code></p>"


def _cited(turn: Sequence[Message]) -> Iterator[str]:
    cited = citations(turn)
    if cited:
        yield "<h2>Sources</h2>\n<ul>\n" + "\n".join(map(_item, cited)) + "\n</ul>"


def _item(cited: Citation) -> str:
    if not cited.url:
        return f"<li>[{cited.n}] {UNKNOWN_SOURCE}</li>"
    words = f"[{cited.n}] {escape(cited.title or cited.url)}"
    if not cited.url.startswith(("http://", "https://")):
        return f"<li>{words} <code>{escape(cited.url)}</code></li>"
    return f'<li><a href="{escape(cited.url)}" rel="noreferrer">{words}</a></li>'
