"""A run on a terminal: Markdown as it is written, a line for each tool call, thoughts folded."""

import os
import time
from collections.abc import Callable

from hermes.cli._border import Border
from hermes.cli._cited import dates_of, listed
from hermes.cli._happenings import Waits, call_line, outcome, remark, usage_line
from hermes.cli._held import Held
from hermes.cli._markdown import Page
from hermes.cli._markdown.style import style_for
from hermes.cli._pulse import Pulse
from hermes.cli._render import View
from hermes.cli._terminal import columns
from hermes.cli._thinking import Thinking
from hermes.events import (
    Answer,
    Done,
    Event,
    Failed,
    Reasoning,
    Started,
    Text,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)


class ScreenRenderer:
    """The answer on stdout with its sources under it, progress and remarks on stderr."""

    def __init__(self, border: Border, view: View, clock: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._border = border
        self._clock = clock
        self._style = style_for(os.environ, getattr(border.stdout, "encoding", None) or "utf-8")
        self._held = Held(border.redact)
        self._page: Page | None = None
        self._thinking: Thinking | None = None
        self._calls: dict[str, str] = {}
        self._dates: dict[str, str] = {}
        self._waits = Waits()
        self._pulse = Pulse(self._show_waiting)

    def show(self, event: Event) -> None:
        if event == Text(""):
            return
        self._stir(event)
        match event:
            case Started():
                self._begin()
            case Text(delta):
                if self._view.streams:
                    self._write(self._held.add(delta))
            case Reasoning(delta):
                self._think(delta)
            case ToolStarted(id, name, arguments):
                self._end_page()
                self._calls[id] = call_line(name, self._border.redact(arguments))
                self._show_running()
                self._pulse.start()
            case ToolProgress(id, _, text):
                self._show_progress(id, text)
            case ToolFinished():
                self._finish_call(event)
            case Done(answer) | Failed(_, answer):
                self._finish(answer)
            case _:
                self._remark(event)

    def _stir(self, event: Event) -> None:
        """End what an event puts an end to: thoughts, and waiting."""
        if self._thinking is not None and not isinstance(event, Reasoning):
            self._thinking.end()
            self._thinking = None
        if isinstance(event, Text | Reasoning | Done | Failed):
            self._pulse.stop()

    def _begin(self) -> None:
        self._dates.clear()
        self._calls.clear()
        self._waits = Waits()
        self._pulse.start()

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._page is None:
            self._page = Page(self._style, lambda: columns(self._border.stdout))
        self._paint(self._page.feed(text))

    def _end_page(self) -> None:
        """End what is being written: what comes next begins on a line of its own."""
        self._write(self._held.rest())
        if self._page is not None:
            self._paint(self._page.end())
            self._page = None

    def _paint(self, text: str) -> None:
        if text:
            self._border.paint(text)

    def _think(self, delta: str) -> None:
        if self._thinking is None:
            self._end_page()
            self._thinking = Thinking(self._border, self._clock, in_full=self._view.reasoning)
        self._thinking.add(delta)

    def _show_running(self) -> None:
        """The call that was started last, and how many others are still running."""
        if self._calls:
            *others, line = self._calls.values()
            self._border.live(f"{line} …" + (f" and {len(others)} more" if others else ""))

    def _show_waiting(self, seconds: int) -> None:
        if self._calls:
            self._border.live(f"{list(self._calls.values())[-1]} … {seconds} s")
        else:
            self._border.live(f"· waiting for the model, {seconds} s")

    def _show_progress(self, id: str, text: str) -> None:
        lines = text.split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        if last and id in self._calls:
            self._border.live(f"{self._calls[id]} … {last}")

    def _finish_call(self, event: ToolFinished) -> None:
        line = self._calls.pop(event.id, f"· {event.name}")
        self._border.aside(f"{line}: {outcome(event)}")
        self._dates |= dates_of(event.result)
        self._show_running()
        self._pulse.start()

    def _remark(self, event: Event) -> None:
        words = remark(event, self._waits)
        if words:
            self._end_page()
            self._border.say(words)
            self._show_running()

    def _finish(self, answer: Answer) -> None:
        if not self._view.streams:
            self._write(self._border.redact(answer.text))
        self._end_page()
        self._calls.clear()
        self._border.clear()
        if answer.citations:
            lines = (listed(cited, self._dates.get(cited.url, ""), self._style) for cited in answer.citations)
            self._paint("\n" + "".join(f"{line}\n" for line in lines))
        if self._view.usage:
            self._border.aside(usage_line(answer.usage, answer.cost))
