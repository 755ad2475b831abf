"""Scout's answers as a number: `python -m bench.scout DIR [--limit N] [--json]`.

DIR holds `corpus/*.md` and `questions.jsonl` with `question`, `answers` (empty: not answerable) and
`article`. Every question goes through scout's own wire, with two small tools standing in for the web:
a search that ranks articles by their best paragraph, and an extractor that gives the whole article.
"""

import argparse
import asyncio
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hermes.protocols import HttpRequest
from hermes.providers.scout.engine import Scout
from hermes.providers.scout.lexicon import STOP
from hermes.providers.scout.words import terms

MOST_CALLS = 6
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("web_search", "web_extract")]
Ask = Callable[[str], tuple[str, list[str]]]


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


class Web:
    """The two tools over a folder of articles; their results have the shape of the real ones."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._articles = {f"file:///{article.name}.md": article for article in articles}
        self._passages = [
            (url, passage, Counter(terms(passage)))
            for url, article in self._articles.items()
            for passage in article.text.split("\n\n")
        ]
        self._seen = Counter(stem for _, _, counts in self._passages for stem in counts)
        self._mean = sum(counts.total() for _, _, counts in self._passages) / max(1, len(self._passages))

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.search(arguments["query"]) if name == "web_search" else self.extract(arguments["urls"])

    def search(self, query: str) -> dict[str, Any]:
        asked = [stem for stem in dict.fromkeys(terms(query)) if stem in self._seen and stem not in STOP]
        best: dict[str, tuple[float, str]] = {}
        for url, passage, counts in self._passages:
            score = sum(self._bm25(stem, counts) for stem in asked)
            if score > best.get(url, (0.0, ""))[0]:
                best[url] = (score, passage)
        ranked = sorted(best.items(), key=lambda item: -item[1][0])[:5]
        web = [
            {"title": self._articles[url].title, "url": url, "description": passage[:300], "position": at}
            for at, (url, (_, passage)) in enumerate(ranked, 1)
        ]
        return {"success": True, "data": {"web": web}}

    def _bm25(self, stem: str, counts: Counter[str]) -> float:
        often, rare = counts[stem], len(self._passages) / self._seen[stem]
        return math.log(1 + rare) * often * 2.2 / (often + 0.3 + 0.9 * counts.total() / self._mean)

    def extract(self, urls: Sequence[str]) -> dict[str, Any]:
        pages = [(url, self._articles[url]) for url in urls]
        return {"results": [{"url": url, "title": page.title, "content": page.text} for url, page in pages]}


def asker(web: Web) -> Ask:
    """A function that takes one question through scout and the tools to its answer and the cited URLs."""
    wire = Scout()

    async def run(question: str) -> tuple[str, list[str]]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
        for _ in range(MOST_CALLS):
            body = msgspec.json.encode({"model": "scout-1", "messages": messages, "tools": TOOLS})
            async with wire.open(HttpRequest("POST", "/chat/completions", body=body)) as reply:
                message = msgspec.json.decode(await reply.read())["choices"][0]["message"]
            if not message.get("tool_calls"):
                return message["content"], [
                    mark["url_citation"]["url"] for mark in message.get("annotations", [])
                ]
            messages.append(message)
            for call in message["tool_calls"]:
                result = web.call(
                    call["function"]["name"], msgspec.json.decode(call["function"]["arguments"])
                )
                content = msgspec.json.encode(result).decode()
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        raise RuntimeError(f"no answer after {MOST_CALLS} calls: {question}")

    return lambda question: asyncio.run(run(question))


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


def measure(ask: Ask, questions: Sequence[Asked]) -> dict[str, float]:
    """Ask everything; shares of the answerable questions, and how often scout declined to answer."""
    tally: Counter[str] = Counter()
    started = time.perf_counter()
    for asked in questions:
        text, cited = ask(asked.question)
        kind = "answerable" if asked.answers else "unanswerable"
        tally[kind] += 1
        tally[f"abstained_{kind}"] += text.startswith("The sources I found do not answer")
        if asked.answers:
            tally["first"] += holds(opening(text, 1), asked.answers)
            tally["three"] += holds(opening(text, 3), asked.answers)
            tally["article"] += any(url.endswith(f"/{asked.article}.md") for url in cited[:1])
            tally["too_long"] += len(re.sub(r"\[\d+\]", "", text).split()) > 110 + 10
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, default=None, help="ask only the first N questions")
    parser.add_argument("--json", action="store_true", help="print the JSON line alone")
    options = parser.parse_args()
    articles, questions = load(options.folder)
    found = measure(asker(Web(articles)), questions[: options.limit])
    if not options.json:
        for name, value in found.items():
            print(f"{name:24} {value:10.4f}")
    print(msgspec.json.encode({name: round(value, 4) for name, value in found.items()}).decode())


if __name__ == "__main__":
    main()
