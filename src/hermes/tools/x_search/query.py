"""What is asked of X: the arguments as they were given, judged, and as the fields of a request. Pure."""

import re
from datetime import date
from typing import Any

import msgspec

from hermes.errors import UsageError

MOST_HANDLES = 10
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a search; what is blank or null was not given."""

    query: str
    allowed_x_handles: list[str] | None = None
    excluded_x_handles: list[str] | None = None
    from_date: str | None = None
    to_date: str | None = None
    enable_image_understanding: bool = False
    enable_video_understanding: bool = False
    output_schema: dict[str, Any] | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool = False


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search that can be sent."""

    text: str
    filters: dict[str, Any]
    """What narrows the search, in the order in which a result names it."""
    senses: tuple[str, ...]
    output_schema: dict[str, Any] | None
    instructions: str
    previous_response_id: str
    store: bool

    def fields(self) -> dict[str, Any]:
        """The request, but for who answers it."""
        tool = {"type": "x_search", **self.filters, **dict.fromkeys(self.senses, True)}
        fields: dict[str, Any] = {
            "input": [{"role": "user", "content": self.text}],
            "tools": [tool],
            "store": self.store,
        }
        if self.output_schema is not None:
            fields["text"] = {"format": _output_format(self.output_schema)}
        if self.instructions:
            fields["instructions"] = self.instructions
        if self.previous_response_id:
            fields["previous_response_id"] = self.previous_response_id
        return fields


def words_of(given: Given) -> str:
    """The query without space around it; raises `UsageError` when nothing is left."""
    text = given.query.strip()
    if not text:
        raise UsageError("`query` is empty: say what to look for on X")
    return text


def judge(given: Given, today: date) -> Query:
    """The arguments as a search that can be sent; raises `UsageError` that names the one at fault.

    An answer that goes on from another is always stored, and takes no instructions of its own.
    """
    previous = (given.previous_response_id or "").strip()
    instructions = (given.instructions or "").strip()
    senses = ("enable_image_understanding", "enable_video_understanding")
    return Query(
        text=words_of(given),
        filters=_handles(given) | _dates(given, today),
        senses=tuple(sense for sense in senses if getattr(given, sense)),
        output_schema=_schema(given.output_schema),
        instructions="" if previous else instructions,
        previous_response_id=previous,
        store=given.store or bool(previous),
    )


def _handles(given: Given) -> dict[str, Any]:
    lists = {
        "allowed_x_handles": _plain(given.allowed_x_handles),
        "excluded_x_handles": _plain(given.excluded_x_handles),
    }
    for name, handles in lists.items():
        if len(handles) > MOST_HANDLES:
            raise UsageError(f"`{name}` takes at most {MOST_HANDLES} handles, not {len(handles)}")
    if all(lists.values()):
        raise UsageError("`allowed_x_handles` and `excluded_x_handles` cannot be used together")
    return {name: handles for name, handles in lists.items() if handles}


def _plain(handles: list[str] | str | None) -> list[str]:
    """The handles without `@`; one that stands alone is a list of one."""
    listed = [handles] if isinstance(handles, str) else handles or []
    return [bare for handle in listed if (bare := handle.strip().lstrip("@").strip())]


def _dates(given: Given, today: date) -> dict[str, Any]:
    start, end = _date("from_date", given.from_date), _date("to_date", given.to_date)
    if start and end and start > end:
        raise UsageError(f"`from_date` {start} is after `to_date` {end}")
    if start and start > today:
        raise UsageError(f"`from_date` {start} is in the future: today is {today} in UTC")
    dates = {"from_date": start, "to_date": end}
    return {name: day.isoformat() for name, day in dates.items() if day}


def _date(name: str, text: str | None) -> date | None:
    written = (text or "").strip()
    if not written:
        return None
    found = _DATE.fullmatch(written)
    try:
        return date(*map(int, found.groups())) if found else _no_date(name, written)
    except ValueError:
        return _no_date(name, written)


def _no_date(name: str, written: str) -> date:
    raise UsageError(f"`{name}` must be a date as YYYY-MM-DD, not `{written[:40]}`")


def _schema(schema: object) -> dict[str, Any] | None:
    if schema is None or isinstance(schema, dict):
        return schema
    raise UsageError("`output_schema` must be a JSON object")


def _output_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}
