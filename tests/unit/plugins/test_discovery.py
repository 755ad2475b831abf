"""Which plugins there are, and which names and places are refused."""

import os
import sys

import pytest

from hermes.plugins import discovery

MARK = """
    import pathlib, os
    pathlib.Path(os.environ["HERMES_HOME"], "imported").write_text(__name__)

    def register(ctx):
        pass
"""


@pytest.fixture(autouse=True)
def in_this_home(home, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(home.root))


def imported(home):
    mark = home.root / "imported"
    return mark.read_text() if mark.exists() else None


def test_an_enabled_plugin_of_the_user_is_loaded(home):
    home.plugin("mine", MARK)
    home.enable("mine")
    record = home.records()["mine"]
    assert (record.state, record.source, record.reason) == ("enabled", "user", "")
    assert imported(home) == "hermes_plugins.mine"


def test_a_plugin_that_is_not_enabled_is_found_and_never_imported(home):
    home.plugin("mine", MARK)
    record = home.records()["mine"]
    assert record.state == "not enabled"
    assert "hermes plugins enable mine" in record.reason
    assert imported(home) is None
    assert "hermes_plugins.mine" not in sys.modules


def test_a_plugin_in_both_lists_is_not_loaded(home):
    home.plugin("mine", MARK)
    home.settings("plugins: {enabled: [mine], disabled: [mine]}\n")
    record = home.records()["mine"]
    assert (record.state, record.reason) == ("disabled", "disabled via config")
    assert imported(home) is None


def test_the_name_in_the_manifest_enables_and_disables_too(home):
    home.plugin("folder", MARK, "name: pretty", within=home.root / "plugins" / "cat")
    home.enable("pretty")
    assert home.records()["cat/folder"].state == "enabled"
    home.settings("plugins: {enabled: [cat/folder], disabled: [pretty]}\n")
    assert home.records()["cat/folder"].state == "disabled"


@pytest.mark.parametrize(("flag", "is_there"), [("", False), ("0", False), ("1", True), ("true", True)])
def test_a_plugin_of_the_project_needs_the_flag_to_be_found_at_all(home, flag, is_there):
    home.plugin("p", MARK, within=home.work / ".hermes" / "plugins")
    home.enable("p")
    records = home.records(HERMES_ENABLE_PROJECT_PLUGINS=flag)
    assert ("p" in records) is is_there
    assert (imported(home) is not None) is is_there


def test_of_one_key_only_the_later_place_is_imported_and_it_keeps_the_slot(home):
    home.plugin("a", "raise RuntimeError('the bundled one')", within=home.bundled)
    home.plugin("b", within=home.bundled)
    home.plugin("a", MARK)
    home.enable("a", "b")
    records = home.load().plugins
    assert [(record.key, record.source, record.state) for record in records] == [
        ("a", "user", "enabled"),
        ("b", "bundled", "enabled"),
    ]


def test_a_folder_without_a_manifest_is_a_category_and_no_deeper(home):
    user = home.root / "plugins"
    home.plugin("p", within=user / "cat")
    home.plugin("c", within=user / "a" / "b")
    (user / "notes.txt").write_text("x")
    (user / "empty").mkdir()
    assert list(home.records()) == ["cat/p"]


def test_two_plugins_of_one_name_in_two_categories_are_two(home):
    for category in ("image_gen", "tts"):
        home.plugin("openai", MARK, "name: openai", within=home.root / "plugins" / category)
    assert list(home.records()) == ["image_gen/openai", "tts/openai"]


def test_a_flat_plugin_has_the_key_of_its_manifest_and_else_of_its_folder(home):
    home.plugin("folder", manifest="name: shown")
    home.plugin("plain")
    assert list(home.records()) == ["shown", "plain"]


def test_other_loaders_folders_of_bundled_plugins_are_passed_over(home):
    home.plugin("m", within=home.bundled / "memory")
    home.plugin("x", within=home.bundled / "context_engine")
    home.plugin("p", within=home.bundled / "platforms")
    assert list(home.records()) == ["platforms/p"]


def test_safe_mode_finds_nothing(home):
    home.plugin("mine", MARK)
    home.enable("mine")
    assert home.load(HERMES_SAFE_MODE="1").plugins == ()
    assert imported(home) is None


def test_enabling_in_one_home_says_nothing_in_another(home, tmp_path):
    home.plugin("mine", MARK)
    home.enable("mine")
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    assert home.load(HERMES_HOME=str(other)).registrations == ()
    assert imported(home) is None


def test_an_entry_point_of_a_package_is_a_plugin(home, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "acme-1.dist-info").mkdir(parents=True)
    (site / "acme-1.dist-info" / "entry_points.txt").write_text(
        "[hermes_agent.plugins]\nacme = acme_plugin\n"
    )
    (site / "acme_plugin.py").write_text(
        "def register(ctx):\n    ctx.register_hook('post_tool_call', lambda **_: None)\n"
    )
    monkeypatch.syspath_prepend(str(site))
    assert home.records()["acme"].state == "not enabled"
    assert "acme_plugin" not in sys.modules
    home.enable("acme")
    record = home.records()["acme"]
    assert (record.state, record.source, record.hooks) == ("enabled", "package", ("post_tool_call",))
    del sys.modules["acme_plugin"]


BAD_NAMES = ["../x", "/etc/x", '"a\\0b"', "a/b", "..", "-x", ".hidden", "a b", "é", "x" * 65, "a..b"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_be_a_path_is_refused(home, name):
    home.plugin("folder", MARK, f"name: {name}")
    home.settings(f"plugins:\n  enabled: [folder, {name}]\n" if "\\0" not in name else "")
    (record,) = home.load().plugins
    assert record.state == "refused"
    assert "cannot be a plugin's name" in record.reason
    assert imported(home) is None


def test_names_that_differ_by_case_or_by_a_dash_are_refused_after_the_first(home):
    home.plugin("a-b", within=home.bundled)
    for name in ("A-B", "a_b", "other"):
        home.plugin(name, MARK)
    home.enable("a-b", "A-B", "a_b", "other")
    states = [(record.key, record.state) for record in home.load().plugins]
    assert states == [("a-b", "enabled"), ("A-B", "refused"), ("a_b", "refused"), ("other", "enabled")]


def test_a_link_out_of_the_folder_is_refused(home, tmp_path):
    outside = home.plugin("evil", MARK, within=tmp_path / "elsewhere")
    (home.root / "plugins").mkdir()
    (home.root / "plugins" / "evil").symlink_to(outside)
    home.enable("evil")
    (record,) = home.load().plugins
    assert record.state == "refused"
    assert "leads out" in record.reason
    assert imported(home) is None


def test_a_link_inside_the_folder_is_not_refused(home):
    home.plugin("real")
    os.symlink("real", home.root / "plugins" / "again")
    assert [record.state for record in home.load().plugins] == ["not enabled"] * 2


@pytest.mark.parametrize(
    "manifest", ["[1, 2]", "a: b: c", "name: *alias", "!!python/object:os.system x", "name: [x]\nkind: {}"]
)
def test_a_manifest_that_cannot_be_understood_is_refused_or_said(home, manifest):
    home.plugin("odd", MARK, manifest)
    (record,) = home.load().plugins
    assert record.reason or record.warnings
    assert imported(home) is None


def test_a_slug_is_a_modules_name():
    assert discovery.slug("observability/nemo-relay") == "observability__nemo_relay"
