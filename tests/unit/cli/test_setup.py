"""`hermes setup` where something is missing; what it does is in `tests/e2e`."""

import json

import pytest

from hermes.config import load


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "hermes setup --model PROVIDER/MODEL --key-from-env VARIABLE"),
        (("--model", "deepseek"), "`--key-from-env VARIABLE` or `--key-stdin`"),
        (("--model", "depseek"), "did you mean `deepseek`"),
        (("--web-backend", "exxa"), "did you mean `exa`"),
        (("--web-backend", "local", "--web-url", "http://127.0.0.1:1"), "`hermes tools setup` asks"),
        (("--web-backend", "exa", "--web-key-from-env", "NOWHERE"), "set it"),
        (("--model", "ollama/m", "--key-from-env", "HOME"), "leave out `--key-from-env`"),
        (("--key-stdin",), "add `--model PROVIDER/MODEL`"),
        (("--model", "deepseek", "--key-from-env", "NOWHERE"), "use `--key-stdin`"),
        (("--model", "deepseek", "--key-stdin"), "pipe it into `hermes setup --key-stdin`"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_written(home, hermes, words, hint):
    code, out, err = hermes("setup", *words)
    assert (code, out) == (2, "")
    assert hint in err
    assert not (home / "config.yaml").exists()
    assert not (home / ".env").exists()


def test_another_provider_leaves_no_address_and_no_key_of_the_one_before(home, hermes, monkeypatch):
    before = "model:\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  api_key: k-0123456789  # old\n"
    (home / "config.yaml").write_text(before)
    (home / "config.yaml").chmod(0o600)
    assert hermes("setup", "--model", "custom/other", "--no-test")[0] == 0
    kept = load({"HERMES_HOME": str(home)}).model
    assert (kept.default, kept.base_url, kept.api_key.reveal()) == (
        "other",
        "http://127.0.0.1:1/v1",
        "k-0123456789",
    )
    monkeypatch.setenv("MINE", "sk-0123456789")
    assert hermes("setup", "--model", "deepseek", "--key-from-env", "MINE", "--no-test")[0] == 0
    config = load({"HERMES_HOME": str(home)})
    assert (config.model.provider, config.model.base_url, config.model.api_key) == ("deepseek", "", None)
    assert config.environment.lookup("DEEPSEEK_API_KEY") == "sk-0123456789"
    assert "# old" in (home / "config.yaml").read_text()


def test_what_the_environment_overrides_is_said(hermes, monkeypatch):
    monkeypatch.setenv("HERMES_MODEL_PROVIDER", "scout")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-0123456789")
    code, _, err = hermes("setup", "--model", "deepseek", "--no-test")
    assert code == 0
    assert "warning: the environment says otherwise, and nobody could answer" in err
    monkeypatch.setenv("HERMES_MODEL_DEFAULT", "scout-1")
    err = hermes("setup", "--model", "deepseek", "--no-test")[2]
    assert "warning: the environment says otherwise, and `scout/scout-1` would answer" in err


def test_a_web_backend_is_set_up_by_options_alone(home, hermes, monkeypatch):
    monkeypatch.setenv("MINE", "exa-0123456789")
    code, out, err = hermes("setup", "--web-backend", "exa", "--web-key-from-env", "MINE", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["changed"] == ["web.backend"]
    config = load({"HERMES_HOME": str(home)})
    assert (config.web.backend, config.environment.lookup("EXA_API_KEY")) == ("exa", "exa-0123456789")
    assert hermes("setup", "--web-backend", "searxng", "--web-url", "http://127.0.0.1:1")[0] == 0
    assert load({"HERMES_HOME": str(home)}).environment.lookup("SEARXNG_URL") == "http://127.0.0.1:1"
