"""The web kernel: limits, shapes, order, and what it makes of a backend that misbehaves."""

import pytest

from hermes.errors import WebError
from hermes.protocols import Document, Found, SearchRow
from hermes.tools.web.budget import PageArchive, fit, page_file_name
from hermes.tools.web.kernel import WebKernel, clamp_budget, clamp_limit


class Backend:
    """A backend that answers what it is told and remembers what it was asked."""

    name = "fake"
    schemes = ("http", "https")
    filters = frozenset()

    def __init__(self, rows=(), documents=()):
        self.rows, self.documents, self.asked = rows, documents, []

    async def search(self, query):
        self.asked.append((query.text, query.limit))
        return Found(rows=tuple(self.rows))

    async def extract(self, urls):
        self.asked.append(tuple(urls))
        return self.documents


def kernel(rows=(), documents=(), folder=None, **options):
    backend = Backend(rows, documents)
    return WebKernel(lambda: backend, lambda: backend, archive=PageArchive(folder), **options), backend


def row(url="https://a.example/x", title="T", description="D"):
    return SearchRow(title=title, url=url, description=description)


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (None, 5),
        ("abc", 5),
        ("7", 7),
        (0, 1),
        (-3, 1),
        (9999, 100),
        (5.9, 5),
        (True, 1),
        (float("inf"), 5),
        ([], 5),
    ],
)
def test_limits_are_clamped_before_a_backend_sees_them(given, used):
    assert clamp_limit(given) == used


@pytest.mark.parametrize(("given", "used"), [(100, 2000), (10**9, 500_000), ("x", 15_000), (3000, 3000)])
def test_budgets_are_clamped(given, used):
    assert clamp_budget(given) == used


async def test_rows_are_numbered_without_gaps_and_cut_to_the_limit():
    web, backend = kernel(
        [row("https://a/"), row("javascript:alert(1)"), row(""), row("https://b/"), row("https://c/")]
    )
    outcome = await web.search("  query  ", 2)
    assert backend.asked == [("query", 2)]
    assert [(found.url, found.position) for found in outcome.rows] == [("https://a/", 1), ("https://b/", 2)]
    assert (len(outcome.dropped), outcome.served_by) == (2, "fake")


async def test_nothing_found_is_a_success():
    web, _ = kernel([])
    assert (await web.search("query")).rows == ()


@pytest.mark.parametrize("query", ["", "   ", None, 7])
async def test_an_empty_query_never_reaches_the_backend(query):
    web, backend = kernel([row()])
    with pytest.raises(WebError, match="empty"):
        await web.search(query)
    assert backend.asked == []


@pytest.mark.parametrize("bad", ["not-a-url", None, "http://[bad", 5, "ftp://x/y"])
async def test_strict_fails_the_whole_search_on_one_bad_row(bad):
    rows = [row(), SearchRow(title="t", url=bad, description="d")]
    loose, _ = kernel(rows)
    assert len((await loose.search("q")).rows) == 1
    strict, _ = kernel(rows, strict=True)
    with pytest.raises(WebError, match="Invalid web search result"):
        await strict.search("q")


async def test_null_titles_and_descriptions_become_empty():
    web, _ = kernel([SearchRow(title=None, url="https://a/", description=None)])
    [found] = (await web.search("q")).rows
    assert (found.title, found.description) == ("", "")


async def test_documents_are_matched_by_url_and_gaps_are_filled():
    urls = ["https://a/1", "https://a/2", "https://a/3"]
    documents = [Document("https://a/3/", content="three"), Document("https://A/1", content="one")]
    web, _ = kernel(documents=documents)
    pages = (await web.extract(urls)).pages
    assert [page.content for page in pages] == ["one", "", "three"]
    assert pages[1].url == "https://a/2"
    assert "nothing" in pages[1].error


async def test_items_may_be_rows_and_bad_ones_keep_their_place():
    web, backend = kernel(
        documents=[Document("https://a/", content="x"), Document("https://b/", content="y")]
    )
    outcome = await web.extract([{"url": "https://a/"}, 7, {"href": " https://b/ "}, "file:///etc/passwd"])
    assert [page.content for page in outcome.pages] == ["x", "", "y", ""]
    assert outcome.pages[1].error == "Invalid URL item at index 1"
    assert "reads only" in outcome.pages[3].error
    assert backend.asked == [("https://a/", "https://b/")]


async def test_only_the_first_five_are_read_and_repeats_are_read_once():
    web, backend = kernel(documents=[Document("https://a/0", content="x")])
    assert len((await web.extract([f"https://a/{n}" for n in range(7)])).pages) == 5
    pages = (await web.extract(["https://a/0", "https://a/0"])).pages
    assert [page.content for page in pages] == ["x", "x"]
    assert backend.asked[-1] == ("https://a/0",)


@pytest.mark.parametrize("urls", [[], None, {}, 5])
async def test_nothing_to_read_is_said(urls):
    web, backend = kernel()
    with pytest.raises(WebError, match="no URL"):
        await web.extract(urls)
    assert backend.asked == []


async def test_a_page_of_exactly_the_budget_is_whole_and_one_more_is_cut_and_stored(tmp_path):
    text = "x" * 2000
    web, _ = kernel(documents=[Document("https://a/", content=text)], folder=str(tmp_path / "web"))
    assert (await web.extract(["https://a/"], 2000)).pages[0].content == text
    longer, _ = kernel(documents=[Document("https://a/", content=text + "y")], folder=str(tmp_path / "web"))
    cut = (await longer.extract(["https://a/"], 100)).pages[0].content
    stored = tmp_path / "web" / page_file_name("https://a/")
    assert stored.read_text() == text + "y"
    assert str(stored) in cut
    assert "1 characters omitted" in cut


async def test_pages_share_what_is_allowed_in_all():
    documents = [Document(f"https://a/{n}", content="z" * 9000) for n in range(3)]
    web, _ = kernel(documents=documents)
    pages = (await web.extract([f"https://a/{n}" for n in range(3)], in_all=9000)).pages
    assert all(2500 < page.content.count("z") <= 3000 for page in pages)


def test_a_cut_keeps_whole_lines_of_head_and_tail():
    text = "\n".join(f"line {number:04}" for number in range(1000))
    cut = fit(text, 2000, lambda _whole: None)
    head, _, rest = cut.partition("\n\n[…")
    tail = rest.split("]\n\n")[1].partition("\n\n[Shown")[0]
    assert text.startswith(head + "\n")
    assert text.endswith(tail)
    assert len(head) + len(tail) <= 2000
    assert "could not be stored" in cut


def test_the_offered_offset_is_the_first_line_left_out():
    text = "\n".join(f"line {number}" for number in range(1, 1001))
    cut = fit(text, 2000, lambda _whole: "/p.md")
    offset = int(cut.split("offset=")[1].split(")")[0])
    last_shown = cut.partition("\n\n[…")[0].rsplit("\n", 1)[1]
    assert last_shown == f"line {offset - 1}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![x](data:image/png;base64,AAAA)", "[IMAGE: x]"),
        ("![](data:image/png;base64,AAAA)", "[IMAGE]"),
        ("see (data:image/gif;base64,R0lG+/=) here", "see [IMAGE] here"),
        ("![x](https://h/a.png)", "![x](https://h/a.png)"),
    ],
)
def test_embedded_pictures_become_words(text, shown):
    assert fit(text, 5000, lambda _whole: None) == shown


def test_an_archive_that_cannot_be_written_says_so(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert PageArchive(str(blocked)).keep("https://a/", "text") is None
    assert PageArchive(None).keep("https://a/", "text") is None
