"""`hermes doctor`: what it finds, in which words, and that one bad check spoils no other."""

import asyncio
import base64
import hashlib
import json

import pytest

from hermes.cli import doctor
from hermes.cli._checks import Finding, Group, installation, ok, safety
from hermes.cli._start_files import suspects
from hermes.errors import NetError

KEY = "sk-secret-0123456789"
DISTUTILS = (
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
    "enabled and __import__('_distutils_hack').add_shim(); "
)
EDITABLE = "import __editable___acme_1_0_finder; __editable___acme_1_0_finder.install()\n"


@pytest.fixture
def checks(hermes):
    """The rows of a check by name."""

    def call(*words):
        _, out, _ = hermes("doctor", "--offline", "--json", *words)
        rows = json.loads(out)["checks"]
        return {row["check"]: [one for one in rows if one["check"] == row["check"]] for row in rows}

    return call


def test_a_fresh_home_is_sound_and_every_group_speaks(checks):
    found = checks()
    assert all(row["status"] == "ok" for rows in found.values() for row in rows)
    groups = [row["group"] for rows in found.values() for row in rows]
    assert list(dict.fromkeys(groups)) == [
        *("installation", "settings", "model", "providers", "web", "what is kept", "MCP", "plugins", "guards")
    ]


def test_a_settings_file_that_cannot_be_read_is_a_row_and_the_rest_is_looked_at(checks, home):
    (home / "config.yaml").write_text("model:\n\tprovider: x\n")
    found = checks()
    (row,) = found["settings"]
    assert row["status"] == "failed"
    assert f"{home}/config.yaml:2" in row["detail"]
    assert row["fix"]
    assert found["addresses"][0]["status"] == "ok"


def test_unknown_keys_and_open_files_are_rows_with_a_fix(checks, home):
    (home / "config.yaml").write_text("modle:\n  provider: x\n")
    (home / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    (home / ".env").chmod(0o644)
    (home / "memory.md").write_text("a fact\n")
    (home / "memory.md").chmod(0o644)
    found = checks()
    opened, unknown = found["settings"]
    assert (unknown["status"], unknown["fix"]) == ("warning", "did you mean `model`")
    assert opened["fix"] == f"run `chmod 600 {home}/.env`"
    assert any(f"chmod go-rwx {home}/memory.md" in row["fix"] for row in found["permissions"])
    assert KEY not in json.dumps(found)


def test_a_plugin_whose_files_changed_fails_and_one_that_is_gone_is_said(checks, hermes, home):
    folder = home / "plugins" / "mine"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: mine\n")
    (folder / "__init__.py").write_text("def register(ctx): pass\n")
    hermes("plugins", "enable", "mine", "--yes")
    (sound,) = checks()["plugins"]
    assert "enabled: mine (" in sound["detail"]
    (folder / "__init__.py").write_text("raise SystemExit\n")
    text = (home / "config.yaml").read_text().replace("- mine\n", "- mine\n  - gone\n")
    (home / "config.yaml").write_text(text)
    _, changed, gone = checks()["plugins"]
    assert changed["status"] == "failed"
    assert "hermes plugins enable mine" in changed["fix"]
    assert "hermes plugins disable gone" in gone["fix"]


def test_an_opened_network_is_a_warning(checks, monkeypatch):
    monkeypatch.setenv("HERMES_SECURITY_ALLOW_PRIVATE_URLS", "true")
    assert checks()["addresses"][0]["status"] == "warning"


def test_a_guard_that_misjudges_is_told(monkeypatch, checks):
    monkeypatch.setattr(safety, "CLOSED", (*safety.CLOSED, "https://example.org/"))
    monkeypatch.setattr(safety, "COMMANDS", {"ls": "forbidden"})
    found = checks()
    assert found["addresses"][0]["detail"] == "misjudged: https://example.org/"
    assert found["commands"][0]["status"] == "failed"


@pytest.mark.parametrize(("room", "status"), [(1 << 62, "failed"), (0, "ok")])
def test_little_room_is_told(monkeypatch, checks, room, status):
    monkeypatch.setattr(installation, "LITTLE_ROOM", room)
    monkeypatch.setattr(installation, "NO_ROOM", room)
    assert checks()["disk"][0]["status"] == status


def test_a_clock_that_is_behind_is_told(monkeypatch, checks):
    monkeypatch.setattr(installation, "A_DAY", -(10**12))
    assert checks()["clock"][0]["status"] == "failed"


def test_a_damaged_session_file_is_told_with_a_fix(checks, home):
    (home / "sessions.db").write_bytes(b"no database at all" * 1000)
    (row,) = checks()["sessions"]
    assert row["status"] == "warning"
    assert "hermes sessions export" in row["fix"]


async def _broken(_scene):
    raise NetError("the cable is out")


async def _hangs(_scene):
    await asyncio.sleep(60)


async def _fine(_scene):
    return ok("well")


def test_a_check_that_fails_or_hangs_spoils_no_other(monkeypatch, hermes):
    group = Group(title="odd", place=1, checks={"broken": _broken, "hangs": _hangs, "fine": _fine})
    monkeypatch.setattr(doctor, "_groups", lambda: [group])
    monkeypatch.setattr(doctor, "LIMIT", 0.05)
    code, out, err = hermes("doctor", "--offline")
    assert code == 1
    assert out.splitlines() == [
        "odd",
        "✗ broken: the cable is out",
        f"  hint: {NetError.mend}",
        "✗ hangs: it took longer than 0.05 s",
        "  hint: look again; `hermes doctor --offline` contacts no server",
        "✓ fine: well",
    ]
    assert err == "3 checks: 2 failed, 0 with a warning\n"


def test_checks_that_contact_servers_are_left_out_offline(monkeypatch, hermes):
    asked = []

    async def call(_scene):
        asked.append(1)
        return Finding("ok", "answers")

    monkeypatch.setattr(
        doctor, "_groups", lambda: [Group(title="t", place=1, checks={}, online={"it": call})]
    )
    hermes("doctor", "--offline")
    assert asked == []
    hermes("doctor")
    assert asked == [1]


def _install(folder, name, content, *, owner="acme-1.0", digest=None):
    (folder / name).write_text(content)
    info = folder / f"{owner}.dist-info"
    info.mkdir(exist_ok=True)
    real = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip("=")
    (info / "RECORD").write_text(f"acme/__init__.py,sha256=x,1\n{name},sha256={digest or real},9\n")


def _why(folder):
    return [found.why for found in suspects((str(folder),))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("paths.pth", "/somewhere/else\n# import os\n"),
        ("_virtualenv.pth", "import _virtualenv"),
        ("distutils-precedence.pth", DISTUTILS),
    ],
)
def test_start_files_that_every_environment_has_are_no_news(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert _why(tmp_path) == []


def test_an_editable_installation_is_no_news_while_it_is_as_installed(tmp_path):
    _install(tmp_path, "__editable__.acme-1.0.pth", EDITABLE)
    assert _why(tmp_path) == []
    _install(tmp_path, "__editable__.acme-1.0.pth", EDITABLE, digest="other")
    assert _why(tmp_path) == ["it was changed after `acme-1.0` was installed"]


def test_code_that_no_package_owns_or_that_nobody_knows_is_told(tmp_path):
    (tmp_path / "zz_helper.pth").write_text("import os; os.system('echo hello')\n")
    _install(tmp_path, "acme_init.pth", "import base64; exec(base64.b64decode('cGFzcw=='))\n")
    owned, stray = _why(tmp_path)
    assert owned.startswith("it came with `acme-1.0`")
    assert stray == "no installed package has this file"


def test_a_known_line_with_something_after_it_is_told(tmp_path):
    (tmp_path / "_virtualenv.pth").write_text("import _virtualenv; import os\n")
    assert _why(tmp_path) == ["no installed package has this file"]
