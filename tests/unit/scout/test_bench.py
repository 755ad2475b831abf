import json

import pytest
from bench import fit_scout, scout

ARTICLE = (
    "# Bridge\n\nThe Harbour Bridge was designed by Ellen Marsh. It opened in 1931.\n\nIt is painted grey."
)
QUESTIONS = [
    {
        "id": "1",
        "question": "Who designed the Harbour Bridge?",
        "answers": ["Ellen Marsh"],
        "article": "Bridge",
    },
    {"id": "2", "question": "Who designed the tunnel in Peru?", "answers": [], "article": "Bridge"},
    {"id": "3", "question": "How is onion soup made?", "answers": ["slowly"], "article": "Soup"},
]


@pytest.fixture
def data(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "Bridge.md").write_text(ARTICLE)
    (tmp_path / "corpus" / "Soup.md").write_text("# Soup\n\nOnion soup is made by cooking onions slowly.")
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    return tmp_path


def test_every_question_is_taken_through_search_reading_and_answer(data, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench.scout", str(data)])
    scout.main()
    *table, line = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["first"], found["three"], found["article_cited"]) == (1.0, 1.0, 1.0)
    assert (found["abstained_answerable"], found["abstained_unanswerable"]) == (0.0, 1.0)
    assert any(row.startswith("three") for row in table)


def test_the_limit_and_the_bare_line(data, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench.scout", str(data), "--limit", "1", "--json"])
    scout.main()
    assert json.loads(capsys.readouterr().out)["questions"] == 1


def test_answers_are_compared_without_articles_and_punctuation():
    assert scout.holds("It was The Ellen-Marsh, in 1931.", ["Ellen Marsh"]) is False
    assert scout.holds("It was a 'Marsh' in 1931.", ["the Marsh"])
    assert not scout.holds("Marshes in 1931", ["Marsh"])


def test_the_opening_of_a_reply_counts_sentences_and_no_marks():
    text = "One is here. [1] Two is there. [2]\nThree. [1]"
    assert scout.opening(text, 1) == "One is here."
    assert scout.opening(text, 2) == "One is here. Two is there."


def test_fitting_learns_from_the_questions(data, monkeypatch):
    monkeypatch.setattr(fit_scout, "STEPS", 20)
    corpus, questions = scout.load(str(data))
    shelf = fit_scout.library(tuple((page.title, page.text) for page in corpus))
    examples = [
        fit_scout.example(asked, shelf, [page.name for page in corpus])
        for asked in questions
        if asked.answers
    ]
    weights = fit_scout.fit(examples)
    assert dict(zip(fit_scout.NAMES, weights, strict=True))["cover"] > 0
    assert fit_scout.measure(weights, examples) == (2, 2, 2)
