"""The manual is true where a machine can tell: links, headings, commands, settings, code."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import click
import msgspec
import pytest
from manual import transcripts
from manual.files import FOLDER, made

from hermes import Agent, discover, errors, events
from hermes.app.survey import Offer
from hermes.cli.tools import Row
from hermes.config import Config, load
from hermes.protocols import Provider
from hermes.providers.base.listing import ModelInfo

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
LARGEST_MANUAL = 200_000

_FENCED = re.compile(r"^(?P<fence>````?)(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S)
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def _prose(text: str) -> str:
    return _FENCED.sub("", text)


def _code(page: Path, *languages: str) -> Iterator[str]:
    for block in _FENCED.finditer(page.read_text(encoding="utf-8")):
        if block["language"] in languages:
            yield block["body"]


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", _prose(page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@_every_page
def test_links_lead_somewhere(page):
    for link in _LINK.findall(_prose(page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{link} leads nowhere"
        assert not anchor or anchor in _anchors(target), f"{link} has no such heading"


@_every_page
def test_a_page_has_one_title_and_it_comes_first(page):
    headings = re.findall(r"^(#+) ", _prose(page.read_text(encoding="utf-8")), re.M)
    assert headings[0] == "#"
    assert headings.count("#") == 1


def test_titles_tell_pages_apart():
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in sorted(DOCS.rglob("*.md"))]
    assert len(set(titles)) == len(titles)


@_every_page
def test_every_code_block_is_closed_and_named(page):
    text = page.read_text(encoding="utf-8")
    assert all(block["language"] for block in _FENCED.finditer(text)), "a block without a language"
    assert not re.search(r"^```", _prose(text), re.M), "a block that is not closed"


def _called(page: Path) -> Iterator[list[str]]:
    """The words of each command line that begins with `hermes`, in shell blocks and in running text."""
    text = page.read_text(encoding="utf-8")
    for block in _code(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"[|;&]+|\$\(|\)", re.sub(r"\s#\s.*", "", line)):
                words = _words(part)
                while words and re.fullmatch(r"[A-Za-z_]+=.*|if|then|!", words[0]):
                    words = words[1:]
                if words and words[0] in ("hermes", "./hermes"):
                    yield words[1:]
    for inline in re.findall(r"(?<!`)`(?:\./)?hermes ([^`]+)`(?!`)", _prose(text)):
        yield _words(inline)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.replace('"', " ").replace("'", " ").split()


@_every_page
def test_named_commands_and_options_exist(page):
    for words in _called(page):
        if words[:1] in (["--version"], ["--help"], ["-h"]):
            continue
        assert words, "`hermes` without a command"
        _check_call(discover.load("hermes.cli", words[0], "command").command, words[1:])


def _check_call(command: click.Command, words: list[str]) -> None:
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"`{command.name}` has no `{words[0]}`"
        _check_call(command.commands[words[0]], words[1:])
        return
    options = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
    for word in words:
        if re.fullmatch(r"-[a-z]|--[a-z][a-z-]*", word):
            assert word in options, f"`{command.name}` has no `{word}`"


def _pythons() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for number, body in enumerate(_code(page, "python"), 1):
            yield f"{page.relative_to(ROOT)}-{number}", body


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in _pythons()])
def test_python_code_compiles_and_imports_what_exists(body):
    compile(body, "example", "exec")
    for module, names in re.findall(r"^from (hermes[\w.]*) import (.+)$", body, re.M):
        for name in names.split(","):
            assert hasattr(discover.module(module), name.strip()), f"{module} has no {name}"


def _examples() -> Iterator[tuple[str, str]]:
    return ((name, body) for name, body in _pythons() if name.startswith("docs/guides/embedding.md"))


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in _examples()])
def test_the_examples_for_python_run_as_they_stand(body, tmp_path):
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    alone = {"HERMES_HOME": str(tmp_path / "home"), "HERMES_MODEL_LOCAL_SERVERS": "false"}
    ran = subprocess.run(
        [sys.executable, "-W", "default", "-c", body],
        env={**kept, **alone},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout or "print" not in body


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_json_code_is_json(page):
    for body in _code(page, "json"):
        msgspec.json.decode(body)


def _settings() -> dict[str, object]:
    found: dict[str, object] = {}
    for section in msgspec.structs.fields(Config):
        if isinstance(section.type, type) and issubclass(section.type, msgspec.Struct):
            for key in msgspec.structs.fields(section.type):
                found[f"{section.name}.{key.name}"] = key
    return found


def test_the_page_of_settings_and_the_settings_agree():
    page = (DOCS / "reference" / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- `([a-z_]+\.[a-z_]+)` \(variable `(HERMES_[A-Z_]+)`\)", page, re.M)
    assert {key for key, _ in rows} == set(_settings())
    assert all(variable == f"HERMES_{key.replace('.', '_').upper()}" for key, variable in rows)


@_every_page
def test_settings_named_on_a_page_exist(page):
    sections = {key.partition(".")[0] for key in _settings()}
    pattern = rf"(?<![\w./-])((?:{'|'.join(sorted(sections))})\.[a-z_]+)(?![\w./(-])"
    for key in re.findall(pattern, _prose(page.read_text(encoding="utf-8"))):
        assert key in _settings(), f"there is no setting {key}"


def test_the_page_of_errors_and_the_errors_agree():
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    real = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.HermesError)
    }
    rows = dict(re.findall(r"^- `(\w+)` \(exit code (\d+)\)", page, re.M))
    assert {name: int(code) for name, code in rows.items()} == {
        name: kind.exit_code for name, kind in real.items()
    }
    assert set(re.findall(r"^[│├└─ ]*(\w+)$", page.partition("```text")[2].partition("```")[0], re.M)) == set(
        real
    )


def test_the_page_of_shapes_names_every_event_and_its_fields():
    page = (DOCS / "reference" / "json-shapes.md").read_text(encoding="utf-8")
    rows = {
        tag: re.findall(r"`(\w+)`", fields)
        for tag, fields in re.findall(r"^- The event `(\w+)` has ([^:]+):", page, re.M)
    }
    for kind in get_type_hints(_Holder)["event"].__args__:
        assert rows[kind.__struct_config__.tag] == list(kind.__struct_fields__)


def test_the_page_of_shapes_names_every_field_of_providers_and_models():
    page = (DOCS / "reference" / "json-shapes.md").read_text(encoding="utf-8")
    section = page.partition("## The JSON of hermes models\n")[2].partition("\n## ")[0]
    for beginning, kind in (("each provider holds", Offer), ("Each entry in `models` holds", ModelInfo)):
        fields = section.partition(beginning)[2].partition(".\n")[0].partition(", with")[0]
        assert re.findall(r"`(\w+)`", fields) == list(kind.__struct_fields__)


class _Holder:
    event: events.Event


def test_the_page_of_shapes_names_every_field_of_a_tool():
    page = (DOCS / "reference" / "json-shapes.md").read_text(encoding="utf-8")
    section = page.partition("## The JSON of hermes tools\n")[2].partition(".\n")[0]
    assert re.findall(r"`(\w+)`", section.partition("each tool holds")[2]) == list(Row.__struct_fields__)


def test_the_guide_to_providers_names_every_field():
    page = (DOCS / "guides" / "add-a-provider.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `(\w+)` ", page, re.M) == list(Provider.__struct_fields__)


def test_the_page_of_commands_describes_every_command_and_option():
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for name in discover.names("hermes.cli"):
        assert f"## hermes {name}\n" in page, f"no section for `hermes {name}`"
        section = page.partition(f"## hermes {name}\n")[2].partition("\n## ")[0]
        for option in _options(discover.load("hermes.cli", name, "command").command):
            assert re.search(rf"[ `]{option}[ `]", section), f"`hermes {name}` does not mention {option}"


def _options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from parameter.opts
    if isinstance(command, click.Group):
        for child in command.commands.values():
            yield from _options(child)


ASKED = {
    "How do I add a web search backend?": "guides/add-a-web-backend",
    "How do I add a model provider?": "guides/add-a-provider",
    "How do I add a tool?": "guides/add-a-tool",
    "How do I let a model run commands?": "guides/local-tools",
    "What does memory keep?": "guides/local-tools",
    "How do I write a plugin?": "guides/write-a-plugin",
    "How do I change the model?": "guides/models",
    "How do I use Ollama?": "guides/local-models",
    "How do I store a key?": "guides/keys",
    "Where do settings live?": "reference/configuration",
    "Where are sessions stored?": "concepts/sessions",
    "How do I export a conversation?": "concepts/sessions",
    "How do I remove a document from the index?": "guides/your-documents",
    "What is Hermes?": "concepts/flow",
    "What is scout?": "concepts/scout",
    "What are the exit codes?": "guides/scripting",
    "How do I uninstall Hermes?": "guides/install",
    "Does Hermes send telemetry?": "concepts/safety",
    "How do I stream an answer from Python?": "guides/embedding",
    "How do I show a picture to a model from Python?": "guides/embedding",
    "How do I see which tools are offered?": "guides/local-tools",
    "What does RateLimited mean?": "reference/errors",
    "How do I search X?": "guides/search-x",
    "How do I serve Hermes to other programs?": "guides/serve",
    "How do I use Hermes with an OpenAI client?": "guides/serve",
    "How do I attach a file to a question?": "guides/conversation",
}


@pytest.mark.parametrize("question", ASKED)
async def test_the_manual_answers_what_people_ask(question, tmp_path):
    async with Agent(model="scout", config=load({"HERMES_HOME": str(tmp_path)})) as agent:
        answer = await agent.run(question)
    assert f"hermes://docs/{ASKED[question]}.md" in [citation.url for citation in answer.citations]


def _hermes(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "hermes", *words]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUSTOM_")}
    return subprocess.run(
        command,
        env={**environment, "HERMES_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )


def test_printed_json_has_the_documented_shape(tmp_path):
    shapes = map(msgspec.json.decode, _code(DOCS / "reference" / "json-shapes.md", "json"))
    calls = (
        ("search", "scout", "--json"),
        ("extract", "hermes://docs/concepts/scout.md", "--json"),
        ("chat", "-q", "What is scout?", "--json"),
    )
    for shape, call in zip(shapes, calls, strict=True):
        assert _shape(msgspec.json.decode(_hermes(tmp_path, *call).stdout)) == _shape(shape)


def _shape(value: object) -> object:
    """The keys of an object and of what it holds; of a list, those of its first item."""
    match value:
        case dict():
            return {key: _shape(item) for key, item in value.items()}
        case [first, *_]:
            return [_shape(first)]
        case _:
            return None


@pytest.mark.parametrize("page", transcripts.PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page):
    shown = page.read_text(encoding="utf-8")
    assert transcripts.recorded(shown) == shown, "run `make reference`"


def test_the_manual_stays_small_enough_to_read():
    written = [page for page in DOCS.rglob("*.md") if page.parent.name != "generated"]
    assert sum(page.stat().st_size for page in written) < LARGEST_MANUAL


@pytest.mark.parametrize("name", made())
def test_what_is_made_from_the_code_is_up_to_date(name):
    page = FOLDER / name
    assert page.is_file(), "run `make reference`"
    assert page.read_text(encoding="utf-8") == made()[name], "run `make reference`"


def test_nothing_that_was_made_once_is_left_over():
    assert {page.name for page in FOLDER.iterdir()} == set(made())


@_every_page
def test_no_page_names_a_path_of_one_machine(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|work|Users)/", text)
    assert os.path.expanduser("~") + "/" not in text
