"""The shipped model fits the code, and is small."""

import os
import pickle
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.tools.web.reader import html as html_module
from hermes.tools.web.reader import model as model_module
from hermes.tools.web.reader.choose import expected, threshold
from hermes.tools.web.reader.features import KINDS, NAMES, PAGE, SHARED, columns
from hermes.tools.web.reader.html import read_html
from hermes.tools.web.reader.model import Exit, Model, Weights, model
from hermes.tools.web.reader.names import _NAME, name_tokens


def test_the_model_was_trained_on_the_features_that_are_computed():
    assert model().features == NAMES
    assert len(set(NAMES)) == len(NAMES)
    assert "labelled pages" in model().provenance


def test_model_and_code_are_small():
    folder = os.path.dirname(model_module.__file__)
    files = [name for name in os.listdir(folder) if name.endswith((".py", ".bin"))]
    assert sum(os.path.getsize(os.path.join(folder, name)) for name in files) < 200_000


def test_a_run_that_is_clear_sees_no_more_trees():
    split = (0, 0.5, -1, -1000, -1, 1000)
    learnt = Model(
        Weights(
            provenance="",
            features=("x",),
            names={},
            trees=(split, (-1, 500)),
            exits=(Exit(trees=1, least=-500, most=2000, below=-3000, above=0),),
            kinds=(),
        )
    )
    unclear, clear = learnt.odds([[1.0, 0.0]], [])
    assert unclear == pytest.approx(1 / (1 + exp(-1.5)))
    assert clear == pytest.approx(1 / (1 + exp(4)))


def test_a_column_holds_whole_numbers_alone_or_fractions_alone(monkeypatch):
    tables = []

    def kept(*given):
        tables.append(columns(*given))
        return tables[-1]

    monkeypatch.setattr(html_module, "columns", kept)
    item = "<li><a href=/x>A link</a> with words</li>"
    text = "<p>A paragraph of text that is long enough to be one, with <b>bold</b> words in it.</p>"
    read_html(f"<nav>Menu</nav><h1>Title</h1>{text * 9}<ul>{item * 9}</ul><footer>Imprint</footer>")
    of_runs = [name for name in NAMES if name not in SHARED]
    kinds = {
        name: {type(value) for value in column} for name, column in zip(of_runs, tables[0][0], strict=True)
    }
    assert {name for name, kind in kinds.items() if kind not in ({int}, {float})} == set()


def test_kinds_are_probabilities():
    kinds = model().kinds([0.0] * len(PAGE))
    assert len(kinds) == len(KINDS)
    assert sum(kinds) == pytest.approx(1)


def test_names_are_taken_apart():
    assert name_tokens("siteFooter main-nav__item HTMLBox2") == [
        "site",
        "footer",
        "main",
        "nav",
        "item",
        "html",
        "box",
    ]


@given(st.text(alphabet="abzAZ09-_ é\u0130", max_size=20))
def test_a_name_is_taken_apart_the_same_with_and_without_capitals(name):
    assert name_tokens(name) == [token.lower() for token in _NAME.findall(name)]


def test_the_threshold_follows_the_expected_match():
    assert expected([10, 10], [1.0, 0.0]) == pytest.approx(1.0)
    assert expected([], []) == 0.0
    assert threshold(1.0) == 0.6
    assert threshold(0.8) == pytest.approx(0.48)
    assert threshold(0.1) == 0.15


def test_the_reader_can_be_sent_to_a_worker():
    assert pickle.loads(pickle.dumps(read_html)) is read_html
    page = read_html("<title>t</title><p>x")
    assert pickle.loads(pickle.dumps(page)) == page
