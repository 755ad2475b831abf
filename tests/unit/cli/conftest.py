"""A home of its own for each test, and commands run in this process."""

import io
import os

import pytest

from hermes.cli._shell import run
from hermes.config.keys import KEYS


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("HERMES_HOME", str(folder))
    for key in KEYS.values():
        monkeypatch.delenv(key.variable, raising=False)
    monkeypatch.setenv("HERMES_MODEL_LOCAL_SERVERS", "false")
    return folder


@pytest.fixture
def hermes(home, capfd, monkeypatch):
    def call(*words, stdin=""):
        with open(os.devnull) as nothing:
            monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if stdin else nothing)
            code = run(list(words))
        return code, *capfd.readouterr()

    return call
