"""Scout's answers as a number: `python -m bench.scout DIR [--limit N] [--json]`.

DIR holds `corpus/*.md` and `questions.jsonl` with `question`, `answers` (empty: not answerable) and
`article`. Every question goes the whole way that `hermes chat -q` goes, in one process: the articles are
added to the index of a temporary home beside the manual, and a new conversation answers each question.
"""

import argparse
import asyncio
import glob
import re
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from bench.gains import ndcg, reciprocal
from hermes.app import Runtime, Terms
from hermes.config import load as load_settings
from hermes.index.documents import Index
from hermes.providers.scout.library import library
from hermes.providers.scout.question import analyse
from hermes.providers.scout.rank import lay, rank
from hermes.providers.scout.weights import WEIGHTS
from hermes.tools.web.reader.files import read_file

Ask = Callable[[str], Awaitable[tuple[str, list[str]]]]
ABSTAINED = "The sources I found do not answer"
LONGEST = 110


class Asked(msgspec.Struct, frozen=True):
    """One question of the set; no answers mean that the corpus does not answer it."""

    id: str
    question: str
    answers: list[str]
    article: str


class Article(msgspec.Struct, frozen=True):
    name: str
    title: str
    text: str


def load(folder: str) -> tuple[list[Article], list[Asked]]:
    """The articles and the questions of a data folder."""
    files = sorted(Path(folder, "corpus").glob("*.md"))
    lines = Path(folder, "questions.jsonl").read_bytes().splitlines()
    return (
        [Article(file.stem, file.stem.replace("_", " "), file.read_text(encoding="utf-8")) for file in files],
        [msgspec.json.decode(line, type=Asked) for line in lines if line.strip()],
    )


def asker(runtime: Runtime) -> Ask:
    """A function that asks one question in a conversation of its own: the answer and the cited URLs."""

    async def ask(question: str) -> tuple[str, list[str]]:
        answer = await runtime.converse(Terms(model="scout")).ask(question, lambda _event: None)
        return answer.text, [cited.url for cited in answer.citations]

    return ask


def plain(text: str) -> str:
    """Lower case, no punctuation, no articles: as answers are compared."""
    bare = re.sub(r"[^\w\s]", "", text.lower())
    return " ".join(word for word in bare.split() if word not in ("a", "an", "the"))


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether one of the accepted wordings stands in the text, as whole words."""
    words = f" {plain(text)} "
    return any(f" {plain(answer)} " in words for answer in answers)


def opening(text: str, count: int) -> str:
    """The first sentences of a reply, cut by the simplest of splitters; citation marks are not words."""
    bare = re.sub(r"\s*\[\d+\]", "", text)
    return " ".join(re.split(r"(?<=[.!?])\s+|\n+", bare)[:count])


def word_count(text: str) -> int:
    """Words of prose: neither citation marks nor code blocks count."""
    return len(re.sub(r"\[\d+\]|```.*?```", "", text, flags=re.DOTALL).split())


async def measure(ask: Ask, questions: Sequence[Asked]) -> dict[str, float]:
    """Ask everything; shares of the answerable questions, and how often scout declined to answer."""
    tally: Counter[str] = Counter()
    started = time.perf_counter()
    for asked in questions:
        text, cited = await ask(asked.question)
        kind = "answerable" if asked.answers else "unanswerable"
        tally[kind] += 1
        tally[f"abstained_{kind}"] += text.startswith(ABSTAINED)
        if asked.answers:
            tally["first"] += holds(opening(text, 1), asked.answers)
            tally["three"] += holds(opening(text, 3), asked.answers)
            tally["article"] += any(url.endswith(f"/{asked.article}.md") for url in cited[:1])
            tally["too_long"] += word_count(text) > LONGEST
    seconds = time.perf_counter() - started
    answerable, others = max(1, tally["answerable"]), max(1, tally["unanswerable"])
    return {
        "questions": len(questions),
        "first": tally["first"] / answerable,
        "three": tally["three"] / answerable,
        "article_cited": tally["article"] / answerable,
        "abstained_answerable": tally["abstained_answerable"] / answerable,
        "abstained_unanswerable": tally["abstained_unanswerable"] / others,
        "too_long": tally["too_long"] / answerable,
        "seconds": seconds,
    }


def pages_in_order(index: Index, questions: Sequence[Asked]) -> dict[str, float]:
    """How well the index puts the right article before the others, over the answerable questions."""
    shown = [
        [int(found.url.endswith(f"/{asked.article}.md")) for found in index.search(asked.question, 10)]
        for asked in questions
        if asked.answers
    ]
    return _means("index", [ndcg(grades, [1] * (1 - sum(grades))) for grades in shown], shown)


def sentences_in_order(articles: Sequence[Article], questions: Sequence[Asked]) -> dict[str, float]:
    """How well scout puts sentences that hold the answer first, with all articles given as pages."""
    shelf = library(tuple((page.title, page.text) for page in articles))
    shown: list[list[int]] = []
    gains: list[float] = []
    for asked in questions:
        if not asked.answers:
            continue
        ranked = rank(lay(analyse(asked.question), shelf), WEIGHTS)
        grades = [
            int(articles[shelf.page_of[each.number]].name == asked.article and holds(text, asked.answers))
            for each in ranked
            for text in [shelf.sentences[each.number].text]
        ]
        shown.append(grades)
        gains.append(ndcg(grades))
    return _means("sentence", gains, shown)


def _means(name: str, gains: Sequence[float], shown: Sequence[Sequence[int]]) -> dict[str, float]:
    count = max(1, len(shown))
    return {f"{name}_ndcg_10": sum(gains) / count, f"{name}_mrr": sum(map(reciprocal, shown)) / count}


async def measure_folder(folder: str, limit: int | None) -> dict[str, float]:
    """Index the folder's articles in a home that lasts as long as the measurement, and ask."""
    articles, questions = load(folder)
    with tempfile.TemporaryDirectory() as home:
        async with Runtime(load_settings({"HERMES_HOME": home})) as runtime:
            index = runtime.services.index()
            index.add(sorted(glob.glob(f"{glob.escape(folder)}/corpus/*.md")), read_file)
            return {
                **await measure(asker(runtime), questions[:limit]),
                **pages_in_order(index, questions[:limit]),
                **sentences_in_order(articles, questions[:limit]),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, default=None, help="ask only the first N questions")
    parser.add_argument("--json", action="store_true", help="print the JSON line alone")
    options = parser.parse_args()
    found = asyncio.run(measure_folder(options.folder, options.limit))
    if not options.json:
        for name, value in found.items():
            print(f"{name:24} {value:10.4f}")
    print(msgspec.json.encode({name: round(value, 4) for name, value in found.items()}).decode())


if __name__ == "__main__":
    main()
