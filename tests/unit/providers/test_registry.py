"""Providers from three places: the folder, installed packages, and files in the Hermes home."""

import subprocess
import sys

import pytest

from hermes import discover
from hermes.config import Secret
from hermes.errors import ConfigError, HermesError, UnknownName
from hermes.providers.base import Keys, Preferences, Registry, Resolver
from hermes.providers.base.address import is_loopback

ACME = """
from hermes.protocols import Provider

PROVIDER = Provider(
    name={name!r}, title="Acme", api_mode="chat_completions", base_url="https://acme.example/v1",
    aliases={aliases!r}, key_required=False, default_model="m",
)
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / "providers").mkdir()
    return tmp_path


@pytest.fixture
def drop(home):
    def write(name, *, aliases=(), text=None, after=""):
        path = home / "providers" / f"{name}.py"
        path.write_text((ACME.format(name=name, aliases=aliases) if text is None else text) + after)
        return path

    return write


def registry(home):
    return Registry(str(home))


def test_a_file_in_the_home_is_a_provider(home, drop):
    drop("acme", aliases=("ac",))
    found = registry(home)
    assert "acme" in found.names()
    assert found.load("acme").title == "Acme"
    assert found.load("ac") is found.load("acme")
    assert found.problems == ()


def test_a_home_without_the_folder_has_the_built_in_ones(tmp_path):
    assert registry(tmp_path / "none").names() == Registry().names()


def test_private_files_and_other_files_are_not_providers(home, drop):
    drop("_draft", text="raise SystemExit")
    drop(".hidden", text="raise SystemExit")
    (home / "providers" / "notes.txt").write_text("x")
    (home / "providers" / "__pycache__").mkdir()
    assert registry(home).names() == Registry().names()


def test_the_working_folder_is_no_place_for_providers(home, drop, monkeypatch):
    drop("acme")
    monkeypatch.chdir(home)
    assert "acme" not in Registry().names()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nimport nothing_like_this\n", r"broken\.py:2: .*ModuleNotFoundError"),
        ("x = 1\n\ndef f(:\n", r"broken\.py:3: .*SyntaxError"),
        ("def f():\n    return 1 / 0\n\nf()\n", r"broken\.py:2: .*ZeroDivisionError"),
        ("raise SystemExit(3)\n", r"broken\.py:1: .*SystemExit"),
        (
            "from hermes.protocols import Provider\nPROVIDER = Provider(nam='x')\n",
            r"broken\.py:2: .*TypeError",
        ),
        ("", r"broken\.py` has no provider"),
        ("PROVIDER = 'broken'\n", r"broken\.py` has no provider"),
        (ACME.format(name="other", aliases=()), r"holds the provider `other`"),
    ],
)
def test_a_broken_file_is_an_error_for_who_asks_and_a_problem_for_the_others(home, drop, text, words):
    drop("broken", text=text)
    drop("acme")
    found = registry(home)
    assert found.load("acme").name == "acme"
    assert "broken" not in [provider.name for provider in found.all()]
    assert len(found.problems) == 1
    with pytest.raises(ConfigError, match=words) as caught:
        found.load("broken")
    assert caught.value.hint


def test_a_file_that_anybody_may_write_is_not_run(home, drop):
    drop("acme").chmod(0o666)
    with pytest.raises(ConfigError, match="can be changed by other users") as caught:
        registry(home).load("acme")
    assert "chmod go-w" in caught.value.hint


def test_a_name_that_is_taken_is_an_error_that_names_both_places(home, drop):
    path = drop("openai")
    found = registry(home)
    with pytest.raises(ConfigError) as caught:
        found.load("openai")
    assert "`hermes.providers.openai`" in str(caught.value)
    assert str(path) in str(caught.value)
    assert "OVERRIDES = True" in caught.value.hint
    assert found.load("anthropic")
    assert [str(problem) for problem in found.problems] == [str(caught.value)]


def test_a_file_that_says_so_overrides_a_built_in_provider_and_its_aliases(home, drop):
    drop("openai", aliases=("grok",), after="OVERRIDES = True\n")
    found = registry(home)
    assert found.load("openai").title == "Acme"
    assert found.load("grok").name == "openai"
    assert found.problems == ()


def test_an_alias_that_two_claim_is_an_error_that_names_both_files(home, drop):
    drop("acme", aliases=("mine",))
    drop("bold", aliases=("mine", "b"))
    found = registry(home)
    with pytest.raises(ConfigError, match=r"acme\.py` and .*bold\.py`"):
        found.load("mine")
    assert (found.load("b").name, found.load("acme").name) == ("bold", "acme")
    assert ["`mine`" in str(problem) for problem in found.problems] == [True]


def test_an_alias_that_is_another_providers_name_is_a_problem(home, drop):
    drop("acme", aliases=("openai",))
    found = registry(home)
    assert found.load("openai").title == "OpenAI"
    assert "hermes.providers.openai" in str(found.problems[0])


def test_an_unknown_name_offers_the_nearest_of_all_places(home, drop):
    drop("acme", aliases=("acmeville",))
    with pytest.raises(UnknownName) as caught:
        registry(home).load("acmee")
    assert "`acme`" in caught.value.hint


def test_loading_one_provider_loads_no_other():
    program = """
import sys
from hermes.providers.base import Registry
from hermes.providers.base.address import is_loopback
Registry().load("custom")
print(sorted(name for name in sys.modules if name.startswith("hermes.providers.")))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "hermes.providers.custom" in ran.stdout
    assert "hermes.providers.openai" not in ran.stdout
    assert "hermes.providers.scout" not in ran.stdout


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A distribution as an installer leaves it: a module, and a `.dist-info` folder beside it."""
    site = tmp_path / "site"
    info = site / "acme_hermes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hermes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nacme = acme_hermes:main\n\n[hermes.providers]\n# ours\n"
        "acme = acme_hermes:PROVIDER\nbad = acme_hermes:NOTHING\n\n[other]\nx = y:z\n"
    )
    (site / "acme_hermes.py").write_text(ACME.format(name="acme", aliases=("ac",)))
    monkeypatch.syspath_prepend(str(site))
    return site


def test_an_installed_package_offers_a_provider(installed, tmp_path):
    found = registry(tmp_path)
    assert found.load("acme").title == "Acme"
    assert found.load("ac").name == "acme"
    with pytest.raises(ConfigError, match="`acme_hermes:NOTHING` cannot be loaded"):
        found.load("bad")
    assert len(found.problems) == 1


def test_what_lies_in_the_working_folder_is_not_installed(installed, tmp_path, monkeypatch):
    monkeypatch.chdir(installed)
    assert "acme" not in registry(tmp_path).names()


def test_a_package_and_a_file_of_the_same_name_clash(installed, home, drop):
    path = drop("acme")
    with pytest.raises(ConfigError) as caught:
        registry(home).load("acme")
    assert "acme_hermes:PROVIDER" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("provider", Registry().all(), ids=lambda provider: provider.name)
def test_what_a_file_is_chosen_by_stands_in_it_word_for_word(provider):
    text = discover.text("hermes.providers", provider.name.replace("-", "_"))
    for variable in (*provider.key_env, *provider.base_url_env):
        assert f'"{variable}"' in text
    assert not is_loopback(provider.base_url) or "127.0.0.1" in text or "localhost" in text
    assert provider.engine is None or "engine=" in text


def test_a_first_question_loads_no_provider_that_nothing_asks_for():
    program = """
import sys
from hermes.providers.base import Keys, Preferences, Registry, Resolver
print(Resolver(Registry(), Preferences(), lambda _name: None, lambda _name: None).choose().reason)
print(sorted(name for name in sys.modules if name.startswith("hermes.providers.")))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("built in\n")
    assert "hermes.providers.scout" in ran.stdout
    assert "hermes.providers.openai" not in ran.stdout


@pytest.mark.parametrize(
    "variable",
    sorted({name for one in Registry().all() for name in (*one.key_env, *one.base_url_env)}),
)
def test_reading_the_files_chooses_as_loading_them_all_would(variable, monkeypatch):
    variables = {variable: "http://far.example/v1" if "KEY" not in variable else "k"}

    def keys(name):
        return Keys(name, Secret(variables[name]).split()) if name in variables else None

    def choose():
        resolver = Resolver(Registry(), Preferences(model="m"), variables.get, keys)
        try:
            choice = resolver.choose()
        except HermesError as error:
            return str(error)
        return choice.endpoint.provider.name, choice.reason

    by_reading = choose()
    monkeypatch.setattr(Registry, "where", lambda self, _tells: self.all())
    assert by_reading == choose()
