"""One Config from flags, environment, `.env` and file, in that order."""

import os
import subprocess
import sys

import pytest

from hermes.config import AgentSettings, ModelSettings, Origin, Secret, WebSettings, load
from hermes.config.keys import KEYS
from hermes.errors import ConfigError, UnknownName


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


def write(home, text, mode=0o600):
    path = home / "config.yaml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_an_empty_home_gives_the_defaults(home):
    config = load({"HERMES_HOME": str(home)})
    assert (config.model, config.web, config.agent) == (ModelSettings(), WebSettings(), AgentSettings())
    assert config.home == str(home)
    assert config.warnings == ()
    assert set(config.origins) == set(KEYS)
    assert set(config.origins.values()) == {Origin("default")}


def test_every_kind_of_value_comes_from_the_file(home):
    path = write(
        home,
        "model:\n  provider: custom\n  api_key: sk-123456\n  max_tokens: 99\n"
        "web:\n  extract_char_limit: 0x10\nagent:\n  max_turns: 7\n",
    )
    config = load({"HERMES_HOME": str(home)})
    assert config.model == ModelSettings("custom", api_key=Secret("sk-123456"), max_tokens=99)
    assert config.web.extract_char_limit == 16
    assert config.agent.max_turns == 7
    assert config.origins["model.max_tokens"] == Origin("file", f"{path}:4")


def test_each_source_wins_over_the_next_per_key(home):
    write(home, "model:\n  provider: file\n  default: file\n  base_url: file\nweb:\n  backend: file\n")
    dotenv = home / ".env"
    dotenv.write_text(
        "HERMES_MODEL_PROVIDER=dotenv\nHERMES_MODEL_DEFAULT=dotenv\nHERMES_MODEL_BASE_URL=dotenv\n"
    )
    dotenv.chmod(0o600)
    environ = {"HERMES_HOME": str(home), "HERMES_MODEL_PROVIDER": "env", "HERMES_MODEL_DEFAULT": "env"}
    config = load(environ, {"model.provider": "flag", "model.default": None, "web.search_backend": " "})
    assert config.model == ModelSettings("flag", "env", "dotenv")
    assert config.web == WebSettings("file")
    assert config.origins["model.provider"] == Origin("flag", "model.provider")
    assert config.origins["model.default"] == Origin("environment", "HERMES_MODEL_DEFAULT")
    assert config.origins["model.base_url"] == Origin(".env", "HERMES_MODEL_BASE_URL")
    assert config.origins["web.backend"].source == "file"
    assert config.origins["web.search_backend"].source == "default"


def test_text_from_the_environment_spells_numbers(home):
    environ = {
        "HERMES_HOME": str(home),
        "HERMES_AGENT_MAX_TURNS": " 7 ",
        "HERMES_MODEL_API_KEY": "12345678",
    }
    config = load(environ, {"model.max_tokens": "12"})
    assert config.agent.max_turns == 7
    assert config.model == ModelSettings(api_key=Secret("12345678"), max_tokens=12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "model:\nweb: ~\n",
        "model:\n  provider:\n  max_tokens: null\n",
        "model:\n  provider: '  '\n",
        "---\n",
    ],
)
def test_null_and_blank_equal_unset(home, text):
    write(home, text)
    config = load({"HERMES_HOME": str(home)})
    assert config.model == ModelSettings()
    assert config.origins["model.provider"].source == "default"
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\nagent:\n  max_turns: many\n", 3, '`agent.max_turns` must be a whole number, not "many"'),
        ('agent:\n  max_turns: "7"\n', 2, '`agent.max_turns` must be a whole number, not "7"'),
        ("agent:\n  max_turns: true\n", 2, "`agent.max_turns` must be a whole number, not true"),
        ("agent:\n  max_turns: 7.0\n", 2, "`agent.max_turns` must be a whole number, not 7.0"),
        ("agent:\n  max_turns: 0\n", 2, "`agent.max_turns` must be at least 1, not 0"),
        ("agent:\n  max_turns: {a: b}\n", 2, "`agent.max_turns` must be a whole number, not a mapping"),
        ("model:\n  default: 4.1\n", 2, "`model.default` must be text (in quotes), not 4.1"),
        ("model:\n  provider: [x]\n", 2, "`model.provider` must be text (in quotes), not a list"),
        ("model:\n  api_key: 12345678\n", 2, "`model.api_key` must be text (in quotes), not a number"),
        (
            "model:\n  provider: 'a\n\n    b'\n",
            2,
            '`model.provider` must be one line of printable text, not "a\\nb"',
        ),
        ("model: gpt\n", 1, "`model` must be a mapping (`key: value` lines), not a single value"),
        ("- model\n", 1, "the file must be a mapping (`key: value` lines), not a list"),
        ("just words\n", 1, "the file must be a mapping (`key: value` lines), not a single value"),
    ],
)
def test_a_wrong_type_names_file_line_key_expected_and_found(home, text, line, message):
    path = write(home, text)
    with pytest.raises(ConfigError) as caught:
        load({"HERMES_HOME": str(home)})
    assert str(caught.value) == f"{path}:{line}: {message}"


def test_a_bad_variable_or_flag_is_named(home):
    environ = {"HERMES_HOME": str(home)}
    with pytest.raises(ConfigError, match=r'^`HERMES_AGENT_MAX_TURNS` must be a whole number, not "x{40}…"$'):
        load(environ | {"HERMES_AGENT_MAX_TURNS": "x" * 50})
    with pytest.raises(ConfigError, match=r"^`HERMES_AGENT_MAX_TURNS` must be at least 1, not -3$"):
        load(environ | {"HERMES_AGENT_MAX_TURNS": "-3"})
    with pytest.raises(ConfigError, match=r"^`agent.max_turns` must be a whole number, not 1.5$"):
        load(environ, {"agent.max_turns": 1.5})
    (home / ".env").write_text("HERMES_AGENT_MAX_TURNS=x\n")
    with pytest.raises(ConfigError, match=r"^`HERMES_AGENT_MAX_TURNS` in `.env` must be"):
        load(environ)


def test_a_bad_secret_is_never_shown(home):
    write(home, "model:\n  api_key: [sk-hidden]\n")
    with pytest.raises(ConfigError) as from_file:
        load({"HERMES_HOME": str(home)})
    (home / "config.yaml").unlink()
    with pytest.raises(ConfigError) as from_variable:
        load({"HERMES_HOME": str(home), "HERMES_MODEL_API_KEY": "sk-hidden\x00x"})
    assert "hidden" not in f"{from_file.value} {from_variable.value}"


def test_unknown_keys_warn_with_place_and_nearest_name(home):
    path = write(home, "modle:\n  provider: x\nmodel:\n  providr: y\n  default: z\nmodel.default: q\n")
    config = load({"HERMES_HOME": str(home)})
    assert config.model.default == "z"
    assert [warning.partition(": ")[0] for warning in config.warnings] == [f"{path}:{n}" for n in (1, 4, 6)]
    assert "unknown key `modle`; did you mean `model`" in config.warnings[0]
    assert "unknown key `model.providr`; did you mean `model.provider`" in config.warnings[1]
    assert 'unknown key `"model.default"`; did you mean `model.default`' in config.warnings[2]


def test_an_unknown_flag_is_an_error(home):
    with pytest.raises(UnknownName) as caught:
        load({"HERMES_HOME": str(home)}, {"model.providr": "x"})
    assert "`model.provider`" in str(caught.value.hint)


def test_a_key_in_a_file_open_to_others_warns_with_the_fix(home):
    path = write(home, "model:\n  api_key: sk-hidden\n", 0o644)
    (warning,) = load({"HERMES_HOME": str(home)}).warnings
    assert f"`chmod 600 {path}`" in warning
    assert "hidden" not in warning
    write(home, "model:\n  provider: x\n", 0o644)
    assert load({"HERMES_HOME": str(home)}).warnings == ()


def test_a_home_that_others_can_change_warns_with_the_fix(home):
    home.chmod(0o777)
    (warning,) = load({"HERMES_HOME": str(home)}).warnings
    assert "mode 0777" in warning
    assert f"`chmod 700 {home}`" in warning


def test_the_home_is_found_without_the_process_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/not/this/one")
    assert load({"HOME": str(tmp_path)}).home == str(tmp_path / ".hermes")
    assert load({"HOME": str(tmp_path), "HERMES_HOME": "~/x"}).home == str(tmp_path / "x")
    assert load({"HOME": str(tmp_path), "HERMES_HOME": "  "}).home == str(tmp_path / ".hermes")
    monkeypatch.chdir(tmp_path)
    assert load({"HERMES_HOME": "here"}).home == str(tmp_path / "here")


def test_no_home_falls_back_to_the_password_file_and_else_says_so(tmp_path, monkeypatch):
    class Entry:
        pw_dir = str(tmp_path)

    monkeypatch.setattr("pwd.getpwuid", lambda uid: Entry)
    assert load({}).home == str(tmp_path / ".hermes")

    def nobody(uid):
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(ConfigError, match="no home directory") as caught:
        load({})
    assert "HERMES_HOME" in str(caught.value.hint)


def test_a_home_that_is_a_file_or_a_loop_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=r"cannot read .* not a directory"):
        load({"HERMES_HOME": str(tmp_path / "file")})
    (tmp_path / "config.yaml").symlink_to("config.yaml")
    with pytest.raises(ConfigError, match=r"cannot read"):
        load({"HERMES_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "imported"),
    [(None, False), (" \n", False), ("model:\n  provider: x\n", True)],
)
def test_the_yaml_library_is_imported_only_when_there_is_something_to_read(home, text, imported):
    if text is not None:
        write(home, text)
    code = (
        "import sys, hermes.config as c; c.load({'HERMES_HOME': sys.argv[1]}); print('ruamel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(imported)


def test_a_non_utf8_locale_reads_the_same(home):
    write(home, "model:\n  default: modèle\n")
    code = "import sys, hermes.config as c; print(ascii(c.load({'HERMES_HOME': sys.argv[1]}).model.default))"
    environ = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True, env=environ
    )
    assert done.stdout.strip() == r"'mod\xe8le'"


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("HERMES_MODEL_LOCAL_SERVERS", "false", False),
        ("HERMES_MODEL_LOCAL_SERVERS", "Off", False),
        ("HERMES_MODEL_LOCAL_SERVERS", "yes", True),
        ("HERMES_MODEL_TEMPERATURE", "0.7", 0.7),
        ("HERMES_MODEL_TEMPERATURE", "0", 0.0),
        ("HERMES_MODEL_EFFORT", "high", "high"),
        ("HERMES_MODEL_CONTEXT_WINDOW", "8192", 8192),
    ],
)
def test_a_variable_spells_a_switch_a_fraction_or_a_word(tmp_path, variable, text, value):
    config = load({"HERMES_HOME": str(tmp_path), variable: text})
    assert getattr(config.model, variable.removeprefix("HERMES_MODEL_").lower()) == value


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("local_servers: maybe", "must be `true` or `false`"),
        ("local_servers: 1", "must be `true` or `false`"),
        ("temperature: -1", "must be a number that is not negative"),
        ("temperature: .nan", "must be a number that is not negative"),
        ("temperature: true", "must be a number that is not negative"),
        ("effort: hard", "must be one of `none`, `minimal`"),
        ("effort: [high]", "must be one of `none`, `minimal`"),
        ("context_window: 0", "must be at least 1"),
    ],
)
def test_a_setting_of_the_wrong_kind_says_what_it_must_be(tmp_path, line, words):
    (tmp_path / "config.yaml").write_text(f"model:\n  {line}\n")
    with pytest.raises(ConfigError) as caught:
        load({"HERMES_HOME": str(tmp_path)})
    assert words in str(caught.value)
    assert "config.yaml:2" in str(caught.value)
