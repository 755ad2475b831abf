"""What happens on the way to an answer, on a terminal: a line for each tool call, thoughts folded."""

import time
from collections.abc import Callable

from hermes.cli._border import Border
from hermes.cli._happenings import Waits, call_line, outcome, remark
from hermes.cli._pulse import Pulse
from hermes.cli._render import View
from hermes.cli._thinking import Thinking
from hermes.events import Event, Reasoning, Started, ToolFinished, ToolProgress, ToolStarted


class Progress:
    """Shows all that is no answer. `step_aside` is called before anything is written."""

    def __init__(
        self,
        border: Border,
        view: View,
        step_aside: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._border = border
        self._view = view
        self._step_aside = step_aside
        self._clock = clock
        self._thinking: Thinking | None = None
        self._calls: dict[str, str] = {}
        self._waits = Waits()
        self._pulse = Pulse(self._show_waiting)

    def show(self, event: Event) -> None:
        if not isinstance(event, Reasoning):
            self._end_thinking()
        match event:
            case Started():
                self._waits = Waits()
                self._pulse.start()
            case Reasoning(delta):
                self._think(delta)
            case ToolStarted(id, name, arguments):
                self._step_aside()
                self._calls[id] = call_line(name, self._border.redact(arguments))
                self._show_running()
                self._pulse.start()
            case ToolProgress(id, _, text):
                self._show_progress(id, text)
            case ToolFinished():
                self._finish_call(event)
            case _:
                self._remark(event)

    def answer(self) -> None:
        """An answer comes, or ends: nothing else is going on."""
        self._end_thinking()
        self._pulse.stop()
        self._calls.clear()
        self._border.clear()

    def _think(self, delta: str) -> None:
        self._pulse.stop()
        if self._thinking is None:
            self._step_aside()
            self._thinking = Thinking(self._border, self._clock, in_full=self._view.reasoning)
        self._thinking.add(delta)

    def _end_thinking(self) -> None:
        if self._thinking is not None:
            self._thinking.end()
            self._thinking = None

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
        last = next((line for line in reversed(text.split("\n")) if line.strip()), "")
        if last and id in self._calls:
            self._border.live(f"{self._calls[id]} … {last}")

    def _finish_call(self, event: ToolFinished) -> None:
        line = self._calls.pop(event.id, f"· {event.name}")
        self._border.aside(line, f": {outcome(event)}")
        self._show_running()
        self._pulse.start()

    def _remark(self, event: Event) -> None:
        words = remark(event, self._waits)
        if words:
            self._step_aside()
            self._border.say(words)
            self._show_running()
