"""How well a sentence carries the answer: measured features, and one learned weight for each."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from hermes.providers.scout.library import EXACT, Library
from hermes.providers.scout.passages import Sentence
from hermes.providers.scout.question import Question, is_generic
from hermes.providers.scout.words import NUMBER_WORDS, STOP, terms

CANDIDATES = 80


class Match(msgspec.Struct):
    """A question laid over a library: per question term its weight and the strength per sentence."""

    weights: list[float]
    strengths: list[dict[int, float]]
    hits: dict[str, dict[int, float]]
    """For a term of the text: the question terms (by number) it answers to, and how surely."""
    total: float
    pages: dict = {}


def match(question: Question, library: Library) -> Match:
    weights: list[float] = []
    strengths: list[dict[int, float]] = []
    hits: dict[str, dict[int, float]] = {}
    for number, stem in enumerate(question.terms):
        akin = library.akin(stem)
        weights.append(library.rarity(akin.items()) * (0.35 if is_generic(stem) else 1.0))
        found: dict[int, float] = {}
        for other, strength in akin.items():
            hits.setdefault(other, {})[number] = strength
            for sentence in library.postings[other]:
                if strength > found.get(sentence, 0.0):
                    found[sentence] = strength
        strengths.append(found)
    return Match(weights, strengths, hits, sum(weights) or 1.0)


_YEAR = re.compile(r"^(?:1[0-9]|20)\d\d(?:s)?$")
_MONTHS = frozenset(
    "january february march april may june july august september october november december spring summer autumn "
    "winter century centuries decade monday tuesday wednesday thursday friday saturday sunday bc ad bce".split()
)
_BECAUSE = frozenset("because due since therefore thus so reason cause caused result owing order to as".split())
_BECAUSE_STRONG = frozenset("because due therefore thus reason caused owing result".split())
_MEANS = frozenset("by through using via with means method process".split())
_NAMING = re.compile(r"\b(?:called|named|known as|termed|referred to as|dubbed|nicknamed|titled|entitled|name)\b|[\"“(]")
_PLACE_LEAD = frozenset("in at near from to on of between into across through towards outside around".split())
_PRONOUN = re.compile(r"^(?:It|He|She|They|This|These|Those|That|His|Her|Their|Its|Such|Both|The latter|The former)\b")
_UNIT = re.compile(r"[%$€£°]|\b(?:percent|per cent|million|billion|km|kilomet|met(?:er|re)s?|miles?|feet|acres?|years?|"
                   r"days?|hours?|minutes?|tons?|kg|degrees?|square)\b")  # fmt: skip
_DEFINES = re.compile(r"\b(?:is|are|was|were|refers? to|means|denotes)\b")


def typed_places(question: Question, sentence: Sentence) -> list[int]:
    """Positions of words that could be the answer by their looks alone, given the kind of question."""
    kind = question.kind
    if kind in ("who", "where", "name"):
        return [at for at, word in enumerate(sentence.words) if _is_new_name(question, sentence, at, word)]
    if kind == "when":
        return [
            at for at, (word, stem) in enumerate(zip(sentence.words, sentence.terms, strict=True))
            if stem not in question.all_terms and (_YEAR.match(word) or word.casefold() in _MONTHS or word[:1].isdigit())
        ]
    if kind == "number":
        return [
            at for at, (word, stem) in enumerate(zip(sentence.words, sentence.terms, strict=True))
            if stem not in question.all_terms and (word[:1].isdigit() or word.casefold() in NUMBER_WORDS)
        ]
    return []


def _is_new_name(question: Question, sentence: Sentence, at: int, word: str) -> bool:
    stem = sentence.terms[at]
    return word[:1].isupper() and stem not in question.all_terms and word.casefold() not in STOP and (at > 0 or stem not in _COMMON_OPENERS)


_COMMON_OPENERS = frozenset(terms("However Although Other Another Many Several Later Today Early Unlike According Despite Following Modern New Since"))


def features(question: Question, library: Library, matched: Match, number: int) -> dict[str, float]:
    """What is measured of one sentence. All values lie near [0, 1] so that weights compare."""
    sentence = library.sentences[number]
    found = {
        **_coverage(question, library, matched, number),
        **_shape(question, library, sentence, number),
    }
    positions = _positions(matched, sentence)
    found |= _closeness(question, matched, sentence, positions)
    found |= _kind_of_answer(question, sentence, matched, positions)
    return found


def _covered(matched: Match, numbers: range) -> list[float]:
    return [max((by.get(n, 0.0) for n in numbers), default=0.0) for by in matched.strengths]


def _coverage(question: Question, library: Library, matched: Match, number: int) -> dict[str, float]:
    sentence, total, weights = library.sentences[number], matched.total, matched.weights
    own = [by.get(number, 0.0) for by in matched.strengths]
    before = _covered(matched, library.neighbours(number, -1))
    after = _covered(matched, library.neighbours(number, +1))
    around = _covered(matched, library.block_range(number))
    heads = library.heads(number)
    head = [max((s for stem in heads if (s := matched.hits.get(stem, _NONE).get(j, 0.0))), default=0.0) for j in range(len(own))]
    length = len(sentence.terms) / library.mean_length
    norm = 2.2 / (1 + 1.2 * (0.4 + 0.6 * length))
    extra_before = sum(w * max(0.0, b - o) for w, o, b in zip(weights, own, before, strict=True)) / total
    best = [max(a, b) for a, b in zip(own, before, strict=True)]
    extra_after = sum(w * max(0.0, b - o) for w, o, b in zip(weights, best, after, strict=True)) / total
    best = [max(a, b) for a, b in zip(best, after, strict=True)]
    extra_block = sum(w * max(0.0, b - o) for w, o, b in zip(weights, best, around, strict=True)) / total
    best = [max(a, b) for a, b in zip(best, around, strict=True)]
    extra_head = sum(w * max(0.0, b - o) for w, o, b in zip(weights, best, head, strict=True)) / total
    names = [j for j, stem in enumerate(question.terms) if stem in question.names]
    numbers = [j for j, stem in enumerate(question.terms) if stem in question.numbers]
    rare = max(range(len(weights)), key=weights.__getitem__, default=0)
    covered = sum(w * o for w, o in zip(weights, own, strict=True)) / total
    n = max(1, len(own))
    return {
        "cover": covered,
        "cover2": covered * covered,
        "exact": sum(w for w, o in zip(weights, own, strict=True) if o == EXACT) / total,
        "flat": sum(own) / n,
        "bm25": norm * covered,
        "before": extra_before if sentence.place else 0.0,
        "before_other": 0.0 if sentence.place else extra_before,
        "both2": (covered + extra_before) ** 2,
        "page": sum(w * min(1.0, math.log(1 + len(by_page)) / 3) for w, by_page in zip(weights, _on_page(library, matched, library.page_of[number]), strict=True)) / total,
        "last": own[-1] if own else 0.0,
        "start": own[0] if own else 0.0,
        "after": extra_after,
        "block": extra_block,
        "head": extra_head,
        "pronoun": extra_before if _PRONOUN.match(sentence.text) else 0.0,
        "names": sum(own[j] for j in names) / len(names) if names else 0.0,
        "names_near": sum(best[j] for j in names) / len(names) if names else 0.0,
        "numbers": sum(own[j] for j in numbers) / len(numbers) if numbers else 0.0,
        "rare": own[rare] if own else 0.0,
        "focus": _focus(question, matched, own),
        "all": 1.0 if own and min(own) > 0 else 0.0,
    }


def _on_page(library: Library, matched: Match, page: int) -> list[list[int]]:
    key = page
    if key not in matched.pages:
        matched.pages[key] = [[n for n in by if library.page_of[n] == page] for by in matched.strengths]
    return matched.pages[key]


_NONE: Mapping[int, float] = {}


def _focus(question: Question, matched: Match, own: list[float]) -> float:
    spots = [own[question.terms.index(stem)] for stem in question.focus if stem in question.terms and not is_generic(stem)]
    return sum(spots) / len(spots) if spots else 0.0


def _positions(matched: Match, sentence: Sentence) -> list[tuple[int, int, float]]:
    """Where the sentence meets the question: (place in the sentence, question term, strength)."""
    return [
        (at, j, strength)
        for at, stem in enumerate(sentence.terms)
        for j, strength in matched.hits.get(stem, _NONE).items()
    ]


def _closeness(question: Question, matched: Match, sentence: Sentence, positions: list[tuple[int, int, float]]) -> dict[str, float]:
    order = {stem: j for j, stem in enumerate(question.terms)}
    where: dict[int, list[int]] = {}
    for at, j, _ in positions:
        where.setdefault(j, []).append(at)
    pairs = near = weight_all = 0.0
    for one, two in question.pairs:
        a, b = order[one], order[two]
        weight = matched.weights[a] + matched.weights[b]
        weight_all += weight
        if a == b or a not in where or b not in where:
            continue
        gap = min(abs(y - x) if y > x else abs(y - x) + 1 for x in where[a] for y in where[b])
        pairs += weight if gap <= 2 else 0.0
        near += weight / (1 + gap / 4)
    window = 0.0
    for start, _, _ in positions:
        inside: dict[int, float] = {}
        for at, j, strength in positions:
            if start <= at < start + 10:
                inside[j] = max(inside.get(j, 0.0), strength)
        window = max(window, sum(matched.weights[j] * s for j, s in inside.items()))
    text = sentence.text.casefold()
    quoted = sum(phrase.casefold() in text for phrase in question.phrases)
    return {
        "pairs": pairs / weight_all if weight_all else 0.0,
        "near": near / weight_all if weight_all else 0.0,
        "window": window / matched.total,
        "quoted": quoted / len(question.phrases) if question.phrases else 0.0,
    }


def _shape(question: Question, library: Library, sentence: Sentence, number: int) -> dict[str, float]:
    new = sum(1 for stem in set(sentence.terms) if stem not in question.all_terms and stem not in STOP)
    size = len(sentence.words)
    at = number - library.start_of[library.page_of[number]]
    return {
        "length": math.log(max(size, 1) / 20),
        "short": 1.0 if size < 7 else 0.0,
        "long": max(0.0, (size - 35) / 35),
        "new": min(new, 12) / 12,
        "first": 1.0 if sentence.place == 0 else 0.0,
        "opening": 1.0 if at == 0 else 0.0,
        "asks": 1.0 if sentence.text.endswith("?") else 0.0,
        "starts_pronoun": 1.0 if _PRONOUN.match(sentence.text) else 0.0,
    }


def _kind_of_answer(question: Question, sentence: Sentence, matched: Match, positions: list[tuple[int, int, float]]) -> dict[str, float]:
    kind = question.kind
    places = typed_places(question, sentence)
    found: dict[str, float] = {}
    if kind in ("who", "when", "where", "number", "name"):
        found[f"has_{kind}"] = 1.0 if places else 0.0
        near = 0.0
        for place in places:
            here = sum({j: matched.weights[j] * s / (1 + abs(at - place) / 6) for at, j, s in positions}.values())
            near = max(near, here)
        found[f"near_{kind}"] = near / matched.total
    folded = {word.casefold() for word in sentence.words}
    if kind == "when":
        found["year"] = 1.0 if any(_YEAR.match(sentence.words[at]) for at in places) else 0.0
    elif kind == "where":
        found["place_lead"] = 1.0 if any(at and sentence.words[at - 1].casefold() in _PLACE_LEAD for at in places) else 0.0
    elif kind == "who":
        found["by"] = 1.0 if any(at and sentence.words[at - 1].casefold() == "by" for at in places) else 0.0
    elif kind == "number":
        found["unit"] = 1.0 if places and _UNIT.search(sentence.text) else 0.0
    elif kind == "why":
        found["because"] = 1.0 if folded & _BECAUSE_STRONG else 0.0
    elif kind == "how":
        found["means"] = 1.0 if folded & _MEANS else 0.0
    if kind in ("name", "what"):
        found["naming_" + kind] = 1.0 if _NAMING.search(sentence.text) else 0.0
    if kind == "define":
        found["defines"] = _defining(question, sentence)
    return found


def _defining(question: Question, sentence: Sentence) -> float:
    """One when the sentence opens with the asked thing and goes on with `is`."""
    opening = set(sentence.terms[: len(question.terms) + 3])
    if not question.terms or not all(stem in opening for stem in question.terms):
        return 0.0
    return 1.0 if _DEFINES.search(" ".join(sentence.words[: len(question.terms) + 8])) else 0.3


def candidates(matched: Match, library: Library) -> list[int]:
    """The sentences worth measuring: those that meet the question, themselves or next to one that does."""
    rough: dict[int, float] = {}
    for weight, by in zip(matched.weights, matched.strengths, strict=True):
        for number, strength in by.items():
            rough[number] = rough.get(number, 0.0) + weight * strength
    spread = dict(rough)
    for number, score in rough.items():
        for other in (number - 1, number + 1):
            if 0 <= other < len(library.sentences) and library.page_of[other] == library.page_of[number]:
                spread[other] = spread.get(other, 0.0) + 0.4 * score
    return sorted(spread, key=lambda number: (-spread[number], number))[:CANDIDATES]
