"""A vendor's JSON taken apart without trusting it: what is missing or of another kind is empty."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, TypedDict

import msgspec

from hermes.protocols import Deadlines, HttpRequest, Query, SearchRow

SEARCHES_WITHIN = Deadlines(connect=5, first_byte=30, idle=30, total=60)

_NUMBERS = (int, float)
_MOST_BITS = 1000
"""Of a whole number that can be one with a point, too."""


def at(value: Any, *path: str) -> Any:
    """What lies at a path of keys; None when it ends early."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; anything else in it is passed over, and what is no list is an empty one."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A text without surrounding space; a number is written out, anything else is empty."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, _NUMBERS) and not isinstance(value, bool) else ""


def texts(value: Any) -> list[str]:
    """The texts of a list that say something; a single text is a list of one."""
    given = value if isinstance(value, list) else [value]
    return [said for said in map(text, given) if said]


def prose(value: Any) -> str:
    """A text, or those of a list with a space between them."""
    if not isinstance(value, list):
        return text(value)
    try:
        return " ".join(value).strip()
    except TypeError:  # something else is among them
        return " ".join(texts(value))


def first_text(item: Mapping[str, Any], *keys: str) -> str:
    """The first of the keys that says something."""
    return next(filter(None, (text(item.get(key)) for key in keys)), "")


def number(value: Any) -> float | None:
    """A number, or None."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole and value.bit_length() <= _MOST_BITS else None


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Under which names a vendor's rows hold what a `SearchRow` has.

    `others` are names to look under where the first one says nothing. `at` is the path to the rows of a
    reply and `beside` what else of it is read, where that is the same for every search.
    """

    title: str = "title"
    url: str = "url"
    description: str = "description"
    date: str = "date"
    score: str = "score"
    others: Mapping[str, Sequence[str]] = {}
    at: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def rows(self, value: Any) -> tuple[SearchRow, ...]:
        """The rows of a list, in its order; what is no list has none."""
        if not isinstance(value, list) or not value or not isinstance(value[0], msgspec.Struct):
            return self._untyped_rows(items(value))
        try:
            found = [
                SearchRow(
                    row.title.strip(),
                    row.url.strip(),
                    (" ".join(said) if isinstance(said := row.description, list) else said).strip(),
                    row.date.strip(),
                    row.score,
                )
                for row in value
            ]
        except AttributeError:  # something is missing in one
            found = list(map(_tolerant_row, value))
        if not self.others:
            return tuple(found)
        return tuple(map(self._completed, found, (partial(getattr, row) for row in value)))

    def _untyped_rows(self, given: Sequence[Mapping[str, Any]]) -> tuple[SearchRow, ...]:
        title, url, description, date, score = self.title, self.url, self.description, self.date, self.score
        found = [
            SearchRow(
                text(item.get(title)),
                text(item.get(url)),
                prose(item.get(description)),
                text(item.get(date)),
                number(item.get(score)),
            )
            for item in given
        ]
        if not self.others:
            return tuple(found)
        return tuple([self._completed(row, item.get) for row, item in zip(found, given, strict=True)])

    def _completed(self, row: SearchRow, look: Callable[[str], Any]) -> SearchRow:
        missing = [column for column in self.others if not getattr(row, column)]
        more = {
            column: next(filter(None, (text(look(name)) for name in self.others[column])), "")
            for column in missing
        }
        return msgspec.structs.replace(row, **more) if more else row

    def reply(self) -> Any:
        """The type of a reply with such rows at their path; what is not read of it has no place there."""
        names = {"title": self.title, "url": self.url, "date": self.date, "description": self.description}
        fields: list[tuple[str, Any, Any]] = [(name, str | None, None) for name in ("title", "url", "date")]
        fields += [("description", str | list[str] | None, None), ("score", float | None, None)]
        fields += [(name, str | None, None) for other in self.others.values() for name in other]
        row = msgspec.defstruct("Row", fields, rename={**names, "score": self.score}, frozen=True, gc=False)
        reply: Any = list[row]  # type: ignore[valid-type]
        for depth, key in enumerate(reversed(self.at), start=1):
            beside = dict.fromkeys(self.beside, Any) if depth == len(self.at) else {}
            reply = _object({key: reply, **beside})
        return reply


def _tolerant_row(row: Any) -> SearchRow:
    return SearchRow(text(row.title), text(row.url), prose(row.description), text(row.date), row.score)


def _object(parts: dict[str, Any]) -> Any:
    """The type of a JSON object with these parts, none of which must be there."""
    return TypedDict("Reply", parts, total=False)  # type: ignore[operator]


def json_request(
    url: str, headers: Mapping[str, str], payload: Mapping[str, Any], *, method: str = "POST"
) -> HttpRequest:
    """A request that carries JSON; entries that are empty are left out, unless they are False."""
    body = {key: value for key, value in payload.items() if value or value is False}
    return HttpRequest(
        method,
        url,
        {"Content-Type": "application/json", "Accept": "application/json", **headers},
        msgspec.json.encode(body),
        SEARCHES_WITHIN,
    )


def cut(words: str, most: int) -> str:
    """As many whole words as a vendor takes letters of; a longer query is refused by some."""
    if len(words) <= most:
        return words
    return words[: most + 1].rpartition(" ")[0].rstrip() or words[:most]


def cut_note(title: str, query: Query, most: int) -> tuple[str, ...]:
    """What is to be said of a query that is longer than a vendor takes."""
    if len(query.text) <= most:
        return ()
    return (f"{title} takes {most} letters: the query was cut",)


def with_operators(query: Query) -> str:
    """The words with domains as the operators `site:` and `-site:`, for engines that know these."""
    wanted = " OR ".join(f"site:{domain}" for domain in query.include_domains)
    parts = [query.text, f"({wanted})" if len(query.include_domains) > 1 else wanted]
    parts += [f"-site:{domain}" for domain in query.exclude_domains]
    return " ".join(part for part in parts if part)


def us_date(day: str) -> str:
    """A day (YYYY-MM-DD) with its month first, as some vendors want it."""
    year, month, date = day.split("-")
    return f"{month}/{date}/{year}"


def google_range(query: Query) -> str | None:
    """The age of results as Google's `tbs` says it; exact days win over `freshness`."""
    if not query.after and not query.before:
        return f"qdr:{query.freshness[0]}" if query.freshness else None
    first = [f"cd_min:{us_date(query.after)}"] if query.after else []
    last = [f"cd_max:{us_date(query.before)}"] if query.before else []
    return ",".join(["cdr:1", *first, *last])


def unknown_topic(title: str, query: Query) -> tuple[str, ...]:
    """What is to be said by who knows no topic but news."""
    if query.topic in (None, "general", "news"):
        return ()
    return (f"{title} knows no `topic` but news: {query.topic} was not heeded",)
