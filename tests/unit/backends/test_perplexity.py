"""Perplexity's search: what it takes together, and what not."""

from simulators.web.base import answers


async def test_wanted_domains_win_over_unwanted_ones_and_days_over_an_age(desk):
    _, vendor = await desk("perplexity").search(
        answers([]),
        limit=50,
        include_domains=["a.example"],
        exclude_domains=["b.example"],
        freshness="week",
        after="2026-01-05",
        language="de",
        region="at",
    )
    assert vendor.asked[0].body == {
        "query": "who sings?",
        "max_results": 20,
        "search_context_size": "low",
        "search_after_date_filter": "01/05/2026",
        "search_domain_filter": ["a.example"],
        "search_language_filter": ["de"],
        "country": "AT",
    }


async def test_unwanted_domains_are_sent_with_a_minus(desk):
    _, vendor = await desk("perplexity").search(answers([]), exclude_domains=["b.example"], freshness="week")
    body = vendor.asked[0].body
    assert (body["search_domain_filter"], body["search_recency_filter"]) == (["-b.example"], "week")


async def test_more_domains_than_it_takes_are_cut_and_said_to_be(desk):
    domains = [f"d{n}.example" for n in range(25)]
    outcome, vendor = await desk("perplexity").search(answers([]), include_domains=domains)
    assert len(vendor.asked[0].body["search_domain_filter"]) == 20
    assert any("20 domains" in note for note in outcome.notes)
