"""How well a sentence carries the answer: measured features, one learned weight for each.

A question is laid over a library once (`lay`); then the sentences that meet it are measured
(`features`) and scored. Features lie near [0, 1], so that their weights can be compared.
"""

import math
import re
from collections.abc import Mapping, Sequence

import msgspec

from hermes.providers.scout.lexicon import PLACE_LEADS
from hermes.providers.scout.library import EXACT, Library
from hermes.providers.scout.passages import Sentence
from hermes.providers.scout.question import Question, could_answer, is_generic
from hermes.ranking.lexicon import STOP

_CANDIDATES = 60
_GENERIC_WEIGHT = 0.5
_WINDOW = 10
_SURE = 0.5


class Laid(msgspec.Struct, frozen=True):
    """A question laid over a library. Lists run along the question's terms."""

    question: Question
    library: Library
    weights: list[float]
    strengths: list[dict[int, float]]
    """Per term: the sentences it stands in, and how surely."""
    hits: dict[str, dict[int, float]]
    """Per term of the text: the question terms (by number) it may stand for."""
    total: float


class Scored(msgspec.Struct, frozen=True):
    number: int
    score: float
    features: Mapping[str, float]


def lay(question: Question, library: Library) -> Laid:
    """Find every term of the question, or its kin, in the library."""
    weights: list[float] = []
    strengths: list[dict[int, float]] = []
    hits: dict[str, dict[int, float]] = {}
    for number, stem in enumerate(question.terms):
        akin = library.akin(stem)
        weights.append(library.rarity(akin.items()) * (_GENERIC_WEIGHT if is_generic(stem) else 1.0))
        found: dict[int, float] = {}
        for other, strength in akin.items():
            hits.setdefault(other, {})[number] = strength
            for sentence in library.postings[other]:
                found[sentence] = max(strength, found.get(sentence, 0.0))
        strengths.append(found)
    return Laid(question, library, weights, strengths, hits, sum(weights) or 1.0)


def candidates(laid: Laid) -> list[int]:
    """The sentences worth measuring: those that meet the question best, and their neighbours.

    A question for the meaning of one word may meet hundreds alike; then those it opens come too.
    """
    rough: dict[int, float] = {}
    for weight, found in zip(laid.weights, laid.strengths, strict=True):
        for number, strength in found.items():
            rough[number] = rough.get(number, 0.0) + weight * strength
    spread = dict(rough)
    for number, score in rough.items():
        for step in (-1, 1):
            other = laid.library.neighbour(number, step)
            if other is not None:
                spread[other] = spread.get(other, 0.0) + 0.4 * score
    order = sorted(spread, key=lambda number: (-spread[number], number))
    if laid.question.kind != "define":
        return order[:_CANDIDATES]
    sentences, question = laid.library.sentences, laid.question
    defining = [number for number in order[_CANDIDATES:] if _defining(question, sentences[number]) == 1]
    return order[:_CANDIDATES] + defining[:_CANDIDATES]


def rank(laid: Laid, weights: Mapping[str, float]) -> list[Scored]:
    """The candidates, best first; ties keep the order of the pages."""
    found: list[Scored] = []
    for number in candidates(laid):
        measured = features(laid, number)
        score = sum(weights.get(name, 0.0) * value for name, value in measured.items())
        found.append(Scored(number, score, measured))
    return sorted(found, key=lambda scored: (-scored.score, scored.number))


def features(laid: Laid, number: int) -> dict[str, float]:
    """What is measured of one sentence."""
    sentence = laid.library.sentences[number]
    met = [
        (at, term, strength)
        for at, stem in enumerate(sentence.terms)
        if stem in laid.hits
        for term, strength in laid.hits[stem].items()
    ]
    return {
        **_coverage(laid, number),
        **_closeness(laid, met),
        **_shape(laid, number),
        **_fit(laid, sentence, met),
    }


_PRONOUN = re.compile(r"(?:It|He|She|They|This|These|Those|That|His|Her|Their|Its|Such|Both)\b")


def _coverage(laid: Laid, number: int) -> dict[str, float]:
    """The share of the question found in the sentence, and what its surroundings add to that."""
    sentence, question = laid.library.sentences[number], laid.question
    own = [found.get(number, 0.0) for found in laid.strengths]
    cover = _share(laid, own)
    seen, before = _widened(laid, own, _standing(laid, laid.library.neighbour(number, -1)))
    seen, after = _widened(laid, seen, _standing(laid, laid.library.neighbour(number, 1)))
    seen, block = _widened(laid, seen, _in_block(laid, number))
    names = [at for at, stem in enumerate(question.terms) if stem in question.names]
    around, head = _widened(laid, seen, _in_headings(laid, number))
    rarest = max(range(len(own)), key=laid.weights.__getitem__, default=None)
    return {
        "cover": cover,
        "exact": _share(laid, [float(strength == EXACT) for strength in own]),
        "flat": _mean(own),
        "both2": (cover + before) ** 2,
        "before": before if sentence.place else 0.0,
        "before_other": 0.0 if sentence.place else before,
        "pronoun": before if _PRONOUN.match(sentence.text) else 0.0,
        "after": after,
        "block": block,
        "head": head,
        "names": _mean([own[at] for at in names]),
        "names_near": _mean([seen[at] for at in names]),
        "nameless": float(any(around[at] < _SURE for at in names)),
        "rare": 0.0 if rarest is None else own[rarest],
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(laid: Laid, strengths: Sequence[float]) -> float:
    return sum(w * s for w, s in zip(laid.weights, strengths, strict=True)) / laid.total


def _widened(laid: Laid, seen: Sequence[float], more: Sequence[float]) -> tuple[list[float], float]:
    """Both together, and the share of the question that `more` adds to what was `seen`."""
    union = list(map(max, seen, more))
    return union, _share(laid, union) - _share(laid, seen)


def _standing(laid: Laid, number: int | None) -> list[float]:
    return [0.0 if number is None else found.get(number, 0.0) for found in laid.strengths]


def _in_block(laid: Laid, number: int) -> list[float]:
    block = laid.library.blocks[number]
    return [max(found.get(other, 0.0) for other in block) for found in laid.strengths]


def _in_headings(laid: Laid, number: int) -> list[float]:
    strengths = [0.0] * len(laid.weights)
    for stem in laid.library.headings(number):
        for term, strength in laid.hits.get(stem, _NOTHING).items():
            strengths[term] = max(strengths[term], strength)
    return strengths


_NOTHING: Mapping[int, float] = {}
Met = Sequence[tuple[int, int, float]]


def _closeness(laid: Laid, met: Met) -> dict[str, float]:
    """Whether the question's neighbours are neighbours here too, and how much of it one window holds."""
    where: dict[int, list[int]] = {}
    for at, term, _ in met:
        where.setdefault(term, []).append(at)
    kept = whole = 0.0
    for one, two in laid.question.pairs:
        weight = laid.weights[one] + laid.weights[two]
        whole += weight
        if any(-2 < x - y < 3 for x in where.get(two, ()) for y in where.get(one, ())):
            kept += weight
    return {"pairs": kept / whole if whole else 0.0, "window": _densest(laid, met) / laid.total}


def _densest(laid: Laid, met: Met) -> float:
    best = 0.0
    for index, (start, _, _) in enumerate(met):
        inside: dict[int, float] = {}
        for at, term, strength in met[index:]:
            if at >= start + _WINDOW:
                break
            inside[term] = max(inside.get(term, 0.0), strength)
        best = max(best, sum(laid.weights[term] * strength for term, strength in inside.items()))
    return best


def _shape(laid: Laid, number: int) -> dict[str, float]:
    sentence, question = laid.library.sentences[number], laid.question
    new = {stem for stem in sentence.terms if stem not in question.said and stem not in STOP}
    size = len(sentence.words)
    folded = sentence.text.casefold()
    return {
        "length": math.log(size / 20),
        "long": max(0.0, (size - 35) / 35),
        "fragment": float(size < 5),
        "new": min(len(new), 12) / 12,
        "first": float(sentence.place == 0),
        "opening": float(laid.library.neighbour(number, -1) is None),
        "asks": float(sentence.text.endswith("?")),
        "quoted": _mean([float(phrase in folded) for phrase in question.phrases]),
    }


# As text, because a question needs one of them, and `re` keeps what it has compiled.
_YEAR = r"(?:1[0-9]|20)\d\ds?$"
_UNIT = (
    r"[%$€£°]|\b(?:percent|per cent|[mb]illion|km|kilomet\w+|met(?:er|re)s?|miles?|feet|acres?|years?|days?"
    r"|hours?|minutes?|tons?|kg|degrees?|square)\b"
)
_NAMES = r"\b(?:called|named?|known as|termed|referred to as|dubbed|nicknamed|titled|entitled)\b|[\"“(]"
_BECAUSE = r"(?i)\b(?:because|due|therefore|thus|reason|caused|owing|result)\b"
_MEANS = r"(?i)\b(?:by|through|using|via|with|means|method|process)\b"
_DEFINES = r"\b(?:is|are|was|were) (?:an?|the|one|any)\b|\brefers? to\b|\bmeans\b|\bdenotes\b"


def _fit(laid: Laid, sentence: Sentence, met: Met) -> dict[str, float]:
    """Whether the sentence holds something of the kind that the question asks for."""
    question, words = laid.question, sentence.words
    places = could_answer(question, sentence.words, sentence.terms)
    leads = {words[at - 1].casefold() for at in places if at}
    match question.kind:
        case "who":
            return {"has_who": float(bool(places)), "by": float("by" in leads)}
        case "where":
            return {"has_where": float(bool(places)), "place_lead": float(not leads.isdisjoint(PLACE_LEADS))}
        case "when":
            year = any(re.match(_YEAR, words[at]) for at in places)
            return {
                "has_when": float(bool(places)),
                "near_when": _near(laid, places, met),
                "year": float(year),
            }
        case "number":
            unit = bool(places and re.search(_UNIT, sentence.text))
            return {
                "has_number": float(bool(places)),
                "near_number": _near(laid, places, met),
                "unit": float(unit),
            }
        case "why":
            return {"because": float(bool(re.search(_BECAUSE, sentence.text)))}
        case "how":
            return {
                "means": float(bool(re.search(_MEANS, sentence.text))),
                "code": float(bool(sentence.code)),
            }
        case "name":
            return {"naming": float(bool(re.search(_NAMES, sentence.text)))}
        case "define":
            return {"defines": _defining(question, sentence)}
    return {}


def _near(laid: Laid, places: Sequence[int], met: Met) -> float:
    """How closely the question's terms stand round the best of these places."""
    best = 0.0
    for place in places:
        near: dict[int, float] = {}
        for at, term, strength in met:
            near[term] = max(near.get(term, 0.0), laid.weights[term] * strength / (1 + abs(at - place) / 6))
        best = max(best, sum(near.values()))
    return best / laid.total


def _defining(question: Question, sentence: Sentence) -> float:
    """Whether the sentence opens with the thing asked about and goes on with `is a`."""
    thing = {stem for stem in question.terms if not is_generic(stem)}
    reach = len(thing) + 3
    if not thing or not thing <= set(sentence.terms[:reach]):
        return 0.0
    opens = not thing.isdisjoint(sentence.terms[:2])
    return 1.0 if opens and re.search(_DEFINES, " ".join(sentence.words[: reach + 5])) else 0.3
