"""A run on a terminal: the answer as Markdown while it is written, and under it its sources."""

import os
import time
from collections.abc import Callable

from hermes.cli._border import Border
from hermes.cli._cited import dates_of, listed
from hermes.cli._happenings import usage_line
from hermes.cli._held import Held
from hermes.cli._markdown import Page
from hermes.cli._markdown.style import style_for
from hermes.cli._progress import Progress
from hermes.cli._render import View
from hermes.cli._width import columns
from hermes.events import Answer, Done, Event, Failed, Started, Text, ToolFinished


class ScreenRenderer:
    """The answer on stdout with its sources under it, progress and remarks on stderr."""

    def __init__(self, border: Border, view: View, clock: Callable[[], float] = time.monotonic) -> None:
        self._border = border
        self._view = view
        self._progress = Progress(border, view, self._end_page, clock)
        self._style = style_for(os.environ, getattr(border.stdout, "encoding", None) or "utf-8")
        self._held = Held(border.redact)
        self._page: Page | None = None
        self._dates: dict[str, str] = {}

    def show(self, event: Event) -> None:
        match event:
            case Text(""):
                return
            case Text(delta):
                if self._view.streams:
                    self._progress.answer()
                    self._write(self._held.add(delta))
                return
            case Done(answer) | Failed(_, answer):
                self._progress.answer()
                self._finish(answer)
                return
            case Started():
                self._dates.clear()
            case ToolFinished():
                self._dates |= dates_of(event.result)
            case _:
                pass
        self._progress.show(event)

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

    def _finish(self, answer: Answer) -> None:
        if not self._view.streams:
            self._write(self._border.redact(answer.text))
        self._end_page()
        if answer.citations:
            lines = (listed(cited, self._dates.get(cited.url, ""), self._style) for cited in answer.citations)
            self._paint("\n" + "".join(f"{line}\n" for line in lines))
        if self._view.usage:
            self._border.aside(usage_line(answer.usage, answer.cost))
