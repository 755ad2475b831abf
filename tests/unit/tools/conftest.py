"""The services of a run over a real folder, with a person who answers as told."""

import pytest

from hermes.app.services import Services
from hermes.config import load
from hermes.tools.toolbox import Toolbox, all_tools

KEY = "sk-very-secret-value-1234"


class Person:
    """Answers every question the same way, and remembers what was asked."""

    def __init__(self):
        self.answer = False
        self.asked = []

    async def __call__(self, wanted):
        self.asked.append(wanted)
        return self.answer


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def services(tmp_path, folder, person):
    environ = {
        "HERMES_HOME": str(tmp_path / "hermes"),
        "PATH": "/usr/bin:/bin",
        "CUSTOM_API_KEY": KEY,
        "COPIED": f"x{KEY}y",
        "GREETING": "hello",
    }
    return Services(load(environ), folder=str(folder), approve=person)


@pytest.fixture
def box(services):
    return Toolbox(all_tools(), services)
