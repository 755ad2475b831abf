"""The command `hermes`. Each file here is a command; its first docstring line is its summary."""

import _signal  # type: ignore[import-not-found]  # what `signal` wraps in enums, at a cost that Ctrl-C would fall into
import gc
import os
import sys

from hermes import __version__


def main() -> None:
    """Run the command line. `--version` answers before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.exit(_say_version())
    _signal.signal(_signal.SIGINT, _leave)
    # Most commands live for a fraction of a second: a sixth of it would go into collecting what
    # imports made, and another sixth into taking it apart again at the end.
    gc.set_threshold(50_000, 20, 20)
    from hermes.cli._shell import run  # noqa: PLC0415  # click is four times the cost of `--version`

    code = run(sys.argv[1:])
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    gc.freeze()
    sys.exit(code)


def _say_version() -> int:
    try:
        os.write(1, f"hermes {__version__}\n".encode())
    except OSError as error:
        return 0 if isinstance(error, BrokenPipeError) else 1
    return 0


def _leave(*_: object) -> None:
    """Ctrl-C while Hermes is still being loaded: there is nothing to keep and nothing to clean up.

    Raising would not do: an import may swallow the exception, or print it as a traceback.
    """
    os.write(2, b"error: interrupted\n")
    os._exit(130)
