"""What a plugin says of itself."""

import pytest

from hermes.errors import PluginError
from hermes.plugins import manifest
from hermes.plugins.manifest import Manifest, Variable


@pytest.fixture
def read(tmp_path):
    def from_text(text, code="", name="plugin.yaml"):
        folder = tmp_path / "folder"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / "__init__.py").write_text(code)
        return manifest.read(str(folder))

    return from_text


def test_every_field_is_read(read):
    found = read(
        """
name: relay
version: 1.5
description: Sends things.
author: somebody
kind: backend
requires_env: [A_KEY, {name: B_KEY, description: the second, password: true}]
provides_tools: [relay]
provides_hooks: [post_tool_call]
hooks: [post_tool_call]
optional_env: []
label: Relay
pip_dependencies: [relay]
capabilities: [tool.block, observe, tools.override]
"""
    )
    assert found == Manifest(
        name="relay",
        version="1.5",
        description="Sends things.",
        author="somebody",
        kind="backend",
        requires_env=(Variable("A_KEY"), Variable("B_KEY", "the second", password=True)),
        provides_tools=("relay",),
        provides_hooks=("post_tool_call",),
        capabilities=("tool.block", "observe", "tool.override"),
    )


def test_an_empty_manifest_is_named_after_its_folder_and_the_other_ending_counts(read):
    assert read("", name="plugin.yml") == Manifest(name="folder")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nam: x", "unknown key `nam`"),
        ("warnings: x", "unknown key `warnings`"),
        ("kind: turbo", "`kind: turbo` is not known"),
        ("capabilities: [fly]", "`fly` in `plugin.yaml` is no capability"),
        ("requires_env: X", "`requires_env` in `plugin.yaml` must be a list"),
        ("requires_env: [{description: y}]", "must be a list of names"),
        ("name: [x]", "`name` in `plugin.yaml` must be text"),
        ("provides_tools: x", "`provides_tools` in `plugin.yaml` must be a list"),
    ],
)
def test_what_does_not_fit_is_warned_of(read, text, words):
    (warning,) = read(text).warnings
    assert words in warning


def test_no_capabilities_and_an_empty_list_of_them_are_not_the_same(read):
    assert read("name: x").capabilities is None
    assert read("capabilities: []").capabilities == ()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("def register(ctx): ctx.register_memory_provider(x)", "exclusive"),
        ("register_provider(ProviderProfile())", "model-provider"),
        ("register_provider(x)", "standalone"),
        ("#" * 9000 + "register_memory_provider", "standalone"),
    ],
)
def test_a_kind_that_is_not_said_is_seen_in_the_code(read, code, kind):
    assert read("name: x", code).kind == kind
    assert read("kind: standalone", code).kind == "standalone"


@pytest.mark.parametrize("text", ["- a", "just text"])
def test_a_manifest_that_is_no_mapping_is_an_error(read, text):
    with pytest.raises(PluginError, match="not a mapping"):
        read(text)


def test_a_folder_without_a_manifest_is_an_error(tmp_path):
    with pytest.raises(PluginError, match=r"has no `plugin\.yaml`"):
        manifest.read(str(tmp_path))
