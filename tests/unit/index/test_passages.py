"""Documents are cut so that a passage can be read alone."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.index.excerpt import LENGTH, excerpt
from hermes.index.passages import LONG, LONG_CODE, SHORT, cut, first_heading


def test_a_passage_carries_the_path_of_headings_above_it():
    found = cut("# A\n\nin a\n\n## B\n\nin b\n\n### C\n\nin c\n\n## D\n\nin d")
    assert [(passage.heading, passage.body) for passage in found] == [
        ("A", "in a"),
        ("A > B", "in b"),
        ("A > B > C", "in c"),
        ("A > D", "in d"),
    ]


def test_a_skipped_heading_level_leaves_no_gap():
    assert [passage.heading for passage in cut("# A\n\n### C\n\nx\n\n## B\n\ny")] == ["A > C", "A > B"]


def test_short_paragraphs_share_a_passage_and_long_ones_do_not():
    short = "\n\n".join(["word " * 30] * 8)
    assert [SHORT <= len(passage.body) <= LONG for passage in cut(short)] == [True, True]
    long = "\n\n".join(["word " * 140] * 3)
    assert len(cut(long)) == 3


def test_an_overlong_paragraph_is_cut_at_sentences():
    found = cut("This sentence is about as long as any other. " * 100)
    assert len(found) > 3
    assert all(passage.body.endswith(".") and len(passage.body) <= LONG for passage in found)


def test_fenced_code_stays_whole_and_its_comments_are_no_headings():
    code = "```python\n" + "# a comment\n\nprint(1)\n" * 60 + "```"
    found = cut(f"# T\n\nbefore\n\n{code}\n\nafter")
    holding = [passage for passage in found if "print" in passage.body]
    assert len(holding) == 1
    assert holding[0].heading == "T"
    assert code in holding[0].body


def test_endless_code_and_endless_words_are_cut_all_the_same():
    assert max(len(passage.body) for passage in cut("```\n" + "x = 1\n" * 5_000)) <= LONG_CODE
    assert max(len(passage.body) for passage in cut("x" * 100_000)) <= LONG


@given(st.text(alphabet="ab #`~\n.漢。", max_size=3_000))
def test_no_letter_is_lost(text):
    kept = "".join(f"{passage.heading}{passage.body}" for passage in cut(text))
    outside_headings = [line for line in text.split("\n") if not line.startswith("#")]
    assert kept.count("漢") >= sum(line.count("漢") for line in outside_headings)


def test_the_first_heading_is_not_one_inside_code():
    assert first_heading("```\n# no\n```\n\n## Yes ##\n\n# later") == "Yes"
    assert first_heading("plain") == ""


def test_an_excerpt_starts_at_the_sentence_that_tells_most():
    text = "Nothing is here. " * 40 + "The boiler makes steam for engines. " + "Nothing again. " * 40
    found = excerpt(text, ("boiler", "steam", "engine"))
    assert "The boiler makes steam" in found
    assert len(found) <= LENGTH
    assert not found.endswith(" ")
    assert text[text.index(found) + len(found)] == " "


def test_an_excerpt_of_chinese_shows_the_pair_that_was_found():
    text = "这里没有什么。" * 100 + "长城很长。" + "这里没有什么。" * 100
    assert "长城" in excerpt(text, ("长城",))


@given(st.text(max_size=2_000), st.lists(st.text(max_size=8)))
def test_an_excerpt_is_part_of_its_text(text, words):
    found = excerpt(text, words)
    assert found in text
    assert len(found) <= LENGTH
