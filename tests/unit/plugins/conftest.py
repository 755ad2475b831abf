"""Plugins as folders on disk, and a home that knows of them."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from hermes.config import load
from hermes.plugins.loading import load_plugins

QUIET = "def register(ctx):\n    pass\n"


class Home:
    """A Hermes home with plugins, and settings that are written as YAML."""

    def __init__(self, root: Path) -> None:
        self.root = root / "home"
        self.bundled = root / "bundled"
        self.work = root / "work"
        for folder in (self.root, self.bundled, self.work):
            folder.mkdir()
        self.root.chmod(0o700)
        self.environ = {"HERMES_HOME": str(self.root), "HERMES_BUNDLED_PLUGINS": str(self.bundled)}

    def plugin(self, name, code=QUIET, manifest="", *, within=None, **files):
        """Write a plugin's folder; gives its path."""
        folder = (within or self.root / "plugins") / name
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(dedent(manifest))
        (folder / "__init__.py").write_text(dedent(code))
        for file, text in files.items():
            (folder / f"{file}.py").write_text(dedent(text))
        return folder

    def settings(self, text):
        (self.root / "config.yaml").write_text(dedent(text))
        (self.root / "config.yaml").chmod(0o600)

    def enable(self, *keys):
        self.settings(f"plugins:\n  enabled: [{', '.join(keys)}]\n")

    def config(self, **variables):
        return load({**self.environ, **variables})

    def load(self, **variables):
        return load_plugins(self.config(**variables), str(self.work))

    def records(self, **variables):
        return {record.key: record for record in self.load(**variables).plugins}


@pytest.fixture
def home(tmp_path):
    yield Home(tmp_path)
    for name in [name for name in sys.modules if name.startswith("hermes_plugins")]:
        del sys.modules[name]
