"""The JSON server of one's own: the template, the paths, and settings that make no sense."""

import pytest

from hermes.errors import ConfigError, NotConfigured, WebError
from simulators.web.base import KEY, answers, as_json

ROW = {"title": "T", "url": "https://a.example/", "description": "D"}


def replies(value):
    return lambda _vendor, _asked: as_json(value)


def changed(desk, **options):
    """The settings of the simulated server with some of them changed; what is None is left out."""

    class Changed(desk.vendor_type):
        def settings(self):
            custom = {**super().settings()["custom"], **options}
            return {"custom": {name: value for name, value in custom.items() if value is not None}}

    desk.vendor_type = Changed
    return desk


async def test_the_query_is_encoded_once_and_the_rest_of_the_template_stays(desk):
    _, vendor = await desk("custom-json").search(answers([]), "a b&c=ü%20/?#")
    assert vendor.asked[0].params == {"s": "a b&c=ü%20/?#", "fmt": "json"}


async def test_rows_are_found_by_dotted_paths_and_a_missing_field_is_empty(desk):
    rows = [
        {"name": "T", "link": "https://a.example/", "text": {"short": "D"}},
        {"name": "U", "link": "https://b.example/"},
        {"link": "https://c.example/", "text": "no mapping"},
    ]
    outcome, _ = await desk("custom-json").search(answers(rows))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [
        ("T", "https://a.example/", "D"),
        ("U", "https://b.example/", ""),
        ("", "https://c.example/", ""),
    ]


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("0.found", [{"found": [ROW]}]),
        ("pages.1.rows", {"pages": [{}, {"rows": [ROW]}]}),
        (None, [ROW]),
        ("", [ROW]),
    ],
)
async def test_a_path_may_hold_list_indexes_or_be_the_whole_reply(path, reply, desk):
    fields = {"title_field": None, "url_field": None, "description_field": None, "ok_path": None}
    server = changed(desk("custom-json"), results_path=path, **fields)
    outcome, _ = await server.search(replies(reply))
    assert [(row.title, row.url, row.description) for row in outcome.rows] == [tuple(ROW.values())]


@pytest.mark.parametrize(
    "reply", [{}, {"data": {}}, {"data": {"items": {}}}, {"data": [1]}, [], {"data": "x"}]
)
async def test_a_path_that_leads_to_no_list_is_a_failure_that_names_it(reply, desk):
    server = changed(desk("custom-json"), ok_path=None)
    error, _ = await server.fails(replies(reply), WebError)
    assert "data.items" in str(error)
    assert "results_path" in error.hint


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("http://host.invalid/search?q=", "%s"),
        ("host.invalid/search?q=%s", "http://"),
        ("file:///etc/passwd?%s", "http://"),
    ],
)
async def test_a_template_that_cannot_be_one_is_named_and_nothing_is_sent(template, words, desk):
    server = changed(desk("custom-json"), url_template=template)
    error, vendor = await server.fails(answers([]), ConfigError)
    assert "url_template" in str(error)
    assert words in str(error)
    assert vendor.asked == []


async def test_without_a_template_it_is_named(desk):
    server = changed(desk("custom-json"), url_template=None)
    error, _ = await server.fails(answers([]), NotConfigured)
    assert "web.custom.url_template" in str(error)


@pytest.mark.parametrize(
    ("option", "value"), [("headers", ["X-Pass: 1"]), ("timeout", "soon"), ("timeout", 0)]
)
async def test_an_option_of_the_wrong_kind_is_named(option, value, desk):
    server = changed(desk("custom-json"), **{option: value})
    error, _ = await server.fails(answers([]), ConfigError)
    assert f"web.custom.{option}" in str(error)


@pytest.mark.parametrize(
    ("wanted", "status", "is_good"),
    [
        ("ok", "ok", True),
        ("ok", "captcha", False),
        ("ok", None, False),
        (None, True, True),
        (None, False, False),
        (True, True, True),
        (False, False, True),
        (0, 0, True),
    ],
)
async def test_a_field_may_say_that_it_went_wrong(wanted, status, is_good, desk):
    server = changed(desk("custom-json"), ok_value=wanted)
    reply = replies({"status": status, "data": {"items": []}})
    if is_good:
        outcome, _ = await server.search(reply)
        assert outcome.rows == ()
    else:
        error, _ = await server.fails(reply, WebError)
        assert "`status`" in str(error)


async def test_the_name_custom_means_it_when_only_a_template_is_set(desk):
    server = desk("custom-json")
    server.name = "custom"
    outcome, _ = await server.search(answers([("T", "https://a.example/", "D")]))
    assert outcome.served_by == "custom-json"


async def test_a_key_in_a_header_is_in_no_output(desk, tmp_path):
    error, _ = await desk("custom-json").fails(replies({"status": f"wrong pass {KEY}"}), WebError)
    assert KEY not in f"{error} {error.hint}"
