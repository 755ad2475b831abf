"""One change to a file: everything else stays, and a failed write leaves the old file."""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.config import Secret, load
from hermes.config.edit import set_secret, set_value
from hermes.config.keys import KEYS
from hermes.errors import ConfigError, StoreUnavailable, UnknownName, UsageError


def value_of(home, path):
    config = load({"HERMES_HOME": str(home)})
    section, _, name = path.partition(".")
    return getattr(getattr(config, section), name)


def mode(path):
    return path.stat().st_mode & 0o7777


def test_a_missing_home_and_file_are_made_private(tmp_path):
    home = tmp_path / "a" / "b"
    set_value(str(home), "model.provider", "custom")
    assert (home / "config.yaml").read_text() == "model:\n  provider: custom\n"
    assert (mode(home), mode(home / "config.yaml")) == (0o700, 0o600)
    assert os.listdir(home) == ["config.yaml"]


COMMENTED = """\
# Mine, do not touch.
model:   # who answers
    default:   'gpt'   # keep the quotes
    # provider: old
    base_url: "http://x:1/y"

# The web.
web: {backend: exa, }   # flow
unknown:
- 1
-   two
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("model.default", "it's", "'gpt'", "'it''s'"),
        ("model.base_url", 'a"b\\c', '"http://x:1/y"', '"a\\"b\\\\c"'),
        ("model.provider", "xai", 'x:1/y"\n', 'x:1/y"\n    provider: xai\n'),
        ("model.max_tokens", "12", 'x:1/y"\n', 'x:1/y"\n    max_tokens: 12\n'),
        ("model.fallback", ["a/b", "c, d"], 'x:1/y"\n', 'x:1/y"\n    fallback: [a/b, "c, d"]\n'),
        ("web.backend", "ddgs", "exa", "ddgs"),
        ("agent.max_turns", 9, "-   two\n", "-   two\nagent:\n  max_turns: 9\n"),
    ],
)
def test_a_change_touches_nothing_else(tmp_path, path, value, old, new):
    file = tmp_path / "config.yaml"
    file.write_text(COMMENTED)
    set_value(str(tmp_path), path, value)
    assert file.read_text() == COMMENTED.replace(old, new)


SHAPES = [
    ("model:\n", "model.provider", "x", "model:\n  provider: x\n"),
    ("model: # c", "model.provider", "x", "model: # c\n  provider: x\n"),
    ("model:\n\n# web\nweb:\n", "model.provider", "x", "model:\n  provider: x\n\n# web\nweb:\n"),
    ("model: ~ # c\n", "model.provider", "x", "model: {provider: x} # c\n"),
    ("model: {}\n", "model.provider", "x", "model: {provider: x}\n"),
    ("{}\n", "model.provider", "x", "{model: {provider: x}}\n"),
    ("{web: {}}", "model.provider", "x", "{web: {}, model: {provider: x}}"),
    ("# only words", "model.provider", "x", "# only words\nmodel:\n  provider: x\n"),
    ("---\nweb:\n", "model.provider", "x", "---\nweb:\nmodel:\n  provider: x\n"),
    ("model:\n  provider:  # which\n", "model.provider", "x", "model:\n  provider: x  # which\n"),
    ("model:\n  provider:\n  default: y\n", "model.provider", "x", "model:\n  provider: x\n  default: y\n"),
    (
        "model:\n  default:\n# c\nweb:\n",
        "model.provider",
        "x",
        "model:\n  default:\n  provider: x\n# c\nweb:\n",
    ),
    ("model:\n  provider: |\n    old\n\nweb:\n", "model.provider", "x", "model:\n  provider: x\nweb:\n"),
    (
        "model:\n  default: |\n    y\nweb:\n",
        "model.provider",
        "x",
        "model:\n  default: |\n    y\n  provider: x\nweb:\n",
    ),
    (
        "model:\n  fallback:\n  - a # 1\n  - b # 2\n",
        "model.fallback",
        "c,d",
        "model:\n  fallback:\n  - c\n  - d # 2\n",
    ),
    ("model:\n  fallback:\n  - a\n", "model.fallback", [], "model:\n  fallback:\n   []\n"),
    ("model:\n  fallback: [a,\n    b]\n", "model.fallback", ["c"], "model:\n  fallback: [c]\n"),
    ("model:\r\n  provider: x\r\n", "model.default", "y", "model:\r\n  provider: x\r\n  default: y\r\n"),
    ("\ufeffmodel:\n", "agent.max_turns", 3, "\ufeffmodel:\nagent:\n  max_turns: 3\n"),
    (
        "  web:\n    backend: a\n",
        "agent.max_turns",
        3,
        "  web:\n    backend: a\n  agent:\n    max_turns: 3\n",
    ),
]


@pytest.mark.parametrize(("before", "path", "value", "after"), SHAPES)
def test_every_shape_of_file_takes_a_change(tmp_path, before, path, value, after):
    file = tmp_path / "config.yaml"
    file.write_bytes(before.encode())
    set_value(str(tmp_path), path, value)
    assert file.read_bytes() == after.encode()


def test_a_shape_that_cannot_be_changed_safely_is_left_alone(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("web: {backend: exa,}\n...\n")
    with pytest.raises(ConfigError, match="without touching the rest") as caught:
        set_value(str(tmp_path), "model.provider", "x")
    assert caught.value.hint == "edit the file by hand"
    assert file.read_text() == "web: {backend: exa,}\n...\n"
    assert os.listdir(tmp_path) == ["config.yaml"]


VALUES = {
    "model.default": st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1).map(
        str.strip
    ),
    "model.fallback": st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)),
    "agent.max_turns": st.integers(1, 10**15),
}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(
        st.sampled_from(sorted(VALUES)).flatmap(lambda path: st.tuples(st.just(path), VALUES[path])),
        max_size=4,
    ),
    start=st.sampled_from(["", COMMENTED, "{}", "model:\n  fallback:\n    - a\n    # b\n    - c\nagent:\n"]),
)
def test_what_is_set_is_read_back_and_comments_survive(tmp_path, changes, start):
    file = tmp_path / "config.yaml"
    file.write_text(start)
    expected = {}
    for path, value in changes:
        set_value(str(tmp_path), path, value)
        expected[path] = tuple(value) if isinstance(value, list) else value
    for path, value in expected.items():
        assert value_of(tmp_path, path) == value
    if start is COMMENTED:
        for comment in (
            "# Mine, do not touch.",
            "# who answers",
            "# keep the quotes",
            "# provider: old",
            "# flow",
        ):
            assert comment in file.read_text()


def test_a_link_stays_a_link_and_modes_stay(tmp_path):
    target = tmp_path / "dotfiles.yaml"
    target.write_text("model:\n")
    target.chmod(0o640)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").symlink_to(target)
    set_value(str(tmp_path / "home"), "model.provider", "x")
    assert (tmp_path / "home" / "config.yaml").is_symlink()
    assert target.read_text() == "model:\n  provider: x\n"
    assert mode(target) == 0o640


def test_a_key_makes_the_file_private(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text("model:\n  provider: x\n")
    file.chmod(0o644)
    set_value(str(tmp_path), "model.api_key", Secret("12345678"))
    assert mode(file) == 0o600
    assert value_of(tmp_path, "model.api_key") == Secret("12345678")


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("model.providr", "x", UnknownName),
        ("model", "x", UnknownName),
        ("agent.max_turns", "many", ConfigError),
        ("agent.max_turns", "0", ConfigError),
        ("agent.max_turns", True, ConfigError),
        ("model.provider", "a\nb", ConfigError),
        ("model.fallback", [1], ConfigError),
        ("model.provider", None, ConfigError),
    ],
)
def test_a_bad_key_or_value_is_refused_before_anything_is_written(tmp_path, path, value, error):
    with pytest.raises(error):
        set_value(str(tmp_path / "home"), path, value)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("text", ["model: [\n", "a: 1\na: 2\n", "model: x\n", "- a\n", "a: !!str b\n"])
def test_a_broken_file_is_not_changed(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        set_value(str(tmp_path), "model.provider", "x")
    assert str(caught.value).startswith(f"{file}:")
    assert file.read_text() == text


def test_a_full_disk_leaves_both_files_and_no_debris(tmp_path, full_disk):
    set_value(str(tmp_path), "model.provider", "before")
    set_secret(str(tmp_path), "EXA_API_KEY", "before")
    with full_disk():
        with pytest.raises(StoreUnavailable) as caught:
            set_value(str(tmp_path), "model.provider", "after")
        with pytest.raises(StoreUnavailable):
            set_secret(str(tmp_path), "EXA_API_KEY", "after")
    assert str(tmp_path / "config.yaml") in str(caught.value)
    assert "HERMES_HOME" in str(caught.value.hint)
    assert value_of(tmp_path, "model.provider") == "before"
    assert load({"HERMES_HOME": str(tmp_path)}).environment.lookup("EXA_API_KEY") == "before"
    assert sorted(os.listdir(tmp_path)) == [".env", "config.yaml"]


def test_a_home_one_may_not_write_is_unavailable(tmp_path, unprivileged):
    with unprivileged(), pytest.raises(StoreUnavailable, match="permission denied"):
        set_value(str(tmp_path / "home"), "model.provider", "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot write"):
        set_secret(str(tmp_path / "file"), "EXA_API_KEY", "x")


def test_writers_at_once_lose_no_change(tmp_path):
    paths = [path for path, key in KEYS.items() if isinstance(key.default, str)]
    code = "import sys, hermes.config.edit as edit; edit.set_value(*sys.argv[1:], sys.argv[2])"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), path]) for path in paths]
    assert [writer.wait(60) for writer in writers] == [0] * len(paths)
    assert [value_of(tmp_path, path) for path in paths] == paths


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "EXA_API_KEY=new\n"),
        ("# note\nA=b", "# note\nA=b\nEXA_API_KEY=new\n"),
        ("A=b\nexport EXA_API_KEY='old'\nC=d\n", "A=b\nexport EXA_API_KEY=new\nC=d\n"),
        ("EXA_API_KEY=1\nnonsense\nEXA_API_KEY=2\r\n", "EXA_API_KEY=1\nnonsense\nEXA_API_KEY=new\r\n"),
    ],
)
def test_a_secret_is_one_line_of_a_private_file(tmp_path, before, after):
    file = tmp_path / ".env"
    file.write_bytes(before.encode())
    file.chmod(0o644)
    set_secret(str(tmp_path), "EXA_API_KEY", " new ")
    assert file.read_bytes() == after.encode()
    assert mode(file) == 0o600


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
)
def test_any_secret_is_read_back(tmp_path, value):
    set_secret(str(tmp_path), "X_TOKEN", value)
    assert load({"HERMES_HOME": str(tmp_path)}).environment.lookup("X_TOKEN") == value.strip()


@pytest.mark.parametrize(
    ("name", "value"), [("A B", "x"), ("", "x"), ("A=B", "x"), ("A", " "), ("A", "\0"), ("A", "\ud800")]
)
def test_a_bad_name_or_value_is_refused(tmp_path, name, value):
    with pytest.raises(UsageError):
        set_secret(str(tmp_path / "home"), name, value)
    assert not (tmp_path / "home").exists()
