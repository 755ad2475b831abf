"""One change to a file: everything else stays, and a failed write leaves the old file."""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.config import Secret, load, tree
from hermes.config.edit import add_value, set_secret, set_value, update
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


@pytest.mark.parametrize(
    ("path", "text", "value", "written"),
    [
        ("model.local_servers", "off", False, "local_servers: false"),
        ("model.local_servers", "TRUE", True, "local_servers: true"),
        ("model.temperature", "0.7", 0.7, "temperature: 0.7"),
        ("model.temperature", "1e-7", 1e-7, "temperature: 1e-07"),
        ("model.temperature", "1", 1.0, "temperature: 1.0"),
        ("model.effort", "none", "none", "effort: none"),
        ("model.context_window", "8192", 8192, "context_window: 8192"),
    ],
)
def test_switches_and_numbers_are_written_as_yaml_spells_them(tmp_path, path, text, value, written):
    set_value(str(tmp_path), path, text)
    assert (tmp_path / "config.yaml").read_text() == f"model:\n  {written}\n"
    assert value_of(tmp_path, path) == value


COMMENTED = """\
# Mine, do not touch.
model:   # who answers
    # which one
    default: 'gpt'   # keep the quotes
    # provider: old
    base_url: "http://x:1/y"  # beside the last

# The web.
web: {backend: exa}   # flow
unknown:
  - 0x1F
  - [1.50, ~, yes]  # as written
  - when: 2026-11-15
    # deep
    text: |
        # no comment
# The end.
"""
BESIDE = "# beside the last\n"


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("model.default", "it's", "'gpt'  ", "'it''s'"),
        ("model.base_url", 'a"b\\c', '"http://x:1/y"', '"a\\"b\\\\c"     '),
        ("model.provider", "xai", BESIDE, f"{BESIDE}    provider: xai\n"),
        ("model.provider", "7", BESIDE, f'{BESIDE}    provider: "7"\n'),
        ("model.max_tokens", "12", BESIDE, f"{BESIDE}    max_tokens: 12\n"),
        ("web.backend", "ddg", "exa", "ddg"),
        ("agent.max_turns", 9, "# The end.\n", "# The end.\nagent:\n    max_turns: 9\n"),
    ],
)
def test_a_change_touches_nothing_else(tmp_path, path, value, old, new):
    file = tmp_path / "config.yaml"
    file.write_text(COMMENTED)
    set_value(str(tmp_path), path, value)
    assert file.read_text() == COMMENTED.replace(old, new)


SHAPES = [
    ("model:\n", "model:\n  provider: x\n"),
    ("model: # c", "model: # c\n  provider: x\n"),
    ("model:\n\n# web\nweb:\n", "model:\n  provider: x\n\n# web\nweb:\n"),
    ("model: ~ # c\n", "model:   # c\n  provider: x\n"),
    ("model: {default: y}\n", "model: {default: y, provider: x}\n"),
    ("{}\n", "model:\n  provider: x\n"),
    ("{web: {}}", "{web: {}, model: {provider: x}}\n"),
    ("# only words", "# only words\nmodel:\n  provider: x\n"),
    ("---\nweb:\n", "---\nweb:\nmodel:\n  provider: x\n"),
    ("model:\n  provider:  # which\n", "model:\n  provider: x # which\n"),
    ("model:\n  provider:\n  default: y\n", "model:\n  provider: x\n  default: y\n"),
    ("model:\n  provider: 7\n", "model:\n  provider: x\n"),
    ("model:\n  default:\n# c\nweb:\n", "model:\n  default:\n  provider: x\n# c\nweb:\n"),
    ("model:\n  provider: |\n    old\nweb:\n", "model:\n  provider: |-\n    x\nweb:\n"),
    (
        "model:\n  default: y\n  # in\n\n# web\nweb:\n",
        "model:\n  default: y\n  provider: x\n  # in\n\n# web\nweb:\n",
    ),
    ("model:\r\n  default: y # c\r\n", "model:\r\n  default: y # c\r\n  provider: x\r\n"),
    ("\ufeffmodel:\n", "model:\n  provider: x\n"),
    ("  web:\n    backend: a\n", "web:\n  backend: a\nmodel:\n  provider: x\n"),
    ("a:\n- 1\nb:\n    c: .nan\n", "a:\n- 1\nb:\n    c: .nan\nmodel:\n    provider: x\n"),
]


@pytest.mark.parametrize(("before", "after"), SHAPES)
def test_every_shape_of_file_takes_a_change(tmp_path, before, after):
    file = tmp_path / "config.yaml"
    file.write_bytes(before.encode())
    set_value(str(tmp_path), "model.provider", "x")
    assert file.read_bytes() == after.encode()


@pytest.mark.parametrize(
    "text", ["model: {a: b, # lost\n  c: d}\n", "# lost\n---\nweb:\n", "~\n", "model:\n  provider: 'a # b'\n"]
)
def test_a_shape_that_cannot_be_changed_safely_is_left_alone(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="without touching the rest") as caught:
        set_value(str(tmp_path), "model.provider", "x")
    assert caught.value.hint == "edit the file by hand"
    assert file.read_text() == text
    assert os.listdir(tmp_path) == ["config.yaml"]


def test_a_value_of_the_wrong_kind_can_be_mended(tmp_path):
    (tmp_path / "config.yaml").write_text('agent:\n  max_turns: "7"\n')
    set_value(str(tmp_path), "agent.max_turns", "9")
    assert value_of(tmp_path, "agent.max_turns") == 9


VALUES = {
    "model.default": st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1).map(
        str.strip
    ),
    "agent.max_turns": st.integers(1, 10**15),
}
LINES = """\
model:
web:  # c
top: 1

# note
  a: b
  c: 'x y'  # z
  d:
  e: [p/q:8b, 0x1]
  - i
  default: "q"   # p
  g: |
    text
  h: {a: ~,
    b: c}"""


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.just(COMMENTED) | st.lists(st.sampled_from(LINES.split("\n")), max_size=8).map("\n".join),
    change=st.sampled_from(sorted(VALUES)).flatmap(lambda path: st.tuples(st.just(path), VALUES[path])),
)
def test_what_is_set_is_read_back_beside_everything_else_or_nothing_is_written(tmp_path, start, change):
    file = tmp_path / "config.yaml"
    file.write_text(start)
    path, value = change
    try:
        before = yaml_values(file)
        set_value(str(tmp_path), path, value)
    except ConfigError:
        assert file.read_text() == start
        return
    assert yaml_values(file) == before | {path: value}
    words = file.read_text()
    assert all(words.count(comment) >= start.count(comment) for comment in ("# c", "# note", "# z", "# p"))


def yaml_values(file):
    return {name: node.bare() for name, node in tree.read(file.read_text(), str(file)).items()}


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
        ("model.provider", ["x"], ConfigError),
        ("model.provider", None, ConfigError),
    ],
)
def test_a_bad_key_or_value_is_refused_before_anything_is_written(tmp_path, path, value, error):
    with pytest.raises(error):
        set_value(str(tmp_path / "home"), path, value)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "text", ["model: [\n", "a: 1\na: 2\n", "model: x\n", "- a\n", "a: !!str b\n", "a: &a [x]\nb: *a\n"]
)
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
    paths = [path for path, key in KEYS.items() if key.default == ""]
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


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


LISTS = [
    ("", "approvals:\n  allow:\n  - ls -l, x\n"),
    ("approvals:\n", "approvals:\n  allow:\n  - ls -l, x\n"),
    ("approvals:\n  allow: []\n", "approvals:\n  allow:\n  - ls -l, x\n"),
    ("approvals:\n  allow: a, b\n", "approvals:\n  allow:\n  - a, b\n  - ls -l, x\n"),
    (
        "approvals:\n  allow:  # mine\n    - a  # one\n    # two\n    - 'b' # z\n  # after\n",
        "approvals:\n  allow:  # mine\n    - a  # one\n    # two\n    - 'b' # z\n    - ls -l, x\n  # after\n",
    ),
    (
        "approvals:\n  allow:\n  - a\n\n# web\nweb:\n",
        "approvals:\n  allow:\n  - a\n  - ls -l, x\n\n# web\nweb:\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), LISTS)
def test_a_text_is_added_to_a_list_and_nothing_else_changes(tmp_path, before, after):
    file = tmp_path / "config.yaml"
    file.write_text(before)
    for _ in range(2):
        add_value(str(tmp_path), "approvals.allow", "ls -l, x")
        assert file.read_text() == after


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1), max_size=4))
def test_any_line_that_is_added_is_read_back(tmp_path, lines):
    (tmp_path / "config.yaml").write_text("approvals:\n  deny:\n  - git push*  # never\n")
    for line in lines:
        add_value(str(tmp_path), "approvals.allow", line)
    stripped = dict.fromkeys(line.strip() for line in lines if line.strip())
    assert value_of(tmp_path, "approvals.allow") == tuple(stripped)
    assert value_of(tmp_path, "approvals.deny") == ("git push*",)


def test_a_list_of_texts_is_set_as_one(tmp_path):
    set_value(str(tmp_path), "approvals.deny", "git push*, or so")
    assert (tmp_path / "config.yaml").read_text() == "approvals:\n  deny:\n  - git push*, or so\n"
    assert value_of(tmp_path, "approvals.deny") == ("git push*, or so",)
    set_value(str(tmp_path), "approvals.deny", "rm *")
    assert value_of(tmp_path, "approvals.deny") == ("rm *",)


LISTED = """\
# Mine.
plugins:   # extensions
  enabled:  # in use
    - a   # the first
    # about c
    - c

# The web.
web:
  backend: exa
"""


def plugins(**section):
    return lambda old: {**old, **section}


@pytest.mark.parametrize(
    ("section", "old", "new"),
    [
        ({"enabled": ["a", "b", "c"]}, "    - c\n", "    - b\n    - c\n"),
        ({"enabled": ["a", "c", "d"]}, "    - c\n", "    - c\n    - d\n"),
        ({"enabled": ["a"]}, "    - c\n", ""),
        ({"enabled": ["c", "a"]}, "", ""),
        ({"disabled": ["x"]}, "    - c\n", "    - c\n  disabled:\n    - x\n"),
        (
            {"entries": {"a/b": {"granted": [], "hash": "1e5", "settings": {"on": True, "n": 1.5}}}},
            "    - c\n",
            (
                '    - c\n  entries:\n    a/b:\n      granted: []\n      hash: "1e5"\n'
                "      settings:\n        on: true\n        n: 1.5\n"
            ),
        ),
    ],
)
def test_a_section_is_changed_where_it_must_be_and_nowhere_else(tmp_path, section, old, new):
    path = tmp_path / "config.yaml"
    path.write_text(LISTED)
    update(str(tmp_path), "plugins", plugins(**section))
    if old:
        assert path.read_text() == LISTED.replace(old, new)
    found = tree.read(path.read_text(), "f")
    assert all(found[f"plugins.{name}"].bare() == value for name, value in section.items())
    assert path.read_text().endswith("\n\n# The web.\nweb:\n  backend: exa\n")


def test_a_comment_beside_an_item_goes_with_it_and_one_of_its_own_line_stays(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(LISTED.replace("  - a ", "  - Z\n    - a "))
    update(str(tmp_path), "plugins", plugins(enabled=["Z", "c"]))
    assert "the first" not in path.read_text()
    assert "    # about c\n    - c\n" in path.read_text()


def test_text_becomes_a_list_and_an_empty_file_gets_its_section(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("plugins: {enabled: 'a, b'}\n")
    update(str(tmp_path), "plugins", plugins(enabled=["a", "b", "c"]))
    assert tree.read(path.read_text(), "f")["plugins.enabled"].bare() == ["a", "b", "c"]
    path.unlink()
    update(str(tmp_path), "plugins", plugins(enabled=["a"]))
    assert path.read_text() == "plugins:\n  enabled:\n  - a\n"


def test_a_change_that_would_lose_a_comment_is_refused(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(LISTED)
    with pytest.raises(ConfigError, match="without touching the rest"):
        update(str(tmp_path), "plugins", plugins(enabled=["c"]))
    assert path.read_text() == LISTED


NAME = st.from_regex(r"[a-z][a-z0-9/_-]{0,8}", fullmatch=True)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.lists(NAME, unique=True), after=st.lists(NAME, unique=True))
def test_any_list_can_become_any_other(tmp_path, before, after):
    path = tmp_path / "config.yaml"
    path.unlink(missing_ok=True)
    update(str(tmp_path), "plugins", plugins(enabled=sorted(before)))
    update(str(tmp_path), "plugins", plugins(enabled=sorted(after)))
    assert tree.read(path.read_text(), "f")["plugins.enabled"].bare() == sorted(after)
