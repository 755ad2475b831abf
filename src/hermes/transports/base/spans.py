"""Text in which a model hides other things: thoughts in tags, and tool calls written out as text.

Models served without a parser of their own put both into plain content. `SpanFilter` takes them out of
a stream as it arrives, whatever pieces it comes in; `read_call` makes a call of what was taken out.
"""

import re
from collections.abc import Collection
from typing import Any, Literal, NamedTuple

import msgspec

from hermes.messages import NOT_JSON, ToolCall, build_tool_call

Kind = Literal["text", "thought", "call"]

_THOUGHTS = {f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning")}
_CALLS = {
    "<tool_call>": "</tool_call>",
    "<|tool_call_begin|>": "<|tool_call_end|>",
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<start_function_call>": "<end_function_call>",
}
_MID_SENTENCE = "`'\"(,"
_NOISE = r"<\|tool_calls_section_(?:begin|end)\|>"
_OPENING = "|".join(map(re.escape, (*_THOUGHTS, *_CALLS)))
_LONGEST_MARK = max(map(len, (*_THOUGHTS, *_CALLS)))
_TAIL = 40
"""Characters before a mark that are looked at, to know whether it stands inside a sentence."""


class Span(NamedTuple):
    kind: Kind
    text: str


class SpanFilter:
    """Splits content into what is said, what is thought, and calls.

    Thoughts count only at the start. A call inside a sentence is talked about, not made: it is text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._kind: Kind = "text"
        self._closing = ""
        self._at_start = True
        self._tail = ""

    def feed(self, piece: str) -> list[Span]:
        """The spans this piece completes. The end of the text may be held back until it is clear."""
        if "<" not in piece and not self._held and not self._closing:
            self._at_start = self._at_start and not piece.strip()
            self._tail = (self._tail + piece)[-_TAIL:]
            return [Span("text", piece)] if piece else []
        self._held += piece
        spans: list[Span] = []
        while self._step(spans):
            pass
        return [span for span in spans if span.text]

    def finish(self) -> list[Span]:
        """What is still held; a span that was never closed ends here. An open call is said as text."""
        opening = next((mark for mark, end in _CALLS.items() if end == self._closing), "")
        held = opening + self._held
        kind: Kind = "text" if opening else self._kind
        self._held, self._kind, self._closing = "", "text", ""
        return [Span(kind, held)] if held else []

    def _step(self, spans: list[Span]) -> bool:
        return self._inside(spans) if self._closing else self._outside(spans)

    def _inside(self, spans: list[Span]) -> bool:
        end = self._held.find(self._closing)
        if end < 0:
            if self._kind == "thought":
                self._release(spans, _clear_of(self._held, (self._closing,)))
            return False
        self._release(spans, end)
        self._held = self._held[len(self._closing) :]
        self._kind, self._closing = "text", ""
        return bool(self._held)

    def _outside(self, spans: list[Span]) -> bool:
        opening = next((found for found in re.finditer(_OPENING, self._held) if self._opens(found)), None)
        if opening is None:
            marks = (*_CALLS, *_THOUGHTS) if self._at_start else tuple(_CALLS)
            self._release(spans, _clear_of(self._held, marks))
            return False
        mark = opening[0]
        self._release(spans, opening.start())
        self._held = self._held[len(mark) :]
        self._kind, self._closing = ("call", _CALLS[mark]) if mark in _CALLS else ("thought", _THOUGHTS[mark])
        self._tail = ""
        return True

    def _opens(self, found: re.Match[str]) -> bool:
        before = self._held[: found.start()]
        if found[0] in _THOUGHTS:
            return self._at_start and not before.strip()
        line = (self._tail + before).rpartition("\n")[2].rstrip()
        return not line or not (line[-1].isalnum() or line[-1] in _MID_SENTENCE)

    def _release(self, spans: list[Span], size: int) -> None:
        text = self._held[:size]
        spans.append(Span(self._kind, text))
        self._held = self._held[size:]
        if self._kind == "text":
            self._tail = (self._tail + text)[-_TAIL:]
            self._at_start = self._at_start and not text.strip()


def _clear_of(text: str, marks: tuple[str, ...]) -> int:
    """How much of the text cannot be the beginning of a mark."""
    for size in range(min(len(text), _LONGEST_MARK), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return len(text) - size
    return len(text)


def read_call(text: str, known: Collection[str]) -> ToolCall | None:
    """The call that was written out as text, if it names a known tool and its arguments can be read."""
    named = _json_form(text) or _kimi_form(text) or _xml_form(text) or _gemma_form(text)
    if named is None or named[0] not in known:
        return None
    call = build_tool_call(None, named[0], named[1])
    return call if isinstance(call.parse(), dict) else None


def without_noise(text: str) -> str:
    return re.sub(_NOISE, "", text)


def _json_form(text: str) -> tuple[str, Any] | None:
    """`{"name": "f", "arguments": {...}}`, as Hermes models write it."""
    try:
        found = msgspec.json.decode(text.strip())
    except NOT_JSON:
        return None
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        return None
    return found["name"], found.get("arguments", {})


def _kimi_form(text: str) -> tuple[str, Any] | None:
    """`functions.f:0<|tool_call_argument_begin|>{...}`."""
    head, mark, arguments = text.partition("<|tool_call_argument_begin|>")
    found = re.fullmatch(r"\s*(?:functions\.)?([\w-]+)(?::\d+)?\s*", head)
    return (found[1], arguments.strip()) if mark and found else None


def _xml_form(text: str) -> tuple[str, Any] | None:
    """`<invoke name="f"><parameter name="a">1</parameter></invoke>`; values may be JSON."""
    found = re.search(r'<invoke name="([^"]+)">(.*?)</invoke>', text, re.DOTALL)
    if found is None:
        return None
    parameters = re.findall(r'<parameter name="([^"]+)">(.*?)</parameter>', found[2], re.DOTALL)
    return found[1], {name: _value(value) for name, value in parameters}


def _gemma_form(text: str) -> tuple[str, Any] | None:
    """`call:f{a:<escape>text<escape>,b:1}`."""
    found = re.fullmatch(r"\s*call:([\w-]+)\{(.*)\}\s*", text, re.DOTALL)
    if found is None:
        return None
    pairs = re.findall(r"([\w-]+):(?:<escape>(.*?)<escape>|([^,]*))", found[2], re.DOTALL)
    return found[1], {name: quoted if quoted else _value(plain) for name, quoted, plain in pairs}


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except NOT_JSON:
        return text
