"""The command `hermes`. Each file here is a command; its first docstring line is its summary."""

import sys

from hermes import __version__


def main() -> None:
    """Run the command line. `--version` answers before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"hermes {__version__}\n")
        return
    try:
        from hermes.cli._shell import run  # noqa: PLC0415  # click is four times the cost of `--version`

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
