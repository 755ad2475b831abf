"""`WEB_TOOLS_DEBUG=true`: a file that says what the web tools were asked and what they gave."""

import os
from collections.abc import Callable
from typing import Any

import msgspec

FOLDER = "logs"


class DebugLog:
    """The calls of one session, written anew after each. Where it is off, nothing is kept."""

    def __init__(
        self, home: str, *, enabled: bool, now: Callable[[], str], redact: Callable[[str], str] = str
    ) -> None:
        self._session = os.urandom(8).hex() if enabled else None
        self._path = os.path.join(home, FOLDER, f"web_tools_debug_{self._session}.json") if enabled else None
        self._now = now
        self._redact = redact
        self._started = now() if enabled else ""
        self._calls: list[dict[str, Any]] = []

    @property
    def is_on(self) -> bool:
        return self._path is not None

    @property
    def info(self) -> dict[str, Any]:
        """Whether it is on, and where it writes."""
        return {
            "enabled": self._session is not None,
            "session_id": self._session,
            "log_path": self._path,
            "total_calls": len(self._calls),
        }

    def note(self, tool: str, entry: dict[str, Any]) -> None:
        """Add a call. A file that cannot be written is nobody's failure."""
        if self._path is None:
            return
        self._calls.append({"timestamp": self._now(), "tool_name": tool, **entry})
        written = {
            "session_id": self._session,
            "start_time": self._started,
            "end_time": self._now(),
            "debug_enabled": True,
            "total_calls": len(self._calls),
            "tool_calls": self._calls,
        }
        text = msgspec.json.format(msgspec.json.encode(written, enc_hook=str), indent=2).decode()
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(self._redact(text))
        except OSError:
            return
