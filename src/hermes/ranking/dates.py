"""How old search results are, as far as they say, and whether a question cares."""

import re
from collections.abc import Mapping, Sequence

DAY, MONTH, YEAR = 1.0, 30.4, 365.25
_UNITS = {"min": 0.0, "hou": 0.0, "day": DAY, "wee": 7.0, "mon": MONTH, "yea": YEAR}
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_AGO = r"(\d+)\s+(min|hou|day|wee|mon|yea)\w*\s+ago"
_ISO = r"((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?"
_NAMED = r"(?:(\d{1,2})\.?\s+)?([A-Za-z]{3})[a-z]*\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?((?:19|20)\d\d)"

HALF_LIVES: Mapping[str, float] = {
    **dict.fromkeys(("today", "tonight", "yesterday", "breaking", "live"), 7.0),
    **dict.fromkeys(("news", "recent", "recently", "week"), 60.0),
    **dict.fromkeys(("latest", "newest", "current", "currently", "now", "upcoming"), 365.0),
}
"""Words that ask for what is new, with the days after which a result is worth half."""


def half_life(words: Sequence[str]) -> float | None:
    """The days after which a result is worth half to who asks in these words; None when age is no matter."""
    return min((HALF_LIVES[word] for word in words if word in HALF_LIVES), default=None)


def ages(dates: Sequence[str]) -> list[float | None]:
    """Days by which each is older than the newest of them; None where a date says nothing.

    What was `ago` counts from the newest, so no clock is needed.
    """
    days = [_day(date) for date in dates]
    newest = max((day for day in days if day is not None), default=0.0)
    return [
        _ago(date) if day is None else newest - day
        for date, day in zip(dates, days, strict=True)
    ]  # fmt: skip


def _ago(date: str) -> float | None:
    found = re.search(_AGO, date.lower())
    return int(found[1]) * _UNITS[found[2]] if found else None


def _day(date: str) -> float | None:
    """A day as a number; months are taken as equally long, for age is only compared."""
    if found := re.match(_ISO, date):
        year, month, day = found[1], int(found[2]), found[3]
    elif found := re.search(_NAMED, date):
        month = _MONTHS.find(found[2].lower()) // 3 + 1
        year, day = found[4], found[1] or found[3]
    else:
        return None
    return int(year) * YEAR + month * MONTH + int(day or 15)
