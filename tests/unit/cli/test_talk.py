"""What a conversation at a terminal is made of: files in a question, what was typed before, completion."""

import os
import stat

import pytest

from hermes.cli._held import Held
from hermes.cli._talk.attach import LARGEST, attach
from hermes.cli._talk.completion import Completions, Offer, paths
from hermes.cli._talk.past import KEPT, Past
from hermes.errors import UsageError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("```\nmilk\n```\n")
    (tmp_path / "two words.txt").write_text("eggs")
    (tmp_path / "pic.PNG").write_bytes(PNG)
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    (tmp_path / "big.txt").write_text("x" * (LARGEST + 1))
    (tmp_path / "sub").mkdir()
    return tmp_path


def test_a_file_goes_into_the_question_behind_a_fence_that_it_cannot_leave(folder):
    made = attach('see @notes.md, and @"two words.txt".', lambda text: text.replace("eggs", "[redacted]"))
    assert made.question == (
        'see @notes.md, and @"two words.txt".\n\n`notes.md`:\n\n````\n```\nmilk\n```\n````'
        "\n\n`two words.txt`:\n\n```\n[redacted]\n```"
    )
    assert (made.images, made.names) == ((), ("notes.md", "two words.txt"))


@pytest.mark.parametrize(
    "typed", ["@pic.PNG", "see ./pic.PNG.", "'{folder}/pic.PNG' what is it?", "@./pic.PNG"]
)
def test_a_picture_is_shown_by_its_path(folder, typed):
    made = attach(typed.format(folder=folder), str)
    assert [image.media_type for image in made.images] == ["image/png"]
    assert "PNG" in made.question


@pytest.mark.parametrize(
    "typed", ["what did @nasa say?", "mail me@x.org", "a @ b", "see /etc/none.png", "@v1.2?"]
)
def test_what_is_no_file_stays_a_word(folder, typed):
    assert attach(typed, str).question == typed


def test_a_word_that_looks_like_a_missing_file_is_told_and_stays(folder):
    made = attach("compare @none.md, @nasa and @v1.2", str)
    assert (made.question, made.missing) == ("compare @none.md, @nasa and @v1.2", ("none.md",))


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("@sub/none.md", "there is no file `sub/none.md`"),
        ('@"no such"', "there is no file `no such`"),
        ("@sub", "`sub` is a folder"),
        ("@data.bin", "`data.bin` is not UTF-8 text"),
        ("@big.txt", "`big.txt` is larger than 200 kB"),
    ],
)
def test_a_file_that_cannot_be_attached_is_an_error(folder, typed, problem):
    with pytest.raises(UsageError, match=problem) as caught:
        attach(f"see {typed}", str)
    assert caught.value.hint


def test_what_was_typed_is_kept_for_its_owner_without_secrets(tmp_path):
    past = Past(str(tmp_path / "home" / "history"), lambda text: text.replace("sk-1", "[redacted]"))
    assert past.newest_first() == []
    past.add("one\ntwo")
    past.add("with sk-1")
    file = tmp_path / "home" / "history"
    file.chmod(0o644)
    past.add("three")
    with file.open("ab") as broken:
        broken.write(b"{no json\n")
    assert past.newest_first() == ["three", "with [redacted]", "one\ntwo"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_was_typed_does_not_grow_without_end(tmp_path):
    past = Past(str(tmp_path / "history"), str)
    file = tmp_path / "history"
    file.write_text("".join(f'"{number}{"x" * 990}"\n' for number in range(2_100)))
    past.add("last")
    assert file.stat().st_size < 1_100_000
    assert past.newest_first()[0] == "last"
    assert len(past.newest_first()) == KEPT // 2
    assert os.listdir(tmp_path) == ["history"]


async def test_words_are_completed(folder):
    async def arguments(name):
        return [Offer("anthropic/x"), Offer("custom/y")] if name == "model" else []

    completions = Completions(lambda: [Offer("/model"), Offer("/more"), Offer("/new")], arguments)
    for typed, half, found in (
        ("/mo", "/mo", ["/model", "/more"]),
        ("/model cu", "cu", ["custom/y"]),
        ("/new x", "x", []),
        ("see @no", "@no", ["@notes.md"]),
        ("see @su", "@su", ["@sub/"]),
        ("no /mo", "/mo", []),
    ):
        assert await completions.of(typed) == (half, [Offer(text) for text in found])


def test_paths_that_cannot_be_told_from_others_are_not_offered(folder):
    (folder / "ev\u202eil.md").touch()
    (folder / ".hidden").touch()
    assert "sub/" in list(paths(""))
    assert not [path for path in paths("") if "\u202e" in path or " " in path or path.startswith(".")]
    assert list(paths("missing/x")) == []


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_no_key_is_cut_by_the_pieces_that_are_let_go(step):
    key = "sk-" + "k" * 40
    text = f"so {key} {'x' * 9000}{key}{'y' * 9000} 中文{key}"
    held = Held(lambda piece: piece.replace(key, "[redacted]"))
    shown = "".join(held.add(text[at : at + step]) for at in range(0, len(text), step)) + held.rest()
    assert shown == text.replace(key, "[redacted]")
