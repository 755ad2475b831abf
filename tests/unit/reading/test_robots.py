"""What a site asks of robots, read as RFC 9309 reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.net.robots import CLOSED, Robots, parse

RULES = """
# a comment
User-agent: other
User-agent: Third/2.0
Disallow: /

User-agent: *
Disallow: /private   # not here
Disallow: /*.pdf$
Disallow: /a*z/end
Allow: /private/open
Disallow:

Sitemap: https://x.example/sitemap.xml
user-AGENT : hermes-like
Disallow: /all
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private", False),
        ("/privately", False),
        ("/private/open/x", True),
        ("/file.pdf", False),
        ("/file.pdf?x", True),
        ("/abcz/end/of", False),
        ("/abc/end", True),
        ("/all", True),
    ],
)
def test_the_longest_rule_for_everybody_decides(path, allowed):
    assert parse(RULES, "hermes").allows(path) is allowed


def test_rules_by_name_replace_those_for_everybody():
    assert not parse(RULES, "other").allows("/x")
    assert not parse(RULES, "THIRD").allows("/x")
    named = parse(RULES, "hermes-like")
    assert (named.allows("/all"), named.allows("/private")) == (False, True)


def test_groups_of_the_same_name_are_one():
    robots = parse("User-agent: a\nDisallow: /x\nUser-agent: a\nDisallow: /y", "a")
    assert [robots.allows(path) for path in ("/x", "/y", "/z")] == [False, False, True]


def test_without_rules_all_is_open_and_a_tie_is_a_yes():
    assert Robots().allows("/anything")
    assert parse("Disallow: /", "a").allows("/x")
    assert parse("User-agent: *\nDisallow: /x\nAllow: /x", "a").allows("/x")
    assert not CLOSED.allows("/anything")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*", "/x", True),
        ("*/b", "/a/b/c", True),
        ("/a*a$", "/a", False),
    ],
)
def test_stars_and_ends(pattern, path, matches):
    assert parse(f"User-agent: *\nDisallow: {pattern}", "a").allows(path) is not matches


def test_a_pattern_of_stars_takes_no_time():
    robots = parse("User-agent: *\nDisallow: /" + "*a" * 50_000, "x")
    assert robots.allows("/" + "a" * 40_000)


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_text_is_some_rules(text, path):
    assert isinstance(parse(text, "hermes").allows(path), bool)
