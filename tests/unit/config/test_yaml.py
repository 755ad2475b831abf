"""config.yaml: hostile files end in one clear line."""

import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.config import load, tree
from hermes.config.files import LARGEST
from hermes.config.yaml_events import resolve
from hermes.errors import ConfigError

BILLION_LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

HOSTILE = {
    "alias bomb": (BILLION_LAUGHS, 2, "aliases"),
    "merge": ("a: &a {b: c}\nmodel:\n  <<: *a\n", 3, "aliases"),
    "deep list": ("[" * 20_000, 1, "longer than"),
    "deep list in lines": ("[\n" * 1000, 34, "nested deeper than 32"),
    "deep mapping": ("{a: \n" * 1000, 33, "nested deeper than 32"),
    "deep items": ("- " * 100, 1, "nested deeper than 32"),
    "deep keys": ("".join(" " * depth + "a:\n" for depth in range(100)), 33, "nested deeper than 32"),
    "python object": ("model:\n  x: !!python/object/apply:os.system [id]\n", 2, "tags"),
    "python name": ("x: !!python/name:os.system\n", 1, "tags"),
    "standard tag": ("x: !!str 1\n", 1, "tags"),
    "own tag": ("\nx: !secret key\n", 2, "tags"),
    "tag on a mapping": ("!!map\nx: 1\n", 1, "tags"),
    "long tag": ("!" * 20_000, 1, "longer than"),
    "tab indent": ("model:\n\tprovider: x\n", 2, "found character '\\\\t'"),
    "duplicate key": ("model:\n  provider: x\n  default: y\n  provider: z\n", 4, "already set in line 2"),
    "duplicate section": ("web:\nmodel:\n  default: y\nweb:\n", 4, "already set in line 1"),
    "second document": ("model:\n---\nmodel:\n", 2, "second document"),
    "list as key": ("[a, b]: c\n", 1, "a key must be plain text"),
    "control character": ("model:\n  provider: x\n# \x07\n", 3, "control character"),
    "open quote": ("model:\n  provider: 'x\n", 3, "end of stream"),
    "open bracket": ("model: [a\n", 2, "expected"),
    "value under a value": ("model: x\n  provider: y\n", 2, "mapping values are not allowed"),
    "too many keys": ("".join(f"k{n}: {{}}\n" for n in range(2_600)), 2500, "more than 5000 values"),
    "too many items": ("x: [" + "a,\n" * 5_100 + "]", 4998, "more than 5000 values"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_clear_error_in_bounded_time(tmp_path, name):
    text, line, message = HOSTILE[name]
    path = tmp_path / "config.yaml"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(ConfigError, match=message) as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert time.process_time() - started < 10
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 120


def test_the_hint_for_tabs(tmp_path):
    (tmp_path / "config.yaml").write_text("model:\n\tprovider: x\n")
    with pytest.raises(ConfigError) as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert caught.value.hint == "indent with spaces, never with tabs"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("model:\n".encode("utf-16"), ":1: the file is UTF-16"),
        ("model:\n".encode("utf-16-le"), ":1: the file holds a zero byte"),
        (b"model:\n  provider: \xff\n", ":2: the file is not UTF-8"),
        (b"model:\n\n\0", ":3: the file holds a zero byte"),
    ],
)
def test_other_encodings_are_named(tmp_path, data, place):
    path = tmp_path / "config.yaml"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert str(caught.value).startswith(f"{path}{place}")
    assert "UTF-8" in str(caught.value.hint)


def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"\xef\xbb\xbfmodel:\r\n  provider: x\r\n  default: y\r\n")
    config = load({"HERMES_HOME": str(tmp_path)})
    assert (config.model.provider, config.model.default) == ("x", "y")
    assert config.origins["model.default"].detail.endswith(":3")


def test_a_huge_file_is_refused_unread(tmp_path):
    path = tmp_path / "config.yaml"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    started = time.process_time()
    with pytest.raises(ConfigError, match=f"larger than {LARGEST} bytes"):
        load({"HERMES_HOME": str(tmp_path)})
    assert time.process_time() - started < 1


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_something_else_in_its_place_is_an_error(tmp_path, make):
    path = tmp_path / "config.yaml"
    make(path)
    with pytest.raises(ConfigError, match=r"is a directory|not a regular file") as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert str(path) in str(caught.value)


def test_a_file_one_may_not_read_is_an_error(tmp_path, unprivileged):
    path = tmp_path / "config.yaml"
    path.write_text("model:\n")
    path.chmod(0)
    with unprivileged(), pytest.raises(ConfigError, match=r"cannot read .*permission denied"):
        load({"HERMES_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        ("~ null Null NULL", None),
        ("true True TRUE", True),
        ("false False FALSE", False),
        ("7 +7 007 0x7 0o7", 7),
        ("-7", -7),
        ("0x1F 31 0o37", 31),
        ("1.5 15e-1 +1.5", 1.5),
        ("1_000 1000", 1000),
        (".5", 0.5),
        (".inf +.INF", float("inf")),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(texts, value):
    for text in texts.split():
        assert resolve(text) == value
        assert type(resolve(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    ["yes", "off", "nUll", "<<", "0x", "0x-5", "0o8", "1.2.3", "12:30", "-", "2026-11-15", "9" * 5000],
)
def test_everything_else_is_text(text):
    assert resolve(text) == text


@settings(max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_a_tree_or_a_clear_error(text):
    try:
        message = ""
        tree.read(text, "x.yaml")
    except ConfigError as error:
        message = str(error)
    assert not message or message.startswith("x.yaml:")
