import pytest

from hermes.cli._harmless import harmless


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("plain *words* [1]", "plain *words* [1]"),
        ("![a](http://evil.example/?q=1)", "!\\[a](http://evil.example/?q=1)"),
        ("![a][1]\n\n[1]: http://evil.example/", "!\\[a][1]\n\n\\[1]: http://evil.example/"),
        ('<img src="http://evil.example/">', '&lt;img src="http://evil.example/">'),
        ("<!-- x --><style>a{background:url(//b)}", "&lt;!-- x -->&lt;style>a{background:url(//b)}"),
        ("<https://evil.example/>", "<https://evil.example/>"),
        ("see [here](https://evil.example/?q=1)", "see [here](https://evil.example/?q=1) (evil.example)"),
        ("[good.example](https://evil.example/)", "[good.example](https://evil.example/) (evil.example)"),
        ("[evil.example](https://evil.example/a)", "[evil.example](https://evil.example/a)"),
        ("`![a](b) <i>`", "`![a](b) <i>`"),
        ("```html\n<img>\n```\n<img>", "```html\n<img>\n```\n&lt;img>"),
        ("1 < 2 and 3<4", "1 < 2 and 3<4"),
    ],
)
def test_a_document_fetches_nothing_and_shows_where_its_links_lead(said, written):
    assert harmless(said) == written
