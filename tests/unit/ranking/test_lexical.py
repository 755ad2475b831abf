"""Search results scored by what they show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.protocols import SearchRow
from hermes.ranking.lexical import evidence, order, scores


def row(title="", url="https://a.example/", description="", date=""):
    return SearchRow(title, url, description, date)


def best(query, *rows, **more):
    return rows[order(scores(query, rows, **more))[0]]


FILLER = row(
    "Soup", "https://soup.example/", "A warm meal of vegetables and bread for cold evenings at home."
)


def test_rows_that_say_nothing_of_the_query_stay_in_order():
    rows = [row(f"Page {n}", f"https://{n}.example/") for n in range(5)]
    assert order(scores("harbour bridge", rows)) == [0, 1, 2, 3, 4]


def test_a_phrase_beats_its_words_apart():
    apart = row(description="The bridge over the river is older than the mill, the inn and the harbour.")
    whole = row(
        description="The harbour bridge is older than the mill, the inn and the church over the river."
    )
    assert best("harbour bridge", apart, FILLER, whole) is whole


def test_a_title_of_everything_is_worth_less_than_one_of_the_thing():
    wide = row("Cars, boats, bridges, harbour, tunnels, roads, rails and much more", description="All of it.")
    narrow = row("Harbour bridge", description="All of it.")
    assert best("harbour bridge", wide, FILLER, narrow) is narrow


@pytest.mark.parametrize(
    "host", ["www.acmeferries.example", "acme-ferries.example", "help.acmeferries.example:8080"]
)
def test_a_host_that_spells_the_name_speaks_for_the_row(host):
    other = row("Timetable", "https://guide.example/timetable", "Sailings in summer.")
    own = row("Timetable", f"https://{host}/timetable", "Sailings in summer.")
    assert best("acme ferries timetable", other, FILLER, own) is own


@pytest.mark.parametrize("query", ["latest Acme release", "Acme release today", "Acme release news"])
def test_new_results_come_first_where_the_query_asks_for_them(query):
    old = row("Acme release", "https://acme.example/1", "The Acme release is out.", "2020-01-02")
    new = row("Acme release", "https://acme.example/9", "The Acme release is out.", "2026-10-02")
    assert best(query, old, new, FILLER) is new


def test_age_is_no_matter_where_nobody_asks_for_it():
    old = row("Acme release", "https://acme.example/1", "The Acme release is out.", "2020-01-02")
    new = row("Acme release", "https://acme.example/9", "The Acme release is out.", "2026-10-02")
    assert best("Acme release", old, new, FILLER) is old
    assert best("Acme release", old, new, FILLER, half_life_days=30.0) is new


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("2026-01", "2026-03-01T10:00:00Z"),
        ("3 Jan 2026", "March 4th, 2026"),
        ("Jan 3, 2026", "2026-02-01"),
        ("3 weeks ago", "2 hours ago"),
        ("2 years ago", "5 days ago"),
        ("2024-05-05", "yesterday or so"),
    ],
)
def test_dates_are_understood_in_the_forms_that_backends_give(older, newer):
    rows = [row("Acme news", date=older), row("Acme news", date=newer)]
    one, two = (each["fresh"] for each in evidence("Acme news", rows))
    assert one < two or newer.startswith("yesterday")


def test_a_page_of_repeated_keywords_comes_last():
    stuffed = row("acme lamp acme lamp", description="acme lamp best acme lamp cheap acme lamp buy acme lamp")
    plain = row("Lamps", description="The lamp that Acme makes is small, and it burns for two days.")
    assert best("acme lamp", stuffed, FILLER, plain) is plain


def test_a_copy_of_a_better_row_comes_after_what_says_something_else():
    words = "The acme lamp burns for two days with one small battery and is sold in three colours."
    rows = [
        row("Acme lamp", "https://a.example/", words),
        row("Acme lamp", "https://b.example/", words),
        FILLER,
    ]
    assert order(scores("acme lamp", rows))[-1] == 1


@pytest.mark.parametrize(
    "foreign",
    [
        "Die Acme Lampe ist von der Firma und mit dem Akku für zwei Tage.",
        "La lampe Acme est dans les magasins et sur le site pour une semaine.",
        "アクメのランプは二日間もちます。",
    ],
)
def test_a_row_in_another_language_than_the_query_is_told_apart(foreign):
    rows = [
        row("Acme lamp", description=foreign),
        row("Acme", description="The lamp is made of glass for the home."),
    ]
    assert [each["foreign"] for each in evidence("how long is the acme lamp on", rows)] == [1.0, 0.0]


def test_scripts_without_spaces_are_ranked_by_pairs_of_letters():
    rows = [row("東京の動物園"), row("東京の美術館")]
    assert order(scores("東京 美術館", rows)) == [1, 0]


@given(
    st.text(max_size=60),
    st.lists(st.tuples(*[st.text(max_size=80)] * 4).map(lambda parts: SearchRow(*parts)), max_size=6),
)
def test_whatever_strangers_write_every_row_gets_a_number_and_evidence_is_a_share(query, rows):
    found = scores(query, rows)
    assert sorted(order(found)) == list(range(len(rows)))
    assert found == scores(query, rows)
    for measured in evidence(query, rows):
        assert all(0 <= value <= 1 for value in measured.values())
