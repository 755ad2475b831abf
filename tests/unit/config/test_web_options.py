"""The options of single web backends: a mapping below `web:`, whatever it holds, with its secrets kept."""

import pytest

from hermes.config import Secret, load
from hermes.config.edit import set_value
from hermes.errors import UnknownName

KEY = "very-secret-value-1234"
FILE = f"""\
web:
  backend: xai  # mine
  xai:
    model: grok-x
    allowed_domains: [a.example, b.example]
    timeout: 30
  custom:
    url_template: http://h/?q=%s
    headers:
      Cookie: {KEY}
"""


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / "config.yaml").write_text(FILE)
    (tmp_path / "config.yaml").chmod(0o600)
    return tmp_path


def test_options_are_read_without_a_warning(home):
    config = load({"HERMES_HOME": str(home)})
    assert config.warnings == ()
    assert config.option("web.backend") == "xai"
    assert config.option("web.xai.model") == "grok-x"
    assert config.option("web.xai.allowed_domains") == ["a.example", "b.example"]
    assert config.option("web.xai.timeout") == 30
    assert config.option("web.custom.url_template") == "http://h/?q=%s"
    assert [config.option(f"web.{path}") for path in ("xai.none", "none.model", "xai.model.deeper")] == [
        None
    ] * 3


def test_a_variable_wins_over_the_file(home):
    config = load({"HERMES_HOME": str(home), "HERMES_WEB_XAI_MODEL": "other"})
    assert config.option("web.xai.model") == "other"


def test_a_header_and_a_key_never_print(home):
    config = load({"HERMES_HOME": str(home)})
    assert config.option("web.custom.headers.Cookie") == Secret(KEY)
    assert KEY not in repr(config)
    assert KEY not in config.redactor()(f"it is {KEY}")


@pytest.mark.parametrize(
    ("path", "value"), [("xai.model", "new"), ("xai.region", "eu"), ("searxng.engines", "a,b")]
)
def test_one_is_set_and_the_rest_stays(home, path, value):
    set_value(str(home), f"web.{path}", value)
    config = load({"HERMES_HOME": str(home)})
    assert config.option(f"web.{path}") == value
    assert config.option("web.custom.url_template") == "http://h/?q=%s"
    assert "# mine" in (home / "config.yaml").read_text()


def test_a_misspelt_setting_is_still_an_error(home):
    with pytest.raises(UnknownName, match="bakend"):
        set_value(str(home), "web.bakend", "exa")


def test_a_list_of_blocked_sites_is_read_too(tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / "config.yaml").write_text("security:\n  website_blocklist:\n    domains: [a.example]\n")
    config = load({"HERMES_HOME": str(tmp_path)})
    assert config.warnings == ()
    assert config.option("security.website_blocklist") == {"domains": ["a.example"]}
