"""Jina: two servers, a reader that needs no key, and a search whose emptiness is an error."""

import pytest

from hermes.config import Secret
from hermes.errors import NotConfigured, WebError
from hermes.protocols import Query
from hermes.tools.web.backends.base import Site
from hermes.tools.web.backends.jina import BACKEND
from simulators.web.base import as_json, fails, reads

PAGE = "https://a.example/page"


async def test_the_reader_works_without_a_key(desk):
    [page], vendor = await desk("jina").extract(reads({PAGE: "Text."}), PAGE, environ={"JINA_API_KEY": None})
    assert page.content == "Text."
    assert "authorization" not in vendor.asked[0].headers


async def test_the_search_needs_a_key(desk):
    error, vendor = await desk("jina").fails(None, NotConfigured, environ={"JINA_API_KEY": None})
    assert "JINA_API_KEY" in str(error)
    assert vendor.asked == []


async def test_nothing_found_is_a_success_although_it_comes_as_an_error(desk):
    outcome, _ = await desk("jina").search(fails(422, "No search results available for query who sings?"))
    assert outcome.rows == ()


async def test_every_other_bad_request_is_a_failure(desk):
    error, _ = await desk("jina").fails(fails(422, "the country is not known"), WebError)
    assert "the country is not known" in str(error)


async def test_the_warning_of_a_page_that_failed_is_its_error(desk):
    [page], _ = await desk("jina").extract(reads({PAGE: None}), PAGE)
    assert "404" in page.error
    assert page.content == ""


async def test_a_page_that_was_redirected_to_a_private_address_is_not_shown(desk):
    private = "http://127.0.0.1/admin"
    reply = {"code": 200, "data": {"url": private, "content": "secret"}}
    [page], _ = await desk("jina").extract(lambda *_: as_json(reply), PAGE, forbidden=[private])
    assert (page.url, page.content, page.error) == (PAGE, "", "a private address")


@pytest.mark.parametrize(
    ("reader", "search"),
    [
        ("https://r.jina.ai", "https://s.jina.ai/"),
        ("https://eu.r.jina.ai", "https://eu.s.jina.ai/"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000/search"),
    ],
)
def test_the_search_is_beside_the_reader(reader, search):
    site = Site(base_url=reader, key=Secret("k"))
    assert BACKEND.search_request(site, Query(text="q")).url == search
    assert BACKEND.extract_request(site, [PAGE]).url == f"{reader}/"
