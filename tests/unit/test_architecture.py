"""The house stays as drawn: the map, the contract and the folders say the same."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hermes
from hermes import discover, errors
from hermes.providers.base import Registry

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "hermes"
PLAIN_WORDS = {"custom", "local", "or", "together"}
"""Names of providers that also mean something else."""


def layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    flow = next(contract for contract in contracts if contract["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in flow["layers"]]


def rooms_on_the_map():
    return re.findall(r"^    (\w+) {2,}\S", hermes.__doc__, flags=re.MULTILINE)


def test_the_map_shows_every_room_and_no_other():
    rooms = (path for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py")
    folders = {path.stem for path in rooms if not path.stem.startswith("_")}
    assert set(rooms_on_the_map()) == folders


def test_the_map_and_the_contract_agree_on_what_stands_above_what():
    depth = {room: number for number, layer in enumerate(layers()) for room in layer}
    drawn = [depth[room] for room in rooms_on_the_map()]
    assert drawn == sorted(drawn)


def test_every_public_name_loads():
    for name in hermes.__all__:
        assert getattr(hermes, name)
    with pytest.raises(AttributeError, match="nonsense"):
        hermes.nonsense  # noqa: B018


def test_wire_protocols_and_the_loop_name_no_vendor():
    vendors = {
        word for provider in Registry().all() for word in (provider.name, *provider.aliases)
    } - PLAIN_WORDS
    for path in [*(PACKAGE / "transports").rglob("*.py"), *(PACKAGE / "agent").rglob("*.py")]:
        # `x_messages` names a protocol, and a tag in a model's words is no name.
        text = re.sub(r"</?\w+:\w+>", "", path.read_text().lower())
        words = set(re.findall(r"[a-z0-9_-]+", text))
        assert not words & vendors, path
        assert not re.search(r"https?://", path.read_text()), path


def test_only_discover_imports_by_name():
    for path in PACKAGE.rglob("*.py"):
        if path.name != "discover.py":
            assert "import_module" not in path.read_text(), path
            assert "__import__" not in path.read_text(), path


def test_the_error_tree_is_drawn_as_it_is():
    def walk(error, depth):
        yield depth, error.__name__
        for child in error.__subclasses__():
            yield from walk(child, depth + 1)

    lines = errors.__doc__.splitlines()[2:]
    drawn = [
        (found.start(1) // 4, found[1]) for line in lines if (found := re.match(r"[ │├└─]*([A-Z]\w+)", line))
    ]
    actual = list(walk(errors.HermesError, 0))
    assert drawn == actual


def test_an_entry_that_is_not_there_offers_the_nearest():
    with pytest.raises(errors.UnknownName) as caught:
        discover.load("hermes.cli", "caht", "command")
    assert "`chat`" in caught.value.hint


UNUSED = (
    *("aiohttp", "argparse", "json", "secrets", "ruamel"),
    *("hermes.agent.explain", "hermes.agent.structured", "hermes.app.api", "hermes.app.pictures"),
    *("hermes.hooks.execution", "hermes.net.client", "hermes.plugins", "hermes.index.passages"),
    *("hermes.tools.files", "hermes.tools.memory", "hermes.tools.terminal.shell"),
    *("mcp", "hermes.app.mcp", "hermes.tools.mcp", "hermes.server"),
    *("markdown_it", "prompt_toolkit", "hermes.cli._progress", "hermes.cli._screen", "hermes.cli._talk"),
)
"""What an answer of the built-in model does without."""


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (
            ["--help"],
            ("asyncio", "hermes.app", "hermes.agent", "hermes.store", "sqlite3", "difflib", *UNUSED),
        ),
        (["chat", "-q", "How do I add a web search backend?"], UNUSED),
    ],
)
def test_a_command_loads_nothing_that_it_does_not_use(arguments, unused, tmp_path):
    run = (
        "import sys; from hermes.cli._shell import run; code = run(sys.argv[1:]); "
        "print(code, *sys.modules, file=sys.stderr)"
    )
    environ = {"HERMES_HOME": str(tmp_path), "HERMES_MODEL_LOCAL_SERVERS": "false"}
    for _ in range(2):  # the first time, the manual is read into the index
        done = subprocess.run(
            [sys.executable, "-c", run, *arguments],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    code, *loaded = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    assert set(loaded).isdisjoint(unused)
