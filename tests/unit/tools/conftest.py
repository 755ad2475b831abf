"""The services of a run over a real folder, with a person who answers as told."""

import pytest

from hermes.agent.approvals import Approvals
from hermes.app.services import Services
from hermes.config import load
from hermes.tools.base import failure
from hermes.tools.toolbox import ALL, Toolbox, select

KEY = "sk-very-secret-value-1234"


class Person:
    """Answers every question the same way, and remembers what was asked."""

    def __init__(self):
        self.answer = "deny"
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
def services(tmp_path, folder):
    environ = {
        "HERMES_HOME": str(tmp_path / "hermes"),
        "PATH": "/usr/bin:/bin",
        "CUSTOM_API_KEY": KEY,
        "COPIED": f"x{KEY}y",
        "GREETING": "hello",
    }
    return Services(load(environ), folder=str(folder))


class JudgedBox(Toolbox):
    """A toolbox whose calls are judged before they are run, as in a conversation."""

    def __init__(self, services, approvals):
        super().__init__(select([ALL]), services)
        self.approvals = approvals

    async def call(self, name, arguments, judged=None):
        fitted = self.fit(name, arguments)
        concern = self.concern(name, fitted)
        refused = await self.approvals.judge(name, fitted, concern)
        return failure(refused.words) if refused else await super().call(name, fitted, concern)


@pytest.fixture
def box(services, person):
    return JudgedBox(services, Approvals(approve=person))
