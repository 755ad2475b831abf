"""Addresses that strangers gave: spelled, told apart, and refused before anybody sees them."""

import asyncio
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.app.services import Services
from hermes.config import load
from hermes.tools.web import addresses
from hermes.tools.web.addresses import PLAIN_PLACE, Gate, canonical, matcher, same, spelled
from unit.web.fakes import odd_addresses


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("https://wttr.in/Köln", "https://wttr.in/K%C3%B6ln"),
        ("https://münchen.example/a b", "https://xn--mnchen-3ya.example/a%20b"),
        ("https://x.example/a%20b?q=ü#ä", "https://x.example/a%20b?q=%C3%BC#%C3%A4"),
        ("https://   x.example/", "https://x.example/"),
        ("  https://x.example/  ", "https://x.example/"),
        ("https://x.example/%C3%B6?a=1&b=%2F", "https://x.example/%C3%B6?a=1&b=%2F"),
        ("hermes://docs/ä b.md", "hermes://docs/ä b.md"),
        ("file:///tmp/ä", "file:///tmp/ä"),
        ("http://[bad", "http://[bad"),
    ],
)
def test_an_address_is_sent_in_ascii(given, sent):
    assert spelled(given) == sent


@given(st.text(max_size=40))
def test_any_text_can_be_spelled_and_judged(text):
    for url in (text, f"https://{text}", f"https://x.example/{text}"):
        spelled(url)
        same(url)
        canonical(url)
        Gate().judge(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/?k=sk-abcdefghijklmnop1234",
        "https://x.example/?k=sk%2Dabcdefghijklmnop1234",
        "https://x.example/?k=%73%6B-abcdefghijklmnop1234",
        "https://x.example/ghp_0123456789abcdefABCD",
        "https://x.example/?t=xoxb-1234567890-abcdef",
        "https://x.example/AIzaSyA0123456789012345678901234567890",
        "https://x.example/AKIAIOSFODNN7EXAMPLE",
        "https://x.example/tvly-dev-0123456789ab",
        "https://x.example/#hf_0123456789abcdefgh",
        "hermes://docs/sk-abcdefghijklmnop1234",
    ],
)
def test_an_address_with_a_key_in_it_is_refused(url):
    assert "key or a token" in Gate().judge(url).reason


def test_an_address_with_a_secret_of_ours_is_refused():
    assert Gate(lambda text: "hunter22" in text).judge("https://x.example/?p=hunter%32%32")


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/task-force-of-the-year",
        "https://x.example/disk-space-and-more-of-it",
        "https://x.example/?code=4f3e&key=abc&sig=1",
        "https://x.example/?X-Amz-Signature=0123456789abcdef",
        "https://x.example/a@b",
        "https://x.example/sk-short",
    ],
)
def test_ordinary_and_signed_addresses_pass(url):
    assert Gate().judge(url) is None


@pytest.mark.parametrize(
    "url", ["https://user:pass@x.example/", "https://user@x.example/", "https://:@x.example/"]
)
def test_user_names_and_passwords_are_not_passed_on(url):
    assert "user name" in Gate().judge(url).reason


@pytest.mark.parametrize("url", ["https://", "http:///path", "http://[bad"])
def test_what_names_no_host_is_refused(url):
    assert Gate().judge(url)


@pytest.mark.parametrize(
    ("url", "rule", "is_blocked"),
    [
        ("https://bad.example/x", "bad.example", True),
        ("https://a.bad.example/", "bad.example", True),
        ("https://a.bad.example/", "*.bad.example", True),
        ("https://bad.example/", "*.bad.example", False),
        ("https://notbad.example/", "bad.example", False),
        ("https://BAD.example./", "https://www.bad.example/path", True),
    ],
)
def test_blocked_sites_are_refused_with_their_rule(url, rule, is_blocked):
    refusal = Gate(rules=((rule, "config"),)).judge(url)
    assert (refusal is not None) == is_blocked
    if refusal:
        assert (refusal.blocked.rule, refusal.blocked.source) == (rule, "config")


def test_a_shared_file_of_blocked_sites_is_read_again_when_it_changes(tmp_path):
    shared = tmp_path / "shared.txt"
    config = {"website_blocklist": {"domains": ["own.example"], "shared_files": ["shared.txt", "none.txt"]}}
    (tmp_path / "config.yaml").write_text(json.dumps({"security": config}))
    services = Services(load({"HERMES_HOME": str(tmp_path)}))
    gate, guard = services.web_parts.kernel._gate, services._guard

    def is_blocked(host):
        by_gate, by_guard = gate.blocked(host), guard.why_not(f"https://{host}/")
        assert bool(by_gate) == bool(by_guard)
        return by_gate.source if by_gate else None

    assert [is_blocked(host) for host in ("own.example", "a.example")] == ["config", None]
    shared.write_text("a.example  # a comment\n\n*.b.example\n")
    assert [is_blocked(host) for host in ("a.example", "x.b.example")] == ["shared.txt"] * 2
    shared.write_text("c.example\n")
    assert [is_blocked(host) for host in ("a.example", "c.example")] == [None, "shared.txt"]
    shared.unlink()
    assert [is_blocked(host) for host in ("c.example", "own.example")] == [None, "config"]
    asyncio.run(services.close())


def test_where_an_address_leads_is_judged_last():
    gate = Gate(admit=lambda url: "it is private" if "10.0.0.1" in url else None)
    assert gate.judge("http://10.0.0.1/").reason == "it is private"
    assert gate.judge("http://x.example/") is None


@pytest.mark.parametrize(
    "other",
    [
        "http://x.example/a",
        "https://www.x.example/a/",
        "https://X.example:443/a?utm_source=n&utm_medium=m",
        "https://x.example/a#part",
        "https://x.example/a?fbclid=1",
    ],
)
def test_one_page_has_one_canonical_address(other):
    assert canonical(other) == canonical("https://x.example/a")


@given(odd_addresses)
def test_a_plain_address_is_what_taking_it_apart_gives(url):
    assert canonical(url) == addresses._canonical(url)


@pytest.mark.parametrize("tail", ["", "?q=1", "#part", "?u=https://y.example/ä b"])
@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://x.example", "x.example"),
        ("http://www.x.example/", "x.example"),
        ("https://x.example/a/b.html", "x.example/a/b.html"),
        ("https://x.example/a//", "x.example/a"),
        ("https://x.example//a", "x.example//a"),
    ],
)
def test_the_place_of_a_plain_address_is_its_host_and_path(url, place, tail):
    assert matcher(PLAIN_PLACE)(url + tail)[1] == place


@pytest.mark.parametrize(
    "url",
    [
        "https://X.example/a",
        "https://x.example:443/a",
        "https://you@x.example/a",
        "https://x.example./a",
        "https://www./a",
        "https://[::1]/a",
        "https://ä.example/a",
        "https://x.example/ä",
        "https://x.example/a|b",
        "https://x.example/a b",
        "https://x.example/a\n",
        "https:///a",
        "ftp://x.example/a",
        " https://x.example/a",
    ],
)
def test_any_other_address_has_no_plain_place(url):
    assert matcher(PLAIN_PLACE)(url) is None


@pytest.mark.parametrize("part", ["/", "a", "a/", "www.", "-."])
def test_a_long_address_is_told_apart_in_no_time(part):
    began = time.process_time()
    for end in ("", "|", "\n"):
        canonical(f"https://{part * 50_000}{end}")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "other", ["https://x.example/b", "https://x.example/a?id=2", "https://x.example:8443/a"]
)
def test_other_pages_have_others(other):
    assert canonical(other) != canonical("https://x.example/a")
