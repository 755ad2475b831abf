"""The answer: the sentences that carry it, each with its citation mark."""

from collections.abc import Sequence

import msgspec

from hermes.providers.scout.conversation import Source
from hermes.providers.scout.library import library
from hermes.providers.scout.passages import Sentence
from hermes.providers.scout.question import analyse
from hermes.providers.scout.rank import Scored, lay, rank
from hermes.providers.scout.weights import DOUBTFUL, DOUBTFUL_NAMELESS, WEIGHTS

MOST_SENTENCES = 3
MOST_WORDS = 110
_FAR_BEHIND = 4.0
_ALIKE = 0.8

DO_NOT_ANSWER = "The sources I found do not answer this."
_CLOSEST = f"{DO_NOT_ANSWER}\n\nClosest: "


class Mark(msgspec.Struct, frozen=True):
    """A citation mark in the text, from `start` to `end`, and the source it points to."""

    source: Source
    start: int
    end: int


class Reply(msgspec.Struct, frozen=True):
    """A reply in the pieces it is streamed in; `doubtful` when the sources do not seem to answer."""

    pieces: tuple[str, ...]
    marks: tuple[Mark, ...] = ()
    doubtful: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def answer(question: str, sources: Sequence[Source]) -> Reply:
    """The best sentences of the sources, at most three and 110 words in all, most likely first."""
    sources = sorted(sources, key=lambda source: source.url)  # one set of pages is one library, in any order
    shelf = library(tuple((source.title, source.text) for source in sources))
    asked = analyse(question)
    ranked = rank(lay(asked, shelf), WEIGHTS)
    doubtful = not ranked or _is_doubtful(ranked[0])
    room = MOST_WORDS - (len(_CLOSEST.split()) if doubtful else 0)
    steps = shelf.blocks[ranked[0].number] if asked.kind == "how" and not doubtful else range(0)
    chosen = _choose(_in_order(ranked, steps), shelf.sentences, room)
    quotes = [(shelf.sentences[number], sources[shelf.page_of[number]]) for number in chosen]
    return compose(quotes, doubtful=doubtful)


def _is_doubtful(best: Scored) -> bool:
    return best.score < (DOUBTFUL_NAMELESS if best.features["nameless"] else DOUBTFUL)


def _in_order(ranked: Sequence[Scored], steps: range) -> list[int]:
    """The sentences worth saying, most likely first.

    How a thing is done is told in steps: the rest of the best sentence's paragraph, when it is
    given as `steps`, comes before what stands elsewhere.
    """
    worth = [scored.number for scored in ranked if scored.score >= ranked[0].score - _FAR_BEHIND]
    return list(dict.fromkeys([*worth[:1], *(number for number in steps if number > worth[0]), *worth[1:]]))


def _choose(numbers: Sequence[int], sentences: Sequence[Sentence], room: int) -> list[int]:
    """The first sentences that fit: a mark takes one word of the room, and nothing is said twice."""
    chosen: list[int] = []
    for number in numbers:
        sentence = sentences[number]
        size = len(sentence.text.split()) + 1
        if len(chosen) == MOST_SENTENCES:
            break
        if not chosen or (size <= room and not any(_alike(sentence, sentences[other]) for other in chosen)):
            chosen.append(number)
            room -= size
    return chosen


def _alike(one: Sentence, other: Sentence) -> bool:
    mine, theirs = set(one.terms), set(other.terms)
    return len(mine & theirs) >= _ALIKE * len(mine | theirs)


def compose(quotes: Sequence[tuple[Sentence, Source]], *, doubtful: bool) -> Reply:
    """Sentences and their marks set into one text."""
    pieces: list[str] = []
    marks: list[Mark] = []
    numbers: dict[str, int] = {}
    if doubtful:
        pieces.append(_CLOSEST if quotes else DO_NOT_ANSWER)
    for index, (sentence, source) in enumerate(quotes):
        mark = f"[{numbers.setdefault(source.url, len(numbers) + 1)}]"
        quote = _cut(sentence.text)
        end = sum(map(len, pieces)) + len(quote) + 1 + len(mark)
        marks.append(Mark(source, end - len(mark), end))
        code = "" if doubtful else sentence.code
        pieces.append(f"{quote} {mark}{_after(quote, code, last=index == len(quotes) - 1)}")
    return Reply(tuple(pieces), tuple(marks), doubtful)


def _cut(text: str) -> str:
    """A monstrous sentence is cut; every other stays verbatim."""
    words = text.split()
    return text if len(words) < MOST_WORDS else " ".join(words[: MOST_WORDS - 2]) + " …"


def _after(quote: str, code: str, *, last: bool) -> str:
    block = f"\n\n```\n{code}\n```" if code else ""
    if last:
        return block
    ended = quote.endswith((".", "!", "?", "…", '"', "”", ")", "。"))
    return f"{block}\n\n" if block else " " if ended else "\n"
