"""Measure Hermes against floors taken in the same run: a table for people, then one line of JSON."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from bench import server
from bench.calls import measure_call, measure_chunk, measure_concurrency
from bench.convert import measure_convert
from bench.hooks import measure_hooks
from bench.install import measure_install
from bench.measure import Figure, Plan
from bench.reading import measure_guard, measure_pages
from bench.serving import measure_serve
from bench.start import measure_one_shot, measure_scout, measure_start
from bench.turns import measure_turn
from bench.web import measure_web

MEASURES: dict[str, Callable[[Plan], list[Figure]]] = {
    "start": measure_start,
    "scout": measure_scout,
    "one-shot": measure_one_shot,
    "call": measure_call,
    "chunk": measure_chunk,
    "convert": measure_convert,
    "concurrency": measure_concurrency,
    "turn": measure_turn,
    "hooks": measure_hooks,
    "web": measure_web,
    "serve": measure_serve,
    "guard": measure_guard,
    "pages": measure_pages,
    "install": measure_install,
}
VERDICTS = {True: "yes", False: "NO", None: ""}


def main(arguments: Sequence[str]) -> None:
    options = _parse(arguments)
    with server.running() as (url, process), tempfile.TemporaryDirectory() as folder:
        pinning = _pin(process)
        print(pinning, file=sys.stderr)
        figures: list[Figure] = []
        for name in options.only:
            home = os.path.join(folder, name)
            os.mkdir(home)
            started = time.perf_counter()
            figures += MEASURES[name](Plan(url, home, options.quick))
            print(f"measured {name} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print(table(figures))
    print(json.dumps({"pinning": pinning, "quick": options.quick, "figures": [f.as_json() for f in figures]}))


def table(figures: Sequence[Figure]) -> str:
    rows = [("name", "what", "value", "floor", "ratio", "goal", "ok")]
    rows += [
        (
            figure.name,
            figure.what,
            f"{figure.value:,.4g} {figure.unit}",
            "" if figure.floor is None else f"{figure.floor:,.4g} {figure.unit}",
            "" if figure.ratio is None else f"{figure.ratio:.2f}x",
            "" if figure.goal is None else str(figure.goal),
            VERDICTS[figure.ok],
        )
        for figure in figures
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, in under a minute")
    parser.add_argument(
        "--only",
        type=_names,
        default=list(MEASURES),
        metavar="NAME[,NAME]",
        help=f"a part of: {', '.join(MEASURES)}",
    )
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in MEASURES:
            raise argparse.ArgumentTypeError(f"`{name}` is none of {', '.join(MEASURES)}")
    return names


def _pin(server_process: int) -> str:
    """Give the server the last core, and us with our children the first."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2:
        return "not pinned: there is one core, or no way to choose one"
    os.sched_setaffinity(server_process, {cores[-1]})
    os.sched_setaffinity(0, {cores[0]})
    return f"server pinned to core {cores[-1]}, the rest to core {cores[0]}"


if __name__ == "__main__":
    main(sys.argv[1:])
