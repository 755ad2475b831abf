"""What a search is narrowed by: judged, fitted to a backend, and said when it is not heeded."""

import datetime as dt

import pytest

from hermes.errors import UsageError
from hermes.protocols import Query
from hermes.tools.web.filters import FILTERS, ask, fit, judged
from unit.web.fakes import Fake


def today():
    return dt.date(2026, 11, 15)


@pytest.mark.parametrize(
    ("name", "value", "judged_as"),
    [
        ("freshness", " Week ", "week"),
        ("topic", "NEWS", "news"),
        ("after", "2026-01-05", "2026-01-05"),
        ("include_domains", "https://A.example/x, *.b.example", ("a.example", "b.example")),
        ("include_domains", ["a.example", "A.EXAMPLE"], ("a.example",)),
        ("exclude_domains", ("c.example:8080",), ("c.example",)),
        ("language", "pt-BR", "pt"),
        ("language", "DE", "de"),
        ("region", "pt-BR", "BR"),
        ("region", "us", "US"),
    ],
)
def test_a_filter_is_read_as_it_is_meant(name, value, judged_as):
    assert getattr(judged("q", 5, {name: value}), name) == judged_as


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("freshness", "decade"),
        ("topic", 5),
        ("after", "yesterday"),
        ("before", "2026-13-01"),
        ("include_domains", 7),
        ("include_domains", ["", "/"]),
        ("language", "german"),
        ("region", "1"),
        ("colour", "red"),
    ],
)
def test_a_filter_that_makes_no_sense_is_named(name, value):
    with pytest.raises(UsageError, match=name):
        judged("q", 5, {name: value})


def test_a_range_runs_forward():
    with pytest.raises(UsageError, match="later than"):
        judged("q", 5, {"after": "2026-02-01", "before": "2026-01-01"})


@pytest.mark.parametrize("empty", [None, "", [], ()])
def test_an_empty_filter_is_none(empty):
    assert judged("q", 5, dict.fromkeys(FILTERS, empty)) == Query(text="q", limit=5)


@pytest.mark.parametrize("name", FILTERS)
def test_any_filter_alone_is_taken_from_who_does_not_know_it(name):
    value = ("a.example",) if name.endswith("domains") else "2026-11-10" if name == "after" else "day"
    fitted, notes = fit(Query(text="q", **{name: value}), Fake("a"), today)
    assert fitted == Query(text="q")
    assert notes


def test_an_age_becomes_a_date_for_who_knows_only_dates():
    fitted, notes = fit(Query(text="q", freshness="week"), Fake("a", filters={"after"}), today)
    assert (fitted.freshness, fitted.after, notes) == (None, "2026-11-08", ())
    fitted, _ = fit(
        Query(text="q", freshness="week", after="2026-11-12"), Fake("a", filters={"after"}), today
    )
    assert fitted.after == "2026-11-12"


@pytest.mark.parametrize(
    ("after", "age"),
    [("2026-11-14", "day"), ("2026-11-10", "week"), ("2026-10-20", "month"), ("2026-01-01", "year")],
)
def test_a_date_becomes_the_next_wider_age_and_that_is_said(after, age):
    fitted, notes = fit(Query(text="q", after=after), Fake("a", filters={"freshness"}), today)
    assert (fitted.freshness, fitted.after) == (age, "")
    assert notes == (f"`a` knows no dates: it searched the last {age}",)


def test_a_date_beyond_every_age_is_not_heeded():
    fitted, notes = fit(Query(text="q", after="2020-01-01"), Fake("a", filters={"freshness"}), today)
    assert (fitted.freshness, fitted.after) == (None, "")
    assert "`after`" in notes[0]


async def test_what_is_not_heeded_is_in_the_notes_of_the_result():
    backend = Fake("a")
    found = await ask(
        backend, Query(text="q", language="de", topic="news", include_domains=("x.example",)), today
    )
    assert backend.asked == [Query(text="q")]
    assert found.notes[0] == "`a` cannot narrow a search by `language` and `topic`, which was not heeded"
    assert "cannot search by domain" in found.notes[1]
