import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.scout.passages import blocks, clean, read, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He came. He saw.", ["He came.", "He saw."]),
        ("Mr. J. R. Smith met Dr. Jones. They left.", ["Mr. J. R. Smith met Dr. Jones.", "They left."]),
        ("It cost 3.5 million. No more.", ["It cost 3.5 million.", "No more."]),
        ("The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        (
            "They met in Washington, D.C. The talks failed.",
            ["They met in Washington, D.C.", "The talks failed."],
        ),
        ("Milk, eggs, etc. are food, etc. The end.", ["Milk, eggs, etc. are food, etc.", "The end."]),
        ("It has vitamin D. Not much.", ["It has vitamin D.", "Not much."]),
        ('"Why?" he asked. "No!" Then he left.', ['"Why?" he asked.', '"No!"', "Then he left."]),
        ("See it (e.g. Leopold Palace). Go.", ["See it (e.g. Leopold Palace).", "Go."]),
        ("In 1939, c. 1,300 people lived there.", ["In 1939, c. 1,300 people lived there."]),
        ("Version 2.0 is out. 300 people came.", ["Version 2.0 is out.", "300 people came."]),
        ("これは水です。あれは火です。", ["これは水です。", "あれは火です。"]),
        ("  ", []),
    ],
)
def test_sentences_end_where_they_end(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("see [the *manual*](https://a.test/x_(y)) now", "see the manual now"),
        ("an image ![alt](a.png) here", "an image here"),
        ("**bold**, _slanted_ and ~~gone~~", "bold, slanted and gone"),
        ("snake_case and 2*3*4 stay", "snake_case and 2*3*4 stay"),
        ("built in 1781.[12] Later[citation needed]", "built in 1781. Later"),
        ("cited[[3]](#note) once", "cited once"),
        ("run `__init__.py` and [`a_b`](x.md)", "run `__init__.py` and `a_b`"),
        ("a<br>b <https://a.test/> c\\*d", "ab https://a.test/ c*d"),
        ("[text][ref]", "text"),
    ],
)
def test_marks_are_taken_off_and_words_stay(marked, plain):
    assert clean(marked) == plain


PAGE = """\
Guide
=====

First paragraph
on two lines. Second sentence.

## Install

To install it, run this:

```sh
make install
make check
```

- one item
- [x] another *item*

> Quoted words.

| name | value |
|------|-------|
| size | 12    |

### Deep
Last.
"""


def test_a_page_is_read_into_sentences_with_their_place():
    found = read(PAGE)
    assert [sentence.text for sentence in found] == [
        "First paragraph on two lines.", "Second sentence.", "To install it, run this:", "one item",
        "another item", "Quoted words.", "| name | value |", "| size | 12 |", "Last.",
    ]  # fmt: skip
    assert [sentence.place for sentence in found[:3]] == [0, 1, 0]
    assert found[0].block == found[1].block != found[2].block
    assert found[0].heading == "Guide"
    assert found[2].heading == "Guide / Install"
    assert found[-1].heading == "Guide / Install / Deep"


def test_a_short_block_of_code_belongs_to_the_sentence_before_it():
    found = {sentence.text: sentence.code for sentence in read(PAGE)}
    assert found["To install it, run this:"] == "make install\nmake check"
    assert found["one item"] == ""


def test_long_code_and_code_without_introduction_are_left_out():
    long = "Like this:\n\n```\n" + "x = 1\n" * 16 + "```\n"
    assert [(s.text, s.code) for s in read(long)] == [("Like this:", "")]
    assert [(s.text, s.code) for s in read("Done.\n\n```\nx\n```\n")] == [("Done.", "")]


def test_a_fence_that_never_closes_ends_with_the_page():
    found = list(blocks("Text:\n\n```\nx = 1\ny = 2"))
    assert [(block.text, block.is_code) for block in found] == [("Text:", False), ("x = 1\ny = 2\n", True)]


def test_headings_are_not_sentences():
    assert read("# Only a title\n\n## And another\n") == ()


@given(st.text(alphabet=st.sampled_from("ab. \n#*`[]()_>-|!~=1\\A<\u3042。"), max_size=200))
def test_any_page_is_read(text):
    for sentence in read(text):
        assert sentence.text.strip()
        assert len(sentence.words) == len(sentence.terms) > 0
