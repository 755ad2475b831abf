"""Feeds become a list of entries; nothing in them makes the reader work for long."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import DocumentError
from hermes.tools.web.reading.feeds import MAX_ENTRIES, read_feed

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
     xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>News &amp; views</title><link>https://n.example/</link><description>All of it</description>
<image><title>a picture</title><url>https://n.example/p.png</url></image>
<item><title>One &lt;b&gt;bold&lt;/b&gt; thing</title><link>https://n.example/1</link>
<pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate><dc:creator>Ada</dc:creator>
<description>short</description>
<content:encoded><![CDATA[<p>See <a href="/more">more</a>.</p>]]></content:encoded></item>
<item><guid>https://n.example/2</guid><description>Only words</description></item>
<item><guid>not an address</guid><title>Three</title></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atoms</title><subtitle>small</subtitle>
<link rel="self" href="https://a.example/feed"/>
<entry><title type="html">First</title><link rel="edit" href="https://a.example/e"/>
<link href="https://a.example/1"/><id>urn:1</id><updated>2026-11-01T00:00:00Z</updated>
<author><name>Ann</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Rich <title>odd</title> text</p></div>
</content>
</entry></feed>"""


def test_an_rss_feed_is_a_list_of_linked_entries():
    page = read_feed(RSS, "https://n.example/feed")
    assert page.title == "News & views"
    assert page.markdown == (
        "# News & views\n\nAll of it\n\n"
        "## [One **bold** thing](https://n.example/1)\n\nMon, 02 Nov 2026 10:00:00 GMT, Ada\n\n"
        "See [more](https://n.example/more).\n\n"
        "## [Untitled](https://n.example/2)\n\nOnly words\n\n"
        "## Three"
    )
    assert page.notes == ()


def test_an_atom_feed_is_one_too():
    markdown = read_feed(ATOM, "https://a.example/").markdown
    assert "# Atoms\n\nsmall" in markdown
    assert "## [First](https://a.example/1)\n\n2026-11-01T00:00:00Z, Ann\n\nRich odd text" in markdown


def test_an_rdf_feed_is_one_too():
    rdf = (
        '<rdf:RDF xmlns:rdf="r" xmlns="s"><channel><title>Old</title></channel>'
        "<item><title>T</title><link>https://o.example/</link></item></rdf:RDF>"
    )
    assert read_feed(rdf, "").markdown == "# Old\n\n## [T](https://o.example/)"


def test_a_broken_feed_gives_what_came_before_the_break():
    page = read_feed(RSS.replace("Only words", "Only &nbsp; words"), "")
    assert "One **bold** thing" in page.markdown
    assert "broken at line" in page.notes[0]
    with pytest.raises(DocumentError, match="broken feed"):
        read_feed("<rss><channel><title>x</wrong>", "")


def test_a_feed_without_end_is_cut_and_says_so():
    many = "".join(f"<item><title>T{n}</title></item>" for n in range(10 * MAX_ENTRIES))
    page = read_feed(f"<rss><channel>{many}</channel></rss>", "")
    assert page.markdown.count("## ") == MAX_ENTRIES
    assert page.notes == (f"only the first {MAX_ENTRIES} entries are given",)


LAUGHS = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!ENTITY e0 "ha">{LAUGHS}',
        '<!ENTITY e9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % e9 SYSTEM "http://127.0.0.1/x.dtd">',
    ],
)
def test_entities_are_neither_expanded_nor_fetched(declared):
    with pytest.raises(DocumentError, match="entities"):
        read_feed(f"<!DOCTYPE rss [{declared}]><rss><channel><title>&e9;</title></channel></rss>", "")


def test_deep_nesting_is_refused():
    with pytest.raises(DocumentError, match="deeply"):
        read_feed("<rss>" + "<a>" * 100_000, "")


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "<rss>",
                    "<channel>",
                    "<item>",
                    "</item>",
                    "<title>",
                    "</title>",
                    "<link/>",
                    "<link href='x'/>",
                ),
                *(
                    "<entry>",
                    "</entry>",
                    "<content>",
                    "</content>",
                    "text",
                    "&amp;",
                    "&#0;",
                    "<![CDATA[<p>]]>",
                ),
            ]
        ),
        max_size=30,
    )
)
def test_any_pieces_of_a_feed_give_a_page_or_a_reason(pieces):
    with suppress(DocumentError):
        assert isinstance(read_feed("<rss>" + "".join(pieces), "").markdown, str)
