"""The end that a signal makes."""


class Terminated(SystemExit):
    """Somebody ends the process, or its terminal is gone: what runs is stopped and kept as with Ctrl-C."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.exit_code = 128 + signal
