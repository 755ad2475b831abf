"""Every file under `tools/web/backends/`: declares what it can, and keeps the promises of the port.

A backend with a server is asked over real sockets. Its vendor is the simulator in `tests/simulators/web/`
that is named like its file; a new backend is in this suite as soon as both files are there.
"""

import asyncio
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes import discover
from hermes.app.services import Services
from hermes.config import load as load_config
from hermes.errors import BackendDown, BackendRefused, BackendSpent, NotConfigured, WebError
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.protocols import Deadlines, Query
from hermes.tools.web.filters import FILTERS, fit
from hermes.tools.web.options import is_available
from hermes.tools.web.select import Backends
from simulators.web.base import KEY, answers, as_json, fails, raw, reads, silence

BACKENDS = Backends()
NAMES = BACKENDS.names()
SIMULATED = [name for name in NAMES if name.replace("-", "_") in discover.names("simulators.web")]
ROWS = [(f"Title {n}", f"https://site{n}.example/page", f"About {n}.") for n in range(1, 121)]
ODD = [None, 7, True, [], {}, [None], "", {"a": 1}]
EVERY_FILTER = {
    "freshness": "week",
    "after": "2026-01-05",
    "before": "2026-02-01",
    "include_domains": ("site1.example", "site2.example"),
    "exclude_domains": ("bad.example",),
    "language": "de",
    "region": "AT",
    "topic": "news",
}

over_all = pytest.mark.parametrize("name", NAMES)
over_vendors = pytest.mark.parametrize("name", SIMULATED)


def vendor_of(name):
    return discover.module(f"simulators.web.{name.replace('-', '_')}").VENDOR


searching = pytest.mark.parametrize("name", [name for name in SIMULATED if vendor_of(name).searches])
reading = pytest.mark.parametrize("name", [name for name in SIMULATED if vendor_of(name).extracts])
keyed = pytest.mark.parametrize("name", [name for name in SIMULATED if vendor_of(name).has_key])


class Hasty:
    """A wire that gives nobody more than a moment."""

    def __init__(self, wire, seconds):
        self._wire, self._seconds = wire, seconds

    def open(self, request, may_retry=None):
        moment = Deadlines(*[self._seconds] * 4)
        return self._wire.open(msgspec.structs.replace(request, deadlines=moment), may_retry)

    async def close(self):
        await self._wire.close()


class Bench:
    """A backend and its simulated vendor, connected as in a real run."""

    def __init__(self, name, vendor, home, seconds=None, environ=None):
        if vendor.settings():
            (home / "config.yaml").write_text(json.dumps({"web": vendor.settings()}))
        choice = {"HERMES_WEB_SEARCH_BACKEND": name, "HERMES_WEB_EXTRACT_BACKEND": name}
        declared = BACKENDS.load(name)
        for able, variable in ((declared.searches, "SEARCH"), (declared.extracts, "EXTRACT")):
            if not able:
                del choice[f"HERMES_WEB_{variable}_BACKEND"]
        choice["HERMES_WEB_CACHE_ENABLED"] = "false"
        given = vendor.environ() if environ is None else environ
        self.services = Services(load_config({"HERMES_HOME": str(home), **choice, **given}))
        self.services.sent = []
        wire = Client(retry=RetryPolicy(attempts=2, base=0.0, patience=0.0))
        self.services._wires[None] = Hasty(wire, seconds) if seconds else wire
        self.web = self.services.web

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.services.close()

    def told(self):
        return repr(self.services.sent) + str(msgspec.json.encode(self.services.sent))


async def search(name, home, reply, limit=5, **filters):
    async with vendor_of(name)(reply) as vendor, Bench(name, vendor, home) as bench:
        outcome = await bench.web.search("who sings?", limit, filters)
    assert vendor.refusals == []
    assert KEY not in bench.told()
    return outcome, vendor


async def failure(name, home, reply, seconds=None):
    """The error of a failed search; whatever it is, the key is in none of its words."""
    async with vendor_of(name)(reply) as vendor, Bench(name, vendor, home, seconds) as bench:
        with pytest.raises(WebError) as caught:
            await bench.web.search("who sings?", 5)
    error = caught.value
    words = f"{error} {error.hint} {error!r} {bench.told()}"
    assert not vendor.has_key or KEY not in words
    assert vendor.refusals == []
    return error


async def extract(name, home, reply, urls, seconds=None):
    async with vendor_of(name)(reply) as vendor, Bench(name, vendor, home, seconds) as bench:
        pages = (await bench.web.extract(urls)).pages
    assert vendor.refusals == []
    assert KEY not in f"{pages!r} {bench.told()}"
    assert [page.url for page in pages] == urls
    return pages


@over_all
def test_it_declares_itself(name, tmp_path):
    backend = BACKENDS.load(name)
    services = Services(load_config({"HERMES_HOME": str(tmp_path)}))
    assert backend.name == name
    assert backend.title
    assert backend.searches or backend.extracts
    assert isinstance(is_available(backend, services), bool)
    assert set(backend.offered_by) - {"key"} <= {option.name for option in backend.options}
    for option in backend.options:
        assert option.what.startswith(("a ", "an ", "the "))
        assert option.env or option.setting


@over_all
def test_a_backend_with_a_server_has_a_simulator_of_its_name(name):
    assert name in SIMULATED or BACKENDS.load(name).connect is not None


@over_all
async def test_one_that_needs_nothing_finds_nothing_and_lacks_a_page(name, tmp_path):
    backend = BACKENDS.load(name)
    if backend.connect is None or name in SIMULATED or backend.schemes == ("http", "https"):
        pytest.skip("it needs a server")
    async with Bench(name, vendor=_Nobody(), home=tmp_path) as bench:
        if backend.searches:
            assert (await bench.web.search("zzqqxx")).rows == ()
        if backend.extracts:
            missing = f"{backend.schemes[0]}://host.invalid/none"
            [page] = (await bench.web.extract([missing])).pages
            assert (page.url, page.content) == (missing, "")
            assert page.error


class _Nobody:
    def environ(self):
        return {}

    def settings(self):
        return {}


def test_with_nothing_chosen_somebody_serves_and_the_local_documents_come_last(tmp_path):
    services = Services(load_config({"HERMES_HOME": str(tmp_path)}))
    assert services.web_parts.choice("search").name in NAMES
    assert BACKENDS.load("local").rank == max(BACKENDS.load(name).rank for name in NAMES)


@searching
async def test_rows_are_mapped_in_their_order(name, tmp_path):
    outcome, vendor = await search(name, tmp_path, answers(ROWS[:3]))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == ROWS[:3]
    assert outcome.served_by == name
    [asked] = vendor.asked
    assert "who sings?" in vendor.query(asked)
    assert not vendor.has_key or vendor.is_authorized(asked)


@searching
async def test_nothing_found_is_a_success(name, tmp_path):
    outcome, _ = await search(name, tmp_path, answers([]))
    assert outcome.rows == ()


@searching
@pytest.mark.parametrize(("limit", "given"), [(1, 10), (3, 10), (100, 120), (9999, 120)])
async def test_a_limit_holds_whatever_the_vendor_sends(name, limit, given, tmp_path):
    outcome, vendor = await search(name, tmp_path, answers(ROWS[:given]), limit)
    assert 0 < len(outcome.rows) <= min(limit, 100)
    asked = vendor.limit(vendor.asked[0])
    assert asked is None or 1 <= asked <= vendor.most


@searching
@pytest.mark.parametrize("odd", ODD, ids=repr)
async def test_a_field_of_the_wrong_kind_is_empty_and_its_row_stays(name, odd, tmp_path):
    whole, other = (vendor_of(name)().row(*row) for row in ROWS[:2])
    for field in [field for field in whole if field != vendor_of(name).url_key]:
        bent = {**whole, field: odd}
        without = {key: value for key, value in other.items() if key != field}
        outcome, _ = await search(name, tmp_path, answers([bent, without]))
        assert [row.url for row in outcome.rows] == [ROWS[0][1], ROWS[1][1]]
        assert all(
            isinstance(text, str) for row in outcome.rows for text in (row.title, row.description, row.date)
        )


@searching
async def test_a_row_without_a_url_is_dropped_and_takes_no_place(name, tmp_path):
    vendor = vendor_of(name)
    whole = vendor().row(*ROWS[0])
    bad = [{**whole, vendor.url_key: url} for url in (None, "", 5, "not a url", "javascript:alert(1)", [])]
    outcome, _ = await search(name, tmp_path, answers([*bad, ROWS[1], None, 7, "x", [], ROWS[2]]), 2)
    assert [row.url for row in outcome.rows] == [ROWS[1][1], ROWS[2][1]]


@searching
async def test_rows_that_are_no_list_are_none(name, tmp_path):
    outcome, _ = await search(name, tmp_path, lambda vendor, asked: as_json(vendor.found(None, asked)))
    assert outcome.rows == ()


@searching
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, WebError),
        (401, BackendRefused),
        (402, BackendSpent),
        (403, BackendRefused),
        (404, WebError),
        (422, WebError),
        (429, BackendSpent),
        (500, BackendDown),
        (502, BackendDown),
        (503, BackendDown),
    ],
)
async def test_a_status_is_told_apart_and_the_key_is_never_told(name, status, kind, tmp_path):
    error = await failure(name, tmp_path, fails(status, f"your key {KEY} is no good"))
    assert isinstance(error, kind)
    assert isinstance(error, BackendDown) == issubclass(kind, BackendDown)
    assert str(status) in str(error)
    if vendor_of(name).has_key:
        cut = await failure(name, tmp_path, fails(status, f"{'x' * 290}{KEY}"))
        assert KEY[:8] not in str(cut)
    page = await failure(name, tmp_path, raw(f"<html><p>{KEY}</p></html>".encode(), status))
    assert isinstance(page, kind)
    assert "<html" not in str(page)


@searching
async def test_when_to_come_back_is_told(name, tmp_path):
    error = await failure(name, tmp_path, fails(429, "slow down", retry_after=77))
    assert error.retry_after == 77


@searching
@pytest.mark.parametrize(
    "body", [b"<html>Welcome</html>", b"", b'{"results": [', b'"text"', b"null", b"\xff\xfe{}", b"[" * 9999]
)
async def test_what_is_no_json_object_is_a_failure_of_the_backend(name, body, tmp_path):
    error = await failure(name, tmp_path, raw(body))
    assert isinstance(error, BackendDown)


@searching
async def test_an_answer_that_does_not_come_is_a_failure(name, tmp_path):
    assert isinstance(await failure(name, tmp_path, silence, seconds=0.1), BackendDown)


@over_vendors
async def test_a_server_that_is_gone_is_a_failure(name, tmp_path):
    async with vendor_of(name)() as vendor:
        bench = Bench(name, vendor, tmp_path)
        environ = vendor.environ()
    async with bench:
        if vendor.searches:
            with pytest.raises(BackendDown) as caught:
                await bench.web.search("q")
            assert environ.get("SEARXNG_URL", vendor.url) in str(caught.value)
        if vendor.extracts:
            [page] = (await bench.web.extract(["https://a.example/"])).pages
            assert page.error


@over_vendors
async def test_cancellation_closes_the_socket(name, tmp_path):
    async with vendor_of(name)(silence) as vendor, Bench(name, vendor, tmp_path) as bench:
        work = bench.web.search("q") if vendor.searches else bench.web.extract(["https://a.example/"])
        task = asyncio.ensure_future(work)
        while not vendor.asked:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(2):
            await vendor.left.wait()


@keyed
async def test_a_wrong_key_is_refused_by_the_vendor_and_named_to_the_user(name, tmp_path):
    async with vendor_of(name)() as vendor:
        wrong = {
            variable: value.replace(KEY, "another-key-abcdef") for variable, value in vendor.environ().items()
        }
        async with Bench(name, vendor, tmp_path, environ=wrong) as bench:
            work = (
                bench.web.search("q")
                if vendor.searches
                else bench.services.web_parts._reader.extract(["https://a.example/"])
            )
            if vendor.searches:
                with pytest.raises(BackendRefused) as caught:
                    await work
                variables = [variable for variable, value in vendor.environ().items() if value == KEY]
                assert any(variable in caught.value.hint for variable in variables)
            else:
                [page] = await work
                assert page.error


@keyed
async def test_a_missing_key_is_named_and_nothing_is_sent(name, tmp_path):
    async with vendor_of(name)() as vendor:
        environ = {variable: value for variable, value in vendor.environ().items() if value != KEY}
        [key] = [option for option in BACKENDS.load(name).options if option.name == "key"]
        async with Bench(name, vendor, tmp_path, environ=environ) as bench:
            if not key.required:
                pytest.skip("it answers without a key, too")
            work = bench.web.search("q") if vendor.searches else bench.web.extract(["https://a.example/"])
            with pytest.raises(NotConfigured, match=key.env[0]):
                await work
    assert vendor.asked == []


@over_vendors
async def test_a_slash_at_the_end_of_the_address_changes_nothing(name, tmp_path):
    async with vendor_of(name)(answers([])) as vendor:
        environ = {
            variable: f"{value}/" if value.startswith(vendor.url) else value
            for variable, value in vendor.environ().items()
        }
        async with Bench(name, vendor, tmp_path, environ=environ) as bench:
            if vendor.searches:
                await bench.web.search("q")
            else:
                await bench.web.extract(["https://a.example/"])
    assert vendor.refusals == []


@searching
@pytest.mark.parametrize("filter", FILTERS)
async def test_a_filter_is_sent_as_the_vendor_takes_it_or_said_not_to_be_heeded(name, filter, tmp_path):
    plain, without = await search(name, tmp_path, answers(ROWS[:1]))
    outcome, narrowed = await search(name, tmp_path, answers(ROWS[:1]), **{filter: EVERY_FILTER[filter]})
    [before], [after] = without.asked, narrowed.asked
    is_sent = (before.path, before.params, before.body) != (after.path, after.params, after.body)
    assert is_sent or any(filter in note or "domain" in note for note in outcome.notes)
    if filter in BACKENDS.load(name).filters:
        assert is_sent
        assert outcome.notes == plain.notes


@searching
async def test_all_filters_at_once_are_taken(name, tmp_path):
    outcome, _ = await search(name, tmp_path, answers(ROWS[:3]), **EVERY_FILTER)
    assert [row.url for row in outcome.rows] == [ROWS[0][1], ROWS[1][1]]


@reading
async def test_pages_are_read_and_a_bad_one_keeps_its_place(name, tmp_path):
    urls = ["https://a.example/1", "https://a.example/2", "https://a.example/3"]
    pages = await extract(name, tmp_path, reads({urls[0]: "First.", urls[2]: "Third."}), urls)
    assert [page.content for page in pages] == ["First.", "", "Third."]
    assert [bool(page.error) for page in pages] == [False, True, False]


@reading
async def test_a_page_that_is_left_out_is_an_error(name, tmp_path):
    [page] = await extract(
        name, tmp_path, lambda vendor, asked: as_json(vendor.pages({}, asked)), ["https://a.example/"]
    )
    assert page.error


@reading
@pytest.mark.parametrize(("status", "down"), [(400, False), (401, False), (429, True), (500, True)])
async def test_a_failed_reading_is_an_error_of_its_pages(name, status, down, tmp_path):
    urls = ["https://a.example/1", "https://a.example/2"]
    async with vendor_of(name)(fails(status, f"{KEY}!")) as vendor, Bench(name, vendor, tmp_path) as bench:
        documents = await bench.services.web_parts._reader.extract(urls)
    assert [document.url for document in documents] == urls
    assert all(document.error and KEY not in document.error for document in documents)
    assert [document.elsewhere for document in documents] == [down, down]


@reading
@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"", b"null"])
async def test_a_page_that_comes_as_no_json_is_an_error(name, body, tmp_path):
    [page] = await extract(name, tmp_path, raw(body), ["https://a.example/"])
    assert page.error


@reading
async def test_a_page_that_does_not_come_is_an_error(name, tmp_path):
    [page] = await extract(name, tmp_path, silence, ["https://a.example/"], seconds=0.1)
    assert page.error


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


def bent(value, junk):
    """The value with some part of it replaced by junk."""
    if isinstance(value, dict) and value:
        return st.sampled_from(sorted(value)).flatmap(
            lambda key: bent(value[key], junk).map(lambda changed: {**value, key: changed}) | junk
        )
    if isinstance(value, list) and value:
        return bent(value[0], junk).map(lambda changed: [changed, *value[1:]]) | junk
    return junk


@over_vendors
def test_a_reply_as_documented_is_read_alike_whether_or_not_all_of_it_is_decoded(name):
    backend, vendor = BACKENDS.load(name), vendor_of(name)()
    if backend.columns is None:
        pytest.skip("all of its reply is decoded")
    body = json.dumps(vendor.found([vendor.row(*row) for row in ROWS[:3]], None))
    narrow = msgspec.json.decode(body, type=backend.columns.reply())
    whole = backend.read_search(json.loads(body), Query(text="q"))
    assert backend.read_search(narrow, Query(text="q")) == whole
    assert [row.url for row in whole.rows] == [row[1] for row in ROWS[:3]]


@reading
async def test_no_pages_are_no_request(name, tmp_path):
    async with vendor_of(name)(silence) as vendor, Bench(name, vendor, tmp_path) as bench:
        assert list(await bench.services.web_parts._reader.extract([])) == []
    assert vendor.asked == []


@over_vendors
def test_a_reply_of_any_shape_is_read_or_is_a_web_error(name):
    backend, vendor = BACKENDS.load(name), vendor_of(name)()

    @settings(max_examples=60)
    @given(st.data())
    def check(data):
        if backend.read_search is not None:
            whole = vendor.found([vendor.row(*row) for row in ROWS[:2]], None)
            reply = data.draw(bent(whole, _json).filter(lambda reply: isinstance(reply, dict | list)))
            try:
                found = backend.read_search(reply, Query(text="q"))
            except WebError:
                return
            assert all(isinstance(row.title, str) and isinstance(row.description, str) for row in found.rows)
        if backend.read_extract is not None:
            whole = vendor.pages({"https://a.example/": "Text.", "https://b.example/": None}, None)
            reply = data.draw(bent(whole, _json).filter(lambda reply: isinstance(reply, dict | list)))
            try:
                documents = backend.read_extract(reply, ["https://a.example/"])
            except WebError:
                return
            assert all(isinstance(document.content, str) for document in documents)

    check()


@over_all
def test_what_it_cannot_narrow_by_is_not_in_what_it_is_asked(name):
    backend = BACKENDS.load(name)
    query = Query(text="q", **EVERY_FILTER)
    fitted, notes = fit(query, backend, discover.module("hermes.tools.web.kernel").today)
    assert all(not getattr(fitted, filter) for filter in FILTERS if filter not in backend.filters)
    assert notes or set(FILTERS) <= backend.filters | {"freshness", "after"}
