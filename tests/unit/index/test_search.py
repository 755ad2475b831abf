"""The document that answers comes first, with the passage that says so."""

import os

import pytest

from hermes.protocols import Page

FILLER = "Some general remarks that say little about anything in particular. " * 12


@pytest.fixture
def library(open_index, tmp_path, read):
    """An index of the given name-to-text documents."""

    def build(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
        index = open_index()
        index.add([str(tmp_path)], read)
        return index

    return build


def names(found):
    return [os.path.basename(document.url).removesuffix(".md") for document in found]


def test_the_answering_passage_decides(library):
    index = library(
        engines=f"# Engines\n\n{FILLER}\n\nThe Corliss engine used 30% less steam than Watt's.\n\n{FILLER}",
        steam="# Steam\n\n" + "Steam is water as a gas. " * 40,
        normans=f"# Normans\n\n{FILLER}",
    )
    found = index.search("How much less steam did the Corliss engine use?", 3)
    assert names(found)[0] == "engines"
    assert "30% less steam" in found[0].passage
    assert len(found[0].passage) <= 500
    assert found[0].text.startswith("# Engines")


def test_word_forms_accents_and_case_do_not_matter(library):
    index = library(a="# A\n\nThe Café ENGINES were running.", b="# B\n\nNothing.")
    for query in ("cafe", "CAFÉ", "engine", "Run"):
        assert names(index.search(query, 5)) == ["a"]


def test_a_title_or_heading_outweighs_a_mention(library):
    index = library(
        boilers="# Boilers\n\nThey hold water and are made of iron.",
        other="# Other\n\nOne boiler was mentioned in passing, made of iron.",
    )
    assert names(index.search("boilers", 2)) == ["boilers", "other"]


def test_a_quoted_phrase_prefers_words_that_stand_together(library):
    index = library(
        apart="# One\n\nThe engine of that steam ship was old.",
        together="# Two\n\nThe steam engine of that ship was old.",
    )
    assert names(index.search('"steam engine"', 2)) == ["together", "apart"]


@pytest.mark.parametrize(
    ("query", "name"), [("长城", "zh"), ("城", "zh"), ("長", "ja"), ("東京タワー", "ja"), ("한국", "ko")]
)
def test_scripts_without_spaces_are_found(library, query, name):
    index = library(
        zh="# 北京\n\n万里长城很长、有很多游客。",
        ja="# 日本\n\n昨日は東京タワーへ行きました。身長。",
        ko="# 문서\n\n한국어로 쓴 글입니다.",
        en="# English\n\nNothing else.",
    )
    assert names(index.search(query, 3))[0] == name


def test_the_limit_holds_and_odd_limits_are_harmless(library):
    index = library(**{f"d{number}": f"# D\n\ncommon word {number}" for number in range(8)})
    assert len(index.search("common", 3)) == 3
    assert list(index.search("common", 0)) == []
    assert list(index.search("common", -1)) == []
    assert len(index.search("common", 10**30)) == 8


def test_get_gives_the_whole_text_and_ignores_a_fragment(library, tmp_path):
    index = library(a="# A\n\nwhole text")
    url = index.list()[0].url
    assert index.get(url).text == "# A\n\nwhole text"
    assert index.get(f"{url}#part") == index.get(url)
    assert index.get("file:///nowhere") is None
    assert index.get("\ud800") is None
    assert index.get("x\x00y") is None


def test_a_document_with_lone_surrogates_and_nuls_is_kept(open_index, tmp_path):
    (tmp_path / "odd.md").write_text("x")
    index = open_index()
    report = index.add([str(tmp_path)], lambda _: Page("wild \ud800 and \x00 tamed", "t\udfff"))
    assert report.added == 1
    assert "tamed" in index.search("tamed", 1)[0].passage


def test_search_never_writes(library):
    index = library(a="# A\n\ntext")
    before = index._database.read(lambda connection: connection.total_changes)
    index.search("text", 1)
    assert index._database.read(lambda connection: connection.total_changes) == before
