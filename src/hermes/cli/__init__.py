"""The command `hermes`. Each file here is a command; its first docstring line is its summary."""

import gc
import sys

from hermes import __version__


def main() -> None:
    """Run the command line. `--version` answers before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"hermes {__version__}\n")
        return
    # Most commands live for a fraction of a second: a sixth of it would go into collecting what
    # imports made, and another sixth into taking it apart again at the end.
    gc.set_threshold(50_000, 20, 20)
    try:
        from hermes.cli._shell import run  # noqa: PLC0415  # click is four times the cost of `--version`

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    gc.freeze()
    sys.exit(code)
