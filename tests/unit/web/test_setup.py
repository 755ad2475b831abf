"""Setting up a backend by questions, and what doctor then says of it."""

import asyncio
import io
import json

import pytest

from hermes.app.services import Services
from hermes.cli._shell import run
from hermes.config import load
from hermes.errors import BackendDown, NotConfigured

KEY = "secret-value-0123456789"


@pytest.fixture
def hermes(tmp_path, monkeypatch, capfd):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in ("CUSTOM_SEARCH_API_KEY", "EXA_API_KEY", "TAVILY_API_KEY", "SEARXNG_URL"):
        monkeypatch.delenv(name, raising=False)

    def call(*words, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = run(list(words))
        out, err = capfd.readouterr()
        assert KEY not in out + err
        return code, out, err

    return call


def settings(tmp_path):
    return load({"HERMES_HOME": str(tmp_path)})


def test_a_blank_answer_takes_the_default_and_the_key_goes_to_the_env_file(hermes, tmp_path):
    code, _, err = hermes("tools", "setup", "custom", stdin=f"{KEY}\nhttps://api.example/v1\n\n")
    assert code == 0
    config = settings(tmp_path)
    assert (config.web.backend, config.web.custom_base_url, config.web.custom_model) == (
        "custom",
        "https://api.example/v1",
        "sonar",
    )
    assert config.environment.lookup("CUSTOM_SEARCH_API_KEY") == KEY
    assert KEY not in (tmp_path / "config.yaml").read_text()
    assert "`custom` is set as `web.backend`" in err


def test_a_blank_answer_keeps_what_is_set(hermes, tmp_path):
    hermes("tools", "setup", "custom", stdin=f"{KEY}\nhttps://one.example\nother-model\n")
    hermes("tools", "setup", "custom", stdin="\n\n\n")
    config = settings(tmp_path)
    assert (config.web.custom_base_url, config.web.custom_model) == ("https://one.example", "other-model")
    assert config.environment.lookup("CUSTOM_SEARCH_API_KEY") == KEY


def test_the_backend_itself_is_asked_for(hermes, tmp_path):
    _, _, err = hermes("tools", "setup", stdin="searxng\nhttp://127.0.0.1:1\n")
    assert "SearXNG" in err
    assert settings(tmp_path).web.backend == "searxng"
    assert settings(tmp_path).environment.lookup("SEARXNG_URL") == "http://127.0.0.1:1"


def test_what_is_still_missing_is_said(hermes):
    _, _, err = hermes("tools", "setup", "exa", stdin="\n")
    assert "Exa still needs an API key" in err


def test_an_unknown_backend_offers_the_nearest(hermes):
    code, _, err = hermes("tools", "setup", "exxa")
    assert code == 2
    assert "did you mean `exa`" in err


def test_tools_are_still_listed(hermes):
    assert "web_search" in hermes("tools")[1]
    assert hermes("tools", "--json")[1].startswith("{")


def test_doctor_names_who_searches_and_who_reads_and_never_a_key(hermes):
    hermes("tools", "setup", "custom", stdin=f"{KEY}\nhttps://api.example/v1\n\n")
    _, out, _ = hermes("doctor", "--offline")
    assert "✓ search: custom" in out
    assert "✓ extract: custom" in out
    seed = "Web Search & Extract: configured\n  Using custom backend: https://api.example/v1 (model: sonar)\n"
    assert seed in out


def test_doctor_says_where_a_server_of_your_own_is(hermes, monkeypatch):
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1/")
    _, out, _ = hermes("doctor", "--offline")
    assert "Web Search & Extract: configured\n  Using SearXNG at http://127.0.0.1:1\n✓ search: searxng" in out


def test_a_failed_search_is_told_to_programs_and_to_people(hermes):
    code, out, err = hermes("search", "x", "--backend", "exa", "--json", "--explain")
    said = "the web backend `exa` needs an API key: `EXA_API_KEY` is not set"
    assert (code, json.loads(out)) == (2, {"success": False, "error": said})
    assert said in err
    assert "asked: exa (`--backend` names it)" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", ""], "the search query is empty"),
        (["search", "  ", "--json"], "the search query is empty"),
        (["search", "x", "--after", "yesterday"], "`after` must be a day"),
        (["search", "x", "--after", "2026-02-30"], "`after` must be a day"),
        (["search", "x", "--after", "2026-02-02", "--before", "2026-02-01"], "is later than"),
        (["search", "x", "--language", "english"], "`language` must be a code of two letters"),
        (["search", "x", "--domain", "://"], "`include_domains` holds no domain"),
    ],
)
def test_words_that_make_no_search_are_an_error_of_usage(hermes, words, said):
    code, out, err = hermes(*words)
    assert code == 2
    assert said in err
    assert "Traceback" not in out + err


def test_an_address_without_a_scheme_is_told_how_to_write_it(hermes):
    code, out, err = hermes("extract", "example.org/page")
    assert (code, out) == (1, "")
    assert "write it as `https://example.org/page`" in err


def test_doctor_says_what_the_chosen_one_lacks(hermes):
    hermes("config", "set", "web.backend", "exa")
    code, out, _ = hermes("doctor", "--offline")
    assert code == 1
    assert "✗ search: the web backend `exa` needs an API key: `EXA_API_KEY` is not set" in out


def test_doctor_warns_of_who_would_be_passed_over_and_of_options_for_nobody(hermes, tmp_path):
    (tmp_path / "config.yaml").write_text("web:\n  failover: [exa, local]\n  exxa:\n    model: x\n")
    _, out, _ = hermes("doctor", "--offline")
    assert "! search: exa, then local" in out
    assert "`exa` is passed over" in out
    assert "`web.exxa` holds options of a web backend that is not there" in out


def test_doctor_tells_of_a_backend_file_that_cannot_be_loaded(hermes, tmp_path):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "broken.py").write_text("nonsense(")
    _, out, _ = hermes("doctor", "--offline")
    assert "! web backends:" in out
    assert "broken.py:1" in out


def refused(tmp_path, **environ):
    services = Services(load({"HERMES_HOME": str(tmp_path), **environ}))
    try:
        asyncio.run(services.web.search("q"))
    finally:
        asyncio.run(services.close())


def test_a_stored_key_goes_to_its_vendor_and_to_no_other_host(hermes, tmp_path):
    hermes("config", "set", "EXA_API_KEY", stdin=f"{KEY}\n")
    hermes("config", "set", "web.backend", "exa")
    with pytest.raises(NotConfigured, match=r"stored for `api\.exa\.ai` and was not sent to `evil\.example`"):
        refused(tmp_path, EXA_BASE_URL="https://evil.example")
    with pytest.raises(BackendDown, match=r"127\.0\.0\.1"):
        refused(
            tmp_path / "other", EXA_BASE_URL="http://127.0.0.1:1", EXA_API_KEY=KEY, HERMES_WEB_BACKEND="exa"
        )


def test_a_key_that_is_set_with_an_address_is_for_that_address(hermes, tmp_path):
    hermes("tools", "setup", "custom", stdin=f"{KEY}\nhttps://one.example\n\n")
    hermes("config", "set", "web.custom_base_url", "https://two.example")
    with pytest.raises(NotConfigured, match=r"stored for `one\.example` and was not sent to `two\.example`"):
        refused(tmp_path)
    hermes("config", "set", "CUSTOM_SEARCH_API_KEY", stdin=f"{KEY}\n")
    services = Services(load({"HERMES_HOME": str(tmp_path)}))
    services.admit_key("CUSTOM_SEARCH_API_KEY", "https://two.example", "")
    asyncio.run(services.close())


def test_a_stored_header_goes_to_the_host_it_was_set_for_and_to_no_other(hermes, tmp_path):
    hermes("config", "set", "web.backend", "custom-json")
    hermes("config", "set", "web.custom.url_template", "https://one.example/?q=%s")
    hermes("config", "set", "web.custom.headers.X-Pass", stdin=f"{KEY}\n")
    hermes("config", "set", "web.custom.url_template", "https://two.example/?q=%s")
    held = r"`web\.custom\.headers\.X-Pass` is stored for `one\.example` and was not sent to `two\.example`"
    with pytest.raises(NotConfigured, match=held):
        refused(tmp_path)
    hermes("config", "set", "web.custom.headers.X-Pass", stdin=f"{KEY}\n")
    services = Services(load({"HERMES_HOME": str(tmp_path)}))
    services.admit_key("web.custom.headers.X-Pass", "https://two.example", "")
    asyncio.run(services.close())


@pytest.mark.parametrize("place", ["q=%s&key={}", "apiKey={}&q=%s", "q=%s&access_token={}"])
def test_a_key_in_the_template_is_in_no_output(hermes, tmp_path, place):
    hermes("config", "set", "web.backend", "custom-json")
    hermes("config", "set", "web.custom.url_template", f"http://127.0.0.1:1/find?{place.format(KEY)}")
    for words in (["search", "x", "--explain"], ["doctor", "--offline"], ["config", "show"]):
        _, out, err = hermes(*words)
        assert "127.0.0.1:1/find" in out + err


def test_a_password_in_an_address_is_in_no_output(hermes, monkeypatch):
    monkeypatch.setenv("SEARXNG_URL", f"http://me:{KEY}@127.0.0.1:1")
    for words in (["search", "x", "--explain"], ["doctor", "--offline"]):
        _, out, err = hermes(*words)
        assert "127.0.0.1:1" in out + err


def test_setup_warns_when_a_package_is_missing(hermes, monkeypatch):
    monkeypatch.setattr("hermes.discover.is_installed", lambda _package: False)
    code, _, err = hermes("tools", "setup", "ddgs")
    assert code == 0
    assert "warning: DuckDuckGo lacks what it runs on" in err


def test_pages_that_are_too_many_are_told_of(hermes):
    _, out, err = hermes("extract", *(f"hermes://docs/none-{n}.md" for n in range(7)), "--json")
    assert len(json.loads(out)["results"]) == 5
    assert "5 pages are read at a time: the other 2 were not" in err
