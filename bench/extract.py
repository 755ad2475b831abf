"""Page readers side by side: `python -m bench.extract DIR [--limit N] [--tools …]`.

DIR holds pages in the format of `bench.reader.pages`. Every tool reads every page in a process of its own, so
that speed (pages per second of CPU time) and peak memory are its own. Mean page F1 over bags of words is
given for all pages and for each kind; then the snippets that must and must not come out, and the share of
the page's structure that came out as Markdown.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import islice
from statistics import mean

import lxml.html
import msgspec
import readability
import resiliparse.extract.html2text
import trafilatura

import hermes
from bench.reader.pages import Sample, load
from bench.reader.score import match, snippets, structure

Read = Callable[[bytes | str, str], str]
KINDS = ("article", "documentation", "service", "forum", "listing", "product", "collection")
STRUCTURES = ("headings", "code", "rows", "items", "links")


def _text(html: bytes | str) -> str:
    return html if isinstance(html, str) else html.decode("utf-8", "replace")


def by_hermes(html: bytes | str, url: str) -> str:
    return hermes.read_html(html, url).markdown


def by_trafilatura(html: bytes | str, url: str) -> str:
    found = trafilatura.extract(html, url=url, output_format="markdown", include_links=True)
    return found or ""


def by_resiliparse(html: bytes | str, _url: str) -> str:
    return resiliparse.extract.html2text.extract_plain_text(
        _text(html), main_content=True, alt_texts=False, links=False, form_fields=False, noscript=True
    )


def by_readability(html: bytes | str, _url: str) -> str:
    summary = readability.Document(_text(html)).summary(html_partial=True)
    return "\n".join(lxml.html.fromstring(summary).itertext()) if summary.strip() else ""


TOOLS: dict[str, Read] = {
    "hermes": by_hermes,
    "trafilatura": by_trafilatura,
    "resiliparse": by_resiliparse,
    "readability-lxml": by_readability,
}


class Outcome(msgspec.Struct):
    """What one tool did with one page."""

    kind: str
    f1: float | None
    is_empty: bool
    hits: int
    misses: int
    noise: int
    structure: dict[str, tuple[int, int]]


class Tally(msgspec.Struct):
    """What one tool did with all pages."""

    pages: list[Outcome]
    seconds: float
    megabytes: float
    growth: float


def run(tool: str, folder: str, limit: int | None) -> Tally:
    """Read every page with one tool, in this process."""
    read = TOOLS[tool]
    outcomes: list[Outcome] = []
    seconds = 0.0
    base = 0.0
    for sample in islice(load(folder), limit):
        source = sample.source
        if not outcomes:
            read("<p>The first call of a tool loads what it needs.</p>", "")
            base = _peak()
        started = time.process_time()
        found = _tried(read, source, sample.url)
        seconds += time.process_time() - started
        outcomes.append(_judged(sample, found))
    return Tally(outcomes, seconds, _peak(), _peak() - base)


def _tried(read: Read, source: bytes | str, url: str) -> str:
    try:
        return read(source, url)
    except (ValueError, TypeError, AttributeError, lxml.etree.LxmlError, hermes.errors.HermesError) as error:
        print(f"{url}: {error!r}", file=sys.stderr)
        return ""


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _judged(sample: Sample, found: str) -> Outcome:
    hits, misses, noise = snippets(found, sample.must, sample.must_not)
    return Outcome(
        kind=sample.type,
        f1=match(found, sample.text).f1 if sample.text is not None else None,
        is_empty=not found.strip(),
        hits=hits,
        misses=misses,
        noise=noise,
        structure=structure(found, sample.structure or {}),
    )


def show(tool: str, tally: Tally) -> None:
    """One row of the table, and two lines of detail."""
    scored = [page for page in tally.pages if page.f1 is not None]
    parts = [f"{tool:17}"]
    if scored:
        parts.append(f"F1 {mean(page.f1 or 0.0 for page in scored):.3f}")
        parts.append(f"under 0.5 {sum((page.f1 or 0.0) < 0.5 for page in scored) / len(scored):.3f}")
        for kind in KINDS:
            of_kind = [page.f1 or 0.0 for page in scored if page.kind == kind]
            parts += [f"{kind[:7]} {mean(of_kind):.3f}"] if of_kind else []
    parts.append(f"{len(tally.pages) / tally.seconds:.0f} pages/s")
    parts.append(f"{tally.megabytes:.0f} MB")
    parts.append(f"empty {sum(page.is_empty for page in tally.pages)}")
    print("  ".join(parts), flush=True)
    print(f"{'':17}{_details(tally)}", flush=True)


def _details(tally: Tally) -> str:
    parts = []
    for name, pages in (
        ("snippets", [page for page in tally.pages if page.f1 is not None]),
        ("other languages", [page for page in tally.pages if page.f1 is None]),
    ):
        hits, misses, noise = (
            sum(getattr(page, key) for page in pages) for key in ("hits", "misses", "noise")
        )
        if hits:
            f1 = 2 * hits / (2 * hits + misses + noise)
            parts.append(f"{name}: F1 {f1:.3f}, kept {hits / (hits + misses):.3f}, noise {noise}")
    kept: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for page in tally.pages:
        for name, (found, wanted) in page.structure.items():
            kept[name] += found / wanted
            there[name] += 1
    parts += [f"{name} {kept[name] / there[name]:.2f}" for name in STRUCTURES if there[name]]
    return "  ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, default=None, help="read only the first N pages")
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--child", choices=list(TOOLS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        tally = run(options.child, options.folder, options.limit)
        sys.stdout.buffer.write(msgspec.json.encode(tally))
        return
    for tool in options.tools:
        limit = ["--limit", str(options.limit)] if options.limit else []
        command = [sys.executable, "-m", "bench.extract", options.folder, "--child", tool, *limit]
        done = subprocess.run(command, capture_output=True, check=True)
        show(tool, msgspec.json.decode(done.stdout, type=Tally))


if __name__ == "__main__":
    main()
