"""`hermes config`: stdout carries the value alone, everything else goes to stderr."""

import io
import json

import pytest

from hermes.cli._shell import run
from hermes.config.keys import KEYS


@pytest.fixture
def home(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for key in KEYS.values():
        monkeypatch.delenv(key.variable, raising=False)
    return tmp_path


@pytest.fixture
def hermes(home, capfd, monkeypatch):
    def call(*arguments, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = run(["config", *arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return call


def test_set_then_get(hermes, home):
    code, out, err = hermes("set", "model.provider", "custom")
    assert (code, out) == (0, "")
    assert err == f"set `model.provider` in `{home}/config.yaml`\n"
    assert hermes("get", "model.provider") == (0, "custom\n", "")
    assert hermes("get", "model.default") == (0, "\n", "")
    assert hermes("get", "model.max_tokens") == (0, "\n", "")


def test_a_variable_goes_to_the_env_file_and_shows_as_stars(hermes, home):
    code, out, err = hermes("set", "CUSTOM_API_KEY", stdin="sk-hidden-from-history\n")
    assert (code, out) == (0, "")
    assert err == f"set `CUSTOM_API_KEY` in `{home}/.env`\n"
    assert (home / ".env").read_text() == "CUSTOM_API_KEY=sk-hidden-from-history\n"
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    assert hermes("get", "CUSTOM_API_KEY") == (0, "********\n", "")
    assert hermes("get", "OTHER_API_KEY") == (0, "\n", "")


def test_a_variable_that_the_environment_overrides_is_said(hermes, monkeypatch):
    monkeypatch.setenv("CUSTOM_API_KEY", "from-outside")
    assert "in the environment overrides it" in hermes("set", "CUSTOM_API_KEY", "x")[2]


def test_a_secret_never_prints(hermes, home):
    code, out, err = hermes("set", "model.api_key", "sk-hidden")
    assert (code, out) == (0, "")
    assert (home / "config.yaml").stat().st_mode & 0o777 == 0o600
    assert hermes("get", "model.api_key") == (0, "********\n", "")
    everything = err + "".join(
        "".join(hermes("show", *flags)[1:])
        for flags in ((), ("--origin",), ("--json",), ("--json", "--origin"))
    )
    assert "hidden" not in everything
    assert everything.count("********") == 4


def test_show_prints_every_key_and_where_it_came_from(hermes, home, monkeypatch):
    (home / "config.yaml").write_text("agent:\n  max_turns: 7\n")
    monkeypatch.setenv("HERMES_WEB_BACKEND", "exa")
    code, out, err = hermes("show")
    assert (code, err) == (0, "")
    assert [line.partition(":")[0] for line in out.splitlines()] == list(KEYS)
    assert 'model.provider: ""\n' in out
    assert "model.max_tokens: null\n" in out
    _, out, _ = hermes("show", "--origin")
    assert f"agent.max_turns: 7  # file {home}/config.yaml:2\n" in out
    assert "web.backend: exa  # environment HERMES_WEB_BACKEND\n" in out
    assert "web.extract_char_limit: 15000  # default\n" in out


def test_show_json_nests_like_the_file(hermes, home):
    hermes("set", "agent.max_turns", "7")
    assert json.loads(hermes("show", "--json")[1])["agent"]["max_turns"] == 7
    with_origin = json.loads(hermes("show", "--json", "--origin")[1])
    assert with_origin["agent"]["max_turns"] == {
        "value": 7,
        "source": "file",
        "detail": f"{home}/config.yaml:2",
    }


def test_warnings_go_to_stderr(hermes, home):
    (home / "config.yaml").write_text("modle:\n  provider: x\n")
    code, out, err = hermes("get", "agent.max_turns")
    assert (code, out) == (0, "50\n")
    assert err.startswith(f"warning: {home}/config.yaml:1: unknown key `modle`")


def test_set_says_when_something_overrides_it(hermes, home, monkeypatch):
    monkeypatch.setenv("HERMES_MODEL_PROVIDER", "other")
    _, _, err = hermes("set", "model.provider", "x")
    assert "warning: `HERMES_MODEL_PROVIDER` in the environment overrides it\n" in err


def test_path_answers_even_when_the_file_is_broken(hermes, home):
    (home / "config.yaml").write_text("[")
    assert hermes("path") == (0, f"{home}/config.yaml\n", "")
    code, out, err = hermes("show")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {home}/config.yaml:1: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("get", "modle.provider"), "did you mean `model.provider`"),
        (("set", "model.provder", "x"), "did you mean `model.provider`"),
        (("set", "agent.max_turns", "many"), 'must be a whole number, not "many"'),
        (("set", "agent.max_turns", "-5"), "must be at least 1, not -5"),
        (("set", "model.provider", "a", "b"), "unexpected extra argument (b)"),
        (("set", "model.provider"), "no value for `model.provider`"),
        (("set", "NOT-A-NAME", "x"), "letters, digits and `_`"),
    ],
)
def test_mistakes_exit_with_2_and_a_fix(hermes, home, arguments, message):
    code, out, err = hermes(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not (home / "config.yaml").exists()
