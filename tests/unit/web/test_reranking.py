"""The order of search results: the backend's, by words, or as a reranker says."""

import asyncio

import pytest

from hermes.errors import Block
from hermes.protocols import Query, SearchRow
from hermes.tools.web.kernel import WebKernel
from hermes.tools.web.reranking import reordered
from unit.web.fakes import Fake

ROWS = (
    SearchRow("Soup", "https://soup.example/", "A warm meal."),
    SearchRow("Harbour bridge", "https://bridge.example/", "The harbour bridge opened in 1931."),
    SearchRow("Bread", "https://bread.example/", "A loaf."),
)
QUERY = Query(text="harbour bridge")


class Model:
    name = "model"

    def __init__(self, scores=(), error=None, wait=0.0):
        self.scores, self.error, self.wait = scores, error, wait

    async def rank(self, query, rows):
        assert (query, rows) == (QUERY, ROWS)
        await asyncio.sleep(self.wait)
        if self.error:
            raise self.error
        return self.scores


async def order(model, name="model", **more):
    rows, notes = await reordered(QUERY, ROWS, name, {"model": model}, **more)
    return [row.title for row in rows], notes


async def test_a_reranker_has_the_last_word():
    assert await order(Model([0.1, 0.2, 0.9])) == (["Bread", "Harbour bridge", "Soup"], ())


async def test_by_words_no_reranker_is_asked():
    titles, notes = await order(Model(error=AssertionError()), name="lexical")
    assert (titles[0], notes) == ("Harbour bridge", ())


@pytest.mark.parametrize(
    ("model", "name", "words"),
    [
        (Model(error=ValueError("key sk-123")), "model", "`model` could not rank the results (ValueError)"),
        (Model([1.0]), "model", "could not rank the results (ValueError)"),
        (Model([1.0, float("nan"), 0.0]), "model", "could not rank the results (ValueError)"),
        (Model(["a", 1, 2]), "model", "could not rank the results (ValueError)"),
        (Model(None), "model", "could not rank the results (TypeError)"),
        (Model(wait=30), "model", "did not rank the results within 0.05 s"),
        (Model(), "other", "`web.rerank` names `other`, which no enabled plugin offers here"),
    ],
)
async def test_where_a_reranker_fails_the_words_decide_and_the_result_says_so(model, name, words):
    titles, [note] = await order(model, name, patience=0.05)
    assert titles[0] == "Harbour bridge"
    assert words in note
    assert note.endswith("the results are in the order of their words")
    assert "sk-123" not in note


async def test_a_reranker_that_says_no_is_not_overruled():
    with pytest.raises(Block):
        await order(Model(error=Block("no")))


async def test_results_that_a_filter_wants_new_are_ordered_by_age():
    rows = [
        SearchRow("Bridge", f"https://{year}.example/", "It opened.", f"{year}-01-01")
        for year in (2001, 2026)
    ]
    found, _ = await reordered(Query(text="bridge", freshness="year"), rows, "lexical", {})
    assert [row.date for row in found] == ["2026-01-01", "2001-01-01"]


async def test_the_kernel_orders_what_holds_before_it_cuts(tmp_path):
    async def reorder(query, rows):
        return list(reversed(rows)), (f"{query.text} turned round",)

    backend = Fake("a", [*ROWS, SearchRow("Bad", "ftp://x/", "")])
    kernel = WebKernel(lambda: backend, lambda: backend, archive=None, reorder=reorder)
    outcome = await kernel.search("q", 2)
    assert [row.title for row in outcome.rows] == ["Bread", "Harbour bridge"]
    assert outcome.notes == ("q turned round",)
    assert len(outcome.dropped) == 1
