"""The process environment with `.env` behind it."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config import Environment, Secret, load
from hermes.config.environment import parse, parse_line, quoted
from hermes.errors import ConfigError


def test_the_process_wins_and_blank_equals_unset():
    environment = Environment({"A": " 1 ", "B": "  ", "C": ""}, {"A": "2", "B": " 3\t", "D": " "})
    assert [environment.lookup(name) for name in "ABCDE"] == ["1", "3", None, None, None]
    assert [environment.origin(name) for name in "ABCDE"] == ["environment", ".env", None, None, None]
    assert environment.secret("B") == Secret("3")
    assert environment.secret("D") is None


def test_later_changes_to_the_mapping_are_not_seen():
    variables = {"A": "1"}
    environment = Environment(variables)
    variables["A"] = "2"
    assert environment.lookup("A") == "1"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A=b", ("A", "b")),
        ("  A = b  ", ("A", "b")),
        ("export A=b", ("A", "b")),
        ("export\tA=b\r", ("A", "b")),
        ("export=b", ("export", "b")),
        ("A=", ("A", "")),
        ("A=b=c==", ("A", "b=c==")),
        ("A=b#c", ("A", "b#c")),
        ("A=b # c", ("A", "b")),
        ("A=# c", ("A", "")),
        ("A='b # c' # d", ("A", "b # c")),
        ("A='b\\n'", ("A", "b\\n")),
        ('A="b\\n\\"c\\"\\\\"', ("A", 'b\n"c"\\')),
        ("A=''", ("A", "")),
        ("# A=b", None),
        ("   ", None),
    ],
)
def test_lines(line, expected):
    assert parse_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "hunter2",
        "A B=hunter2",
        "1A=hunter2",
        "=hunter2",
        "A='hunter2",
        'A="hunter2\\"',
        "A='hunter2'x",
        "Ä=hunter2",
    ],
)
def test_a_bad_line_warns_with_its_number_and_never_its_content(line):
    values, warnings = parse(f"OK=1\n{line}\nFINE=2\n", "/x/.env")
    assert values == {"OK": "1", "FINE": "2"}
    assert len(warnings) == 1
    assert warnings[0].startswith("/x/.env:2: ")
    assert "hunter2" not in warnings[0]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_quoted_value_reads_back(value):
    value = value.strip()
    assert parse_line(f"A={quoted(value)}") == ("A", value)
    assert "\n" not in quoted(value)


@given(st.text())
def test_any_text_is_read_without_failing(text):
    values, _ = parse(text, ".env")
    assert all(name.isidentifier() for name in values)


def dotenv(home, content: bytes, mode=0o600):
    path = home / ".env"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_private_file_is_read_without_a_word(tmp_path):
    dotenv(tmp_path, b"\xef\xbb\xbfEXA_API_KEY=abc\r\nHERMES_MODEL_PROVIDER=xai\n")
    config = load({"HERMES_HOME": str(tmp_path)})
    assert config.environment.lookup("EXA_API_KEY") == "abc"
    assert config.model.provider == "xai"
    assert config.warnings == ()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_open_to_others_warns_with_the_fix(tmp_path, mode):
    path = dotenv(tmp_path, b"A=b\n", mode)
    (warning,) = load({"HERMES_HOME": str(tmp_path)}).warnings
    assert f"mode {mode:04o}" in warning
    assert f"`chmod 600 {path}`" in warning


def test_a_symbolic_link_warns_and_is_read(tmp_path):
    target = tmp_path / "elsewhere"
    target.write_text("A=b\n")
    target.chmod(0o600)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".env").symlink_to(target)
    config = load({"HERMES_HOME": str(tmp_path / "home")})
    assert config.environment.lookup("A") == "b"
    (warning,) = config.warnings
    assert "symbolic link" in warning


@pytest.mark.parametrize("content", [b"A=1\nB=\xff\n", b"A=1\nB=\0\n"])
def test_a_file_that_is_not_text_is_an_error_with_its_line(tmp_path, content):
    path = dotenv(tmp_path, content)
    with pytest.raises(ConfigError) as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert str(caught.value).startswith(f"{path}:2: ")


def test_a_pipe_in_its_place_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / ".env", 0o600)
    with pytest.raises(ConfigError, match="not a regular file"):
        load({"HERMES_HOME": str(tmp_path)})
