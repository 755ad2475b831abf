"""The web kernel: limits, shapes, order, and what it makes of a backend that misbehaves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import ProviderDown, UsageError, WebError
from hermes.protocols import Document, Found, Query, SearchRow
from hermes.tools.web import addresses
from hermes.tools.web import rows as judging
from hermes.tools.web.addresses import Gate
from hermes.tools.web.budget import PageArchive, fit, page_file_name
from hermes.tools.web.debug import DebugLog
from hermes.tools.web.kernel import WebKernel, clamp_budget, clamp_limit
from hermes.tools.web.rows import judged_rows
from hermes.tools.web_extract import extract_payload
from unit.web.fakes import odd_addresses


class Backend:
    """A backend that answers what it is told and remembers what it was asked."""

    name = "fake"
    schemes = ("http", "https")
    filters = frozenset()

    def __init__(self, rows=(), documents=()):
        self.rows, self.documents, self.asked, self.answer = rows, documents, [], ""

    async def search(self, query):
        self.asked.append((query.text, query.limit))
        return Found(rows=tuple(self.rows), answer=self.answer)

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


async def test_bad_rows_leave_no_gaps_and_the_rest_is_cut_to_the_limit():
    web, backend = kernel(
        [row("https://a/"), row("javascript:alert(1)"), row(""), row("https://b/"), row("https://c/")]
    )
    outcome = await web.search("  query  ", 2)
    assert backend.asked == [("query", 2)]
    assert [found.url for found in outcome.rows] == ["https://a/", "https://b/"]
    assert (len(outcome.dropped), outcome.served_by) == (2, "fake")


@pytest.mark.parametrize(
    "again",
    [
        "https://a.example/x",
        "http://www.a.example/x/",
        "https://A.example:443/x#part",
        "https://a.example/x?utm_source=y",
        "https://you@a.example/x",
    ],
)
async def test_a_page_is_shown_once_and_its_repetitions_are_counted(again):
    rows = [row("https://a.example/x"), row("https://b.example/"), row(again), row("https://a.example/y")]
    for strict in (False, True):
        outcome = await kernel(rows, strict=strict)[0].search("q")
        assert [found.url for found in outcome.rows] == [rows[0].url, rows[1].url, rows[3].url]
        assert outcome.dropped == ()
        assert outcome.notes == ("1 row was left out: the page of another row",)


async def test_pages_of_one_host_that_differ_are_all_shown():
    rows = [row(f"https://a.example/{place}") for place in ("", "x", "X", "?q=1", "?q=2", "#/one", "#/two")]
    outcome = await kernel(rows)[0].search("q", 10)
    assert (outcome.rows, outcome.notes) == (tuple(rows), ())


@given(st.lists(st.text(max_size=12) | st.sampled_from(["https://a/", "http://www.a", "https://[", "ftp:"])))
def test_rows_of_any_address_are_judged(urls):
    rows = [SearchRow("t", prefix + url, "d") for url in urls for prefix in ("", "https://")]
    for query in (Query(text="q"), Query(text="q", exclude_domains=("a",))):
        good, dropped, repeated = judged_rows(rows, ("http", "https"), query)
        assert len(good) + len(dropped) + repeated == len(rows)


odd_texts = st.sampled_from(["t", "", None, 5, "x" * 501, "y" * 20_001])


@given(st.lists(st.builds(SearchRow, odd_texts, odd_addresses | st.none(), odd_texts, odd_texts), max_size=4))
def test_rows_are_judged_alike_whether_their_addresses_are_taken_apart_or_not(rows):
    for schemes in (("http", "https"), ("https",), ("ftp", "http", "https")):
        for query in (Query(text="q"), Query(text="q", exclude_domains=("b.example",))):
            problems = [judging._problem(each.url, schemes, query) for each in rows]
            pages: dict[str, SearchRow] = {}
            for each, problem in zip(rows, problems, strict=True):
                if not problem:
                    pages.setdefault(addresses._canonical(each.url), judging._clipped(each))
            dropped = list(filter(None, problems))
            exactly = list(pages.values()), dropped, len(rows) - len(dropped) - len(pages)
            assert judged_rows(rows, schemes, query) == exactly


@pytest.mark.parametrize(
    "urls",
    [
        [f"https://site{number}.example/page" for number in range(10)],
        [f"https://site.example/page/{number}" for number in range(10)],
        ["https://site.example/", "http://www.site.example/a/?q=1", "https://site.example/b#part"],
    ],
)
def test_plain_addresses_are_not_taken_apart(urls, monkeypatch):
    monkeypatch.setattr(judging, "split", None)
    monkeypatch.setattr(judging, "canonical", None)
    rows = [row(url) for url in urls]
    assert judged_rows(rows, ("http", "https"), Query(text="q")) == (rows, [], 0)


async def test_nothing_found_is_a_success():
    web, _ = kernel([])
    assert (await web.search("query")).rows == ()


@pytest.mark.parametrize("query", ["", "   ", None, 7])
async def test_an_empty_query_never_reaches_the_backend(query):
    web, backend = kernel([row()])
    with pytest.raises(UsageError, match="empty"):
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
    with pytest.raises(UsageError, match="no URL"):
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


async def test_a_backend_that_only_answers_gives_one_row_without_a_url():
    web, backend = kernel()
    backend.answer = "Forty-two."
    [found] = (await web.search("q")).rows
    assert (found.title, found.url, found.description) == ("Search Answer", "", "Forty-two.")
    backend.rows = [row()]
    assert [each.title for each in (await web.search("q")).rows] == ["T"]


async def test_rows_are_kept_to_the_wanted_domains_and_the_reasons_are_told():
    web, _ = kernel([row("https://a.example/"), row("https://sub.a.example/"), row("https://b.example/")])
    outcome = await web.search("q", 5, {"include_domains": ["a.example"]})
    assert [each.url for each in outcome.rows] == ["https://a.example/", "https://sub.a.example/"]
    assert outcome.dropped == ("a row is from `b.example`, which is not one of the wanted domains",)
    outcome = await web.search("q", 5, {"exclude_domains": ["a.example"]})
    assert [each.url for each in outcome.rows] == ["https://b.example/"]


async def test_an_address_with_a_key_is_refused_alone_and_never_sent():
    web, backend = kernel(documents=[Document("https://a/", content="x")])
    pages = (await web.extract(["https://a/?k=sk-abcdefghijklmnop1234", "https://a/"])).pages
    assert [bool(page.error) for page in pages] == [True, False]
    assert backend.asked == [("https://a/",)]


async def test_a_row_of_a_megabyte_is_clipped():
    outcome = await kernel([row(title="t" * 10**6, description="d" * 10**6)])[0].search("q")
    assert (len(outcome.rows[0].title), len(outcome.rows[0].description)) == (500, 20_000)
    assert outcome.rows[0].title.endswith("…")


async def test_pages_of_blocked_sites_are_not_asked_for():
    web, backend = kernel(gate=Gate(rules=(("bad.example", "config"),)))
    [page] = (await web.extract(["https://www.bad.example/x"])).pages
    assert (page.blocked.host, page.blocked.rule) == ("www.bad.example", "bad.example")
    assert backend.asked == []


async def test_a_page_that_led_where_it_may_not_is_not_shown():
    gate = Gate(admit=lambda url: "it is private" if "10.0.0.1" in url else None)
    documents = [Document("https://a/", content="secret", final_url="http://10.0.0.1/")]
    web, _ = kernel(documents=documents, gate=gate)
    [page] = (await web.extract(["https://a/"])).pages
    assert (page.content, page.error) == ("", "it is private")


async def test_a_page_is_known_by_where_it_was_found_too():
    documents = [Document("https://other/", content="x", final_url="https://a/")]
    web, _ = kernel(documents=documents)
    [page] = (await web.extract(["https://a/"])).pages
    assert (page.url, page.content) == ("https://a/", "x")


@pytest.mark.parametrize(
    ("asked", "final", "told"),
    [
        ("https://a/x", "https://b/y", "https://b/y"),
        ("http://a/x", "https://a/x", "https://a/x"),
        ("https://a/x#part", "https://a/x", ""),
        ("https://a", "https://a/", ""),
        ("https://a/x", "", ""),
    ],
)
async def test_a_page_says_where_it_was_when_that_was_somewhere_else(asked, final, told):
    web, _ = kernel(documents=[Document(asked, content="x", final_url=final)])
    outcome = await web.extract([asked])
    assert (outcome.pages[0].url, outcome.pages[0].final_url) == (asked, told)
    [entry] = extract_payload(outcome)["results"]
    assert entry.get("final_url", "") == told


async def test_addresses_in_other_scripts_are_sent_in_ascii():
    web, backend = kernel(documents=[Document("https://wttr.in/Köln", content="rain")])
    [page] = (await web.extract(["https://wttr.in/Köln"])).pages
    assert (backend.asked, page.content) == ([("https://wttr.in/K%C3%B6ln",)], "rain")


class Compressor:
    def __init__(self, words="short", error=None):
        self.words, self.error, self.seen = words, error, []

    async def __call__(self, text, instruction):
        self.seen.append(len(text))
        assert "Shorten" in instruction
        if self.error:
            raise self.error
        return self.words


@pytest.mark.parametrize(("length", "is_called"), [(3000, False), (4999, False), (5000, True), (6000, True)])
async def test_a_compressor_is_called_from_its_floor_on(length, is_called, tmp_path):
    compressor = Compressor()
    documents = [Document("https://a/", content="z" * length)]
    web, _ = kernel(documents=documents, compressor=compressor, folder=str(tmp_path))
    [page] = (await web.extract(["https://a/"])).pages
    assert compressor.seen == ([length] if is_called else [])
    assert page.content.startswith("short" if is_called else "zzz")
    if is_called:
        assert (tmp_path / page_file_name("https://a/")).read_text() == "z" * length
        assert f"Shortened by a model from {length} characters" in page.content


async def test_a_failed_compressor_never_loses_the_text_unless_strict():
    compressor = Compressor(error=ProviderDown("busy"))
    documents = [Document("https://a/", content="z" * 6000)]
    web, _ = kernel(documents=documents, compressor=compressor)
    assert (await web.extract(["https://a/"])).pages[0].content == "z" * 6000
    strict, _ = kernel(documents=documents, compressor=compressor, strict=True)
    with pytest.raises(WebError, match="busy"):
        await strict.extract(["https://a/"])


@pytest.mark.parametrize("words", ["", "z" * 7000])
async def test_a_text_that_is_not_made_shorter_stays(words):
    web, _ = kernel(documents=[Document("https://a/", content="z" * 6000)], compressor=Compressor(words))
    assert (await web.extract(["https://a/"])).pages[0].content == "z" * 6000


async def test_a_very_long_page_is_shortened_in_pieces():
    compressor = Compressor("piece")
    web, _ = kernel(documents=[Document("https://a/", content="z" * 250_000)], compressor=compressor)
    content = (await web.extract(["https://a/"])).pages[0].content
    assert compressor.seen == [100_000, 100_000, 50_000]
    assert content.startswith("piece\n\npiece\n\npiece")


async def test_every_call_is_logged_with_its_figures(tmp_path):
    log = DebugLog(
        str(tmp_path), enabled=True, now=lambda: "now", redact=lambda text: text.replace("KEY", "***")
    )
    documents = [Document("https://a/", content="z" * 3000)]
    web, _ = kernel([row()], documents, log=log.note)
    await web.search("q KEY", 9999)
    await web.extract(["https://a/"], 2000)
    with pytest.raises(UsageError):
        await web.search("")
    written = json.loads(next(tmp_path.glob("logs/web_tools_debug_*.json")).read_text())
    assert (written["total_calls"], written["debug_enabled"], written["start_time"]) == (3, True, "now")
    searched, read, failed = written["tool_calls"]
    assert searched["parameters"] == {"query": "q ***", "limit": 100}
    assert (searched["tool_name"], searched["results_count"], searched["error"]) == ("web_search", 1, None)
    assert (read["pages_extracted"], read["pages_truncated"]) == (1, 1)
    assert read["truncation_metrics"][0]["original_size"] == 3000
    assert failed["error"]
    assert log.info["total_calls"] == 3


def test_without_the_variable_nothing_is_logged(tmp_path):
    log = DebugLog(str(tmp_path), enabled=False, now=lambda: "now")
    log.note("web_search", dict)
    assert log.info == {"enabled": False, "session_id": None, "log_path": None, "total_calls": 0}
    assert list(tmp_path.iterdir()) == []


async def test_a_document_without_an_address_or_texts_breaks_nothing():
    documents = [Document(None, content="lost"), Document("https://a/", title=None, content=None)]
    web, _ = kernel(documents=documents)
    [page] = (await web.extract(["https://a/"])).pages
    assert (page.title, page.content, page.error) == ("", "", None)
