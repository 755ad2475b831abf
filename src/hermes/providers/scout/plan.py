"""What to look for and what to read: queries from a question, pages from search results."""

import re
from collections.abc import Sequence

from hermes.protocols import SearchRow
from hermes.providers.scout.lexicon import DEGREE
from hermes.providers.scout.question import analyse, is_generic
from hermes.ranking.lexical import order, scores
from hermes.ranking.lexicon import QUESTION_WORDS, STOP
from hermes.ranking.words import surface, term, terms

MOST_PAGES = 4
_MOST_WORDS = 14
_LONG_QUESTION = 400
_WORTH = 0.2
"""The share of the best page's score from which a page is read, too."""

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|day|evening|afternoon)|thanks?|thank you|help|test)?\b\W*"
    r"(?:there|hermes|scout)?\W*",
    re.IGNORECASE,
)
_PRONOUN = r"(?i)\b(?:(it|he|she|they|him|them|this|that|those|these)|(its|his|her|their))\b(?!['\u2019]s)"
_ELLIPSIS = r"(?i)\s*(?:and|but|or|also|what about|how about|why|when|where|who)\b"
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]")


def resolve(text: str, earlier: Sequence[str]) -> str:
    """The question to answer: a follow-up gets the subject of the turns before it put in its place."""
    before = ""
    for turn in (*earlier, text):
        asked = _asked(turn)
        before = _with_subject(asked, before) if before else asked
    return before if surface(before) and not _GREETING.fullmatch(before) else "What is Hermes?"


def _asked(text: str) -> str:
    """The question itself when a document is pasted after or before it."""
    text = text.strip()
    if len(text) <= _LONG_QUESTION:
        return text
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n|\n", text) if part.strip()]
    ends = [part for part in (paragraphs[0], paragraphs[-1]) if len(part) <= _LONG_QUESTION]
    return next((part for part in ends if "?" in part), ends[0] if ends else text[:_LONG_QUESTION])


def _with_subject(text: str, before: str) -> str:
    question = analyse(text)
    known = [stem for stem in question.terms if stem not in STOP]
    if question.names or len(known) > 4:
        return text
    subject = _subject(before)
    pronoun = re.search(_PRONOUN, text)
    if subject and pronoun:
        owner = "'s" if pronoun.group(2) else ""
        return f"{text[: pronoun.start()]}{subject}{owner}{text[pronoun.end() :]}"
    if subject and (not known or (len(known) <= 2 and re.match(_ELLIPSIS, text))):
        return f"{text.rstrip('?!. ')} {subject}?"
    return text


def _subject(text: str) -> str:
    """What a question is about: its names, or else its plain words."""
    words = surface(text)
    names = analyse(text).names
    about = [word for word in words if term(word) in names and word[:1].isupper()]
    return " ".join(about or [word for word in _keywords(text) if word.casefold() not in DEGREE][:4])


def _keywords(text: str) -> list[str]:
    words = [word for word in surface(text) if word.casefold() not in STOP | QUESTION_WORDS]
    telling = [word for word in words if not is_generic(term(word))]
    return list(dict.fromkeys(telling or words or surface(text)))


def queries(question: str) -> tuple[str, ...]:
    """Searches to try one after another: the keywords, then fewer words, then the question as asked."""
    phrases = [f'"{phrase}"' for phrase in _QUOTED.findall(question)]
    loose = _keywords(_QUOTED.sub(" ", question)) if phrases else _keywords(question)
    names = analyse(question).names
    by_weight = sorted(loose, key=lambda word: (term(word) not in names, -len(word)))
    fewer = [word for word in loose if word in by_weight[:3]]
    whole = " ".join(question.split()).rstrip("?!. ")
    tried = (" ".join([*phrases, *loose[:_MOST_WORDS]]), " ".join(fewer), whole[:_LONG_QUESTION])
    return tuple(dict.fromkeys(query for query in tried if query)) or ("Hermes",)


def choose(question: str, rows: Sequence[SearchRow], read: Sequence[str]) -> list[str]:
    """The pages worth reading, best first: the backend's order, corrected by what the rows say."""
    values = scores(question, rows)
    best = [at for at in order(values) if rows[at].url not in read]
    most = values[best[0]] if best else 0.0
    least = min(most, _WORTH * most)
    return [rows[at].url for at in best if values[at] >= least][:MOST_PAGES]


def promise(question: str, row: SearchRow) -> float:
    """The share of the question that a result's title and description speak of; names count double."""
    asked = analyse(question)
    said = set(terms(f"{row.title} {row.description}"))
    weights = {stem: 2.0 if stem in asked.names else 1.0 for stem in asked.terms if not is_generic(stem)}
    return sum(weight for stem, weight in weights.items() if stem in said) / (sum(weights.values()) or 1.0)


def is_weak(question: str, rows: Sequence[SearchRow]) -> bool:
    """Whether the results hardly speak of the question."""
    return max((promise(question, row) for row in rows), default=0.0) < 0.3
