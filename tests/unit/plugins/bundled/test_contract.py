"""The plugins that come with Hermes, held against what is asked of any plugin."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hermes.plugins
from hermes.plugins.testing import Harness

FOLDER = Path(hermes.plugins.__path__[0])
BUNDLED = sorted(manifest.parent.name for manifest in FOLDER.glob("*/plugin.yaml"))


@pytest.fixture(autouse=True)
def forgotten():
    yield
    for name in [name for name in sys.modules if name.startswith("hermes_plugins")]:
        del sys.modules[name]


def test_all_of_them_are_found():
    assert BUNDLED == ["budget", "otel", "redact", "replay_log"]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_plugin_keeps_the_contract(name, tmp_path):
    Harness.load(FOLDER / name, home=str(tmp_path)).assert_contract()


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_plugin_is_an_example_that_takes_only_what_everybody_has(name):
    for file in (FOLDER / name).glob("*.py"):
        taken = re.findall(r"^\s*(?:from|import) (hermes[\w.]*)", file.read_text(), re.MULTILINE)
        assert set(taken) <= {"hermes.plugins"}, file
        assert len(file.read_text().splitlines()) < 220, file


WITHOUT_THE_SDK = """
import sys
sys.modules["opentelemetry"] = None
from hermes.plugins.testing import Harness
harness = Harness.load(sys.argv[1], home=sys.argv[2])
assert harness.registrations
"""


def test_spans_go_to_a_file_where_the_sdk_is_not_installed(tmp_path):
    command = [sys.executable, "-c", WITHOUT_THE_SDK, str(FOLDER / "otel"), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert os.listdir(tmp_path / "plugin-data") == ["otel"]
