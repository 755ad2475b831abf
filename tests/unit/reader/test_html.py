"""A page becomes the Markdown of what people came for."""

import pytest

import hermes
from hermes.tools.web.reader.html import examine, read_html

URL = "https://example.org/dir/page"


def markdown(html: str, url: str = URL) -> str:
    return read_html(html, url).markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>One</h1><h3> Two\n <em>x</em></h3>", "# One\n\n### Two *x*"),
        ("<p>a\n  b</p><p>c<br>d</p>", "a b\n\nc\nd"),
        ("a<div>b<div>c</div>d</div>e", "a\n\nb\n\nc\n\nd\n\ne"),
        (
            "<p>x <b>bold </b>y <i> it</i> <s>no</s> <strong><b>twice</b></strong></p>",
            "x **bold** y *it* ~~no~~ **twice**",
        ),
        ("<p>use <code>a`b</code> or <kbd>x</kbd><code>`</code></p>", "use ``a`b`` or `x``` ` ``"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        ("<ol start=x><li><p>a</p><p>b</p></li></ol>", "1. a\n\n   b"),
        ("<ul><li>x</li><ul><li>a</ul></ul>", "- x\n  - a"),
        ("<li>alone</li>", "- alone"),
        ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        ("<pre><code class='language-Python'>if x:\n    y\n</code></pre>", "```python\nif x:\n    y\n```"),
        ("<div class='highlight-source-js'><pre>a</pre></div>", "```js\na\n```"),
        ("<pre>a ``` b</pre>", "````\na ``` b\n````"),
        ("<pre>one<br>two <b>three</b></pre>", "```\none\ntwo three\n```"),
        ("<dl><dt>t<dd>d</dl>", "**t**\n\nd"),
        ("<p>x <math alttext='a^2'><mi>a</mi></math> y</p>", "x $a^2$ y"),
        (
            "<math><semantics><mi>a</mi><annotation encoding='application/x-tex'>a^2</annotation>",
            "$a^2$",
        ),
        ("<p>x <b><math><mi>a</mi></math> y</b> z</p>", "x **a y** z"),
        ("<p>x <script type='math/tex'>a^2</script> y</p>", "x $a^2$ y"),
        ("<pre><div>one</div><div>  two</div></pre>", "```\none\n  two\n```"),
        ("<p>he said <q>yes</q></p>", "he said “yes”"),
        ("a&nbsp;b &lt;c&gt; &#x1F642;", "a b <c> 🙂"),
    ],
)
def test_elements(html, expected):
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><th>a<th>b<tr><td>1<td>2|3</table>", "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"),
        (
            "<table><caption>C</caption><tr><th colspan=2>a</tr><tr><td><p>1</p><p>2</p><td>x</table>",
            "C\n\n| a |  |\n| --- | --- |\n| 1 2 | x |",
        ),
        ("<table><tr><td>only<tr><td>column</table>", "only\n\ncolumn"),
        ("<table><tr><td>a<td><pre>code</pre></table>", "a\n\n```\ncode\n```"),
        (
            "<table><tr><td>menu<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
            "menu\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<table><tr><td><tr></table>x", "x"),
    ],
)
def test_tables_of_data_are_pipes_and_tables_of_layout_are_not(html, expected):
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href='/x y(1)'>t</a>", "[t](https://example.org/x%20y%281%29)"),
        ("<a href='sub?q=1#f'>t</a>", "[t](https://example.org/dir/sub?q=1#f)"),
        ("<a href='mailto:a@b.org'>t</a>", "[t](mailto:a@b.org)"),
        ("<a href='javascript:alert(1)'>t</a>", "t"),
        ("<a href=' JaVaScRiPt:alert(1)'>t</a>", "t"),
        ("<a href='java\nscript:alert(1)'>t</a>", "t"),
        ("<a href='data:text/html,x'>t</a><a href='file:///etc'>u</a>", "tu"),
        ("<a href='http://[bad'>t</a>", "t"),
        ("<a href='#here'>t</a><a>u</a>", "[t](https://example.org/dir/page#here)u"),
        ("<h2>Title<a href='#t'>¶</a></h2>", "## Title"),
        (
            "<a href='/c'><h3>Card</h3><p>text</p></a>",
            "### [Card](https://example.org/c)\n\n[text](https://example.org/c)",
        ),
        ("<p>x<a href='/c'> t </a>y</p>", "x [t](https://example.org/c) y"),
        ("x <img src='/i.png' alt='a  b'>", "x ![a b](https://example.org/i.png)"),
        ("x <img src='data:image/png;base64,AAAA' alt='pic'>", "x [IMAGE: pic]"),
        ("x <img src='data:x' data-src='/real.png' alt='y'>", "x ![y](https://example.org/real.png)"),
        ("<img src='/pixel.gif' width=1 height=1>x", "x"),
        ("<base href='/other/'><a href='x'>t</a>", "[t](https://example.org/other/x)"),
    ],
)
def test_addresses_are_absolute_and_only_those_one_may_follow(html, expected):
    assert markdown(html) == expected


def test_without_a_url_relative_addresses_stay():
    assert markdown("<a href='x/y'>t</a> <a href='//h/z'>u</a>", "") == "[t](x/y) [u](//h/z)"


@pytest.mark.parametrize(
    "noise",
    [
        "<script>NOISE</script>",
        "<style>NOISE</style>",
        "<template>NOISE</template>",
        "<nav>NOISE</nav>",
        "<footer>NOISE</footer>",
        "<aside>NOISE</aside>",
        "<div role=navigation>NOISE</div>",
        "<button>NOISE</button><select><option>NOISE</select><textarea>NOISE</textarea>",
        "<svg><text>NOISE</text></svg>",
        "<iframe>NOISE</iframe>",
        "<p hidden>NOISE</p>",
        "<p aria-hidden=true>NOISE</p>",
        "<p style='color:red; DISPLAY : none'>NOISE</p>",
        "<div style='visibility:hidden'><p>NOISE</p></div>",
        "<p style='color:#fff; background: #FFF'>NOISE</p>",
        "<p style='background-color:white;margin:0;color:white'>NOISE</p>",
        "<p style='font-size:0px'>NOISE</p>",
        "<p style='opacity: 0.0; color: red'>NOISE</p>",
        "<!-- NOISE -->",
        "<noscript>NOISE</noscript>",
        "<nav><aside hidden>NOISE</aside></nav>",
        "<p><b hidden>NOISE</b><my-tag hidden>NOISE</my-tag></p>",
    ],
)
def test_what_is_not_content_is_left_out(noise):
    assert markdown(f"<p>content</p>{noise}<p>more</p>") == "content\n\nmore"


@pytest.mark.parametrize(
    "style", ["color:#fff;background:#000", "opacity:0.5", "font-size:0.8em", "border-color:red;color:red"]
)
def test_what_can_be_seen_is_kept(style):
    assert markdown(f"<p style='{style}'>content</p>") == "content"


PROSE = "<p>The harbour was dredged in spring, and the ferries have kept to their old timetable since.</p>"


def test_menus_and_footers_of_a_page_are_not_judged_but_told():
    html = f"<nav><a href=/>Home</a> <b hidden>x</b></nav>{PROSE * 5}<footer><p>Imprint<p>Contact</footer>"
    reading = examine(html)
    assert reading.frames == ("Home", "Imprint", "Contact")
    assert not {"Home", "Imprint", "Contact"} & {text for _, text in reading.dropped}
    assert reading.page.markdown.count("harbour") == 5
    assert reading.page == read_html(html)


@pytest.mark.parametrize(
    "html",
    [
        f"{PROSE * 5}<nav><a href=/>Home</a><h1>The ferry</h1><p>Content goes on.</p>",
        f"{PROSE * 5}<nav><a href=/>Home</a><article><p>Content goes on.</p></article>",
        f"{PROSE * 5}<nav><a href=/>Home</a>{PROSE * 3}<p>Content goes on.</p>",
        f"<main>{PROSE * 5}<footer>Content goes on.</footer></main>",
        f"{PROSE * 5}<blockquote><p>To the sea.</p><footer>Content goes on.</footer></blockquote>",
    ],
    ids=["with-a-title", "with-an-article", "with-paragraphs", "of-the-content", "of-a-quote"],
)
def test_a_menu_or_footer_around_or_inside_of_the_content_is_judged(html):
    reading = examine(html)
    assert reading.frames == ()
    assert any("Content goes on." in text for text in (*reading.kept, *(text for _, text in reading.dropped)))


def test_a_page_that_is_little_else_than_its_menu_is_judged_with_it():
    reading = examine("<nav><a href=/a>First</a></nav><p>Hello.</p><footer>Imprint</footer>")
    assert (reading.frames, reading.kept) == ((), ("Hello.",))
    assert [text for _, text in reading.dropped] == ["First", "Imprint"]


def test_text_for_those_without_scripts_is_kept_when_there_is_no_other():
    page = read_html("<body><div id=app></div><noscript><p>Turn <b>on</b> scripts</p></noscript></body>")
    assert page.markdown == "Turn **on** scripts"


def test_hidden_text_is_left_out_unless_it_waits_for_a_click_or_is_the_page():
    text = "".join(
        f"<p>Sentence number {n} of the visible text goes on for a while here.</p>" for n in range(9)
    )
    assert "SECRET" not in markdown(f"{text}<p hidden>SECRET sentence that nobody who looks ever sees.</p>")
    assert "SECRET" not in markdown(f"<p>{text}<span style='display:none'>SECRET</span> end</p>")
    whole = f"<p>Loading</p><div style='visibility: hidden'>{text}</div>"
    assert "number 8" in markdown(whole)


def test_pictures_between_kept_text_are_kept():
    html = (
        "<p>One line of text.</p><figure><img src=/a.png alt='A plan'></figure><p>Another line of text.</p>"
    )
    assert markdown(html).split("\n\n")[1] == "![A plan](https://example.org/a.png)"


def test_a_picture_is_not_described_in_words_that_the_text_has_anyway():
    html = "<h1>Red shoes</h1><p>Made of <b>leather</b>. <img src=/a.png alt='Leather shoes, red'></p>"
    assert markdown(html).endswith("![](https://example.org/a.png)")
    assert markdown(html.replace("red'", "worn'")).endswith(
        "![Leather shoes, worn](https://example.org/a.png)"
    )


def test_empty_cells_keep_their_column():
    html = "<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3</table>"
    assert markdown(html).splitlines()[2] == "| 1 |  | 3 |"


def test_a_page_of_decoration_only_is_given_whole_and_said():
    page = read_html("<body><nav><a href='/a'>One</a></nav><p hidden>secret</p></body>", URL)
    assert page.markdown == "[One](https://example.org/a)"
    assert page.notes == ("no main text was found; the whole page is given",)


@pytest.mark.parametrize(
    ("html", "note"),
    [
        ("", "the page has no text"),
        ("<body><div></div>", "the page has no text"),
        (
            "<link rel=stylesheet href=x><p>Menu" + "<section><div class=dots></div></section>" * 200,
            "scripts fill this page",
        ),
        ("<p>Loading<script>run()</script>", "scripts fill this page"),
    ],
)
def test_a_page_of_next_to_no_text_is_said_to_be_one(html, note):
    assert [told for told in read_html(html).notes if note in told]


def test_a_shell_that_asks_for_scripts_has_no_text_of_its_own():
    told = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    page = read_html(f"{told}<div id=root></div><script></script>")
    assert page.markdown == ""
    assert page.notes == ("scripts fill this page; its text is not in the HTML",)


def test_a_shell_whose_place_for_scripts_is_empty_has_no_content():
    page = read_html("<div id=root></div><p>We use cookies to make this site better.</p><script></script>")
    assert page.markdown == ""
    assert page.notes == ("scripts fill this page; its text is not in the HTML",)


def test_short_text_that_a_script_was_sent_with_is_kept():
    page = read_html("<div id=root><h1>Opening hours</h1><p>Nine to five.</p></div><script></script>")
    assert "Nine to five." in page.markdown


_SAID = "<p>A sentence that stands on the page, whatever the page is, and goes on for a while.</p>"


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found",
        "Error 404 (Not Found)!!1",
        "Page not found | Acme",
        "Oops! That page can\u2019t be found. - Blog",
        "Sorry, we couldn't find that page",
        "The page you were looking for doesn't exist (404)",
        "ERROR: The request could not be satisfied",
        "502 Bad Gateway",
        "Just a moment...",
        "Access Denied",
        "Attention Required! | Cloudflare",
        "Verifying you are human. This may take a few seconds.",
        "Robot or human?",
    ],
)
def test_an_error_or_a_wall_is_no_content_and_its_note_says_what_it_says(title):
    page = read_html(f"<title>{title}</title><h1>{title}</h1>{_SAID}")
    assert page.markdown == ""
    assert [note for note in page.notes if note.startswith("this looks like") and title in note]


@pytest.mark.parametrize(
    "title",
    [
        "404 page not found after migrating to nginx - Forum",
        "How to fix a 404 error",
        "Security check: what to expect at the airport",
        "Access denied: the story of a hacker",
        "The missing article",
        "Found objects",
    ],
)
def test_a_page_about_errors_and_walls_keeps_its_text(title):
    assert "A sentence that stands" in read_html(f"<title>{title}</title><h1>{title}</h1>{_SAID}").markdown


def test_a_manual_page_about_an_error_keeps_its_text():
    page = read_html(f"<title>404 Not Found - HTTP</title><h1>404 Not Found</h1>{_SAID * 6}")
    assert "A sentence that stands" in page.markdown


def test_what_is_known_about_the_page():
    page = read_html(
        """<html lang=en-GB><head><title> The
        title </title><meta name="Description" content="about"><meta name=author content="A. Writer">
        <meta property="article:published_time" content="2026-01-02">
        <meta property="og:site_name" content="Site">
        <link rel=canonical href="/canon"></head><body><p>x</p></body></html>""",
        URL,
    )
    assert page.title == "The title"
    assert page.metadata == {
        "lang": "en-GB",
        "description": "about",
        "author": "A. Writer",
        "date": "2026-01-02",
        "site": "Site",
        "canonical": "https://example.org/canon",
    }
    assert page.notes == ()


def test_structured_data_and_bylines_fill_what_the_head_lacks():
    data = '{"author":[{"@type":"Person","name":"Jos\\u00e9 P"}],"datePublished":"2026-03-04"}'
    page = read_html(f"<script type='application/ld+json'>{data}</script><p>x</p>", URL)
    assert (page.metadata["author"], page.metadata["date"]) == ("José P", "2026-03-04")
    page = read_html(
        "<p class=byline>By A. Writer</p><time datetime=2026-05-06T10:00>May</time><p>x</p>", URL
    )
    assert (page.metadata["author"], page.metadata["date"]) == ("A. Writer", "2026-05-06T10:00")


def test_the_title_comes_from_the_best_source():
    assert read_html('<title>t | Site</title><meta property="og:title" content="t">').title == "t"
    assert read_html("<h1>only <b>this</b></h1>").title == "only this"
    assert read_html("<p>none").title == ""


def test_invisible_characters_that_hide_or_reorder_text_are_dropped():
    assert markdown("<p>a&#x202E;b&#x200B;c&shy;d&#xE0041;e&#x1b;[0m</p>") == "abcde[0m"


def test_text_and_bytes_read_the_same_and_the_public_name_is_ours():
    html = "<p>é ß</p>"
    assert hermes.read_html is read_html
    assert read_html(html) == read_html(html.encode()) == read_html(html.encode("cp1252"))
    assert read_html("").markdown == read_html(b"").markdown == ""
