import pytest

from hermes.providers.scout.library import EXACT, library
from hermes.providers.scout.question import analyse
from hermes.providers.scout.rank import candidates, features, lay, rank
from hermes.providers.scout.weights import BY_HAND, LEARNED, WEIGHTS
from hermes.ranking.words import term

BRIDGE = """\
# Harbour Bridge

The Harbour Bridge is a steel arch across the bay. It was designed by Ellen Marsh. Work began in 1923 and took
eight years. Cars pay 4 dollars to cross.

## Paint

The bridge is painted grey because that was the only colour in supply. Twelve painters work on it all year.

Is the bridge painted every year?
"""
OTHER = "# Soup\n\nA soup is a liquid dish. Onion soup was invented by a cook named Pierre in 1950."


def best(question, pages=(("Harbour Bridge", BRIDGE), ("Soup", OTHER))):
    shelf = library(pages)
    return [shelf.sentences[scored.number].text for scored in rank(lay(analyse(question), shelf), WEIGHTS)]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Who designed the Harbour Bridge?", "It was designed by Ellen Marsh."),
        ("When did work on the Harbour Bridge begin?", "Work began in 1923"),
        ("Why is the bridge painted grey?", "The bridge is painted grey because"),
        ("How many painters are employed on the bridge?", "Twelve painters"),
        ("What is the Harbour Bridge?", "The Harbour Bridge is a steel arch"),
        ("How much does it cost to cross the bridge by car?", "Cars pay 4 dollars"),
        ("Who was the inventor of onion soup?", "Onion soup was invented"),
        ("who designed the harbuor bridge", "It was designed by Ellen Marsh."),
    ],
)
def test_the_sentence_that_answers_comes_first(question, start):
    assert best(question)[0].startswith(start)


def test_a_sentence_that_asks_is_no_answer():
    assert best("Is the bridge painted every year?")[0] != "Is the bridge painted every year?"


def test_nothing_in_common_gives_nothing():
    assert best("Quantum chromodynamics?") == []
    assert best("anything", ()) == []


def test_other_scripts_are_matched_by_pairs_of_characters():
    page = "東京タワーは1958年に完成した。富士山は日本で一番高い山である。"
    assert best("富士山の高さは", (("", page),))[0].startswith("富士山")


def test_kin_are_found_and_weaker_than_the_word_itself():
    shelf = library((("", "The inventor sold it. They bought bread. An invention. Constantinople fell."),))
    akin = shelf.akin(term("invention"))
    assert akin[term("invention")] == EXACT
    assert 0 < akin[term("inventor")] < EXACT
    assert 0 < shelf.akin(term("purchase"))[term("bought")] < EXACT
    assert term("Constantinople") in shelf.akin(term("Constantinpole"))
    assert shelf.akin("zzzzzz") == {}


def test_rare_terms_weigh_more():
    shelf = library((("", "A cat. A cat. A cat. A dog."),))
    assert shelf.rarity([("dog", EXACT)]) > shelf.rarity([("cat", EXACT)]) > 0


def test_neighbours_stay_on_their_page_and_blocks_in_their_paragraph():
    shelf = library((("a", "One. Two.\n\nThree."), ("b", "Four.")))
    assert [shelf.neighbour(number, 1) for number in range(4)] == [1, 2, None, None]
    assert [list(block) for block in shelf.blocks] == [[0, 1], [0, 1], [2], [3]]


def test_every_feature_has_a_weight_and_lies_in_reach():
    shelf = library((("Harbour Bridge", BRIDGE), ("Soup", OTHER)))
    seen = set()
    for text in ("Who built it?", "When did work begin?", "Where is it?", "How many?", "Why grey?", "How?",
                 "What is soup called?", "What is soup?", "What did Ellen Marsh design?"):  # fmt: skip
        laid = lay(analyse(text), shelf)
        for number in range(len(shelf.sentences)):
            measured = features(laid, number)
            seen |= set(measured)
            assert all(-4 <= value <= 4 for value in measured.values())
    assert seen == set(WEIGHTS)
    assert not set(BY_HAND) & set(LEARNED)


def test_candidates_are_bounded_and_keep_the_defining_sentence():
    filler = "\n\n".join(f"The widget number {n} meets a widget. It is next to a widget." for n in range(200))
    shelf = library((("", f"{filler}\n\nA widget is a small part.\n\nNothing here.\n"),))
    found = candidates(lay(analyse("What is a widget?"), shelf))
    assert len(found) <= 120
    assert "A widget is a small part." in {shelf.sentences[number].text for number in found}
