"""Every error tells a person what to do next, in words that name something real, in one voice."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hermes import discover, errors
from hermes.config.keys import KEYS
from hermes.config.settings import SECTIONS
from hermes.providers.base import Registry
from hermes.tools.web.select import Backends

PACKAGE = Path(errors.__file__).parent
KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.HermesError)
}
UNKNOWN = "\0"
STOPPED = {"Interrupted"}
"""Nothing is wrong, so nothing is to be mended."""


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name in discover.names("hermes.cli"):
        command = discover.load("hermes.cli", name, "command").command
        yield name, command
        for word, child in command.commands.items() if isinstance(command, click.Group) else ():
            yield f"{name} {word}", child


COMMANDS = dict(_commands())
OPTIONS = {option for command in COMMANDS.values() for one in command.params for option in one.opts} | {
    "--help"
}


def _is_real(literal: str) -> bool:
    """Whether a text in backticks names a command, an option, a setting or a variable that there is."""
    words = literal.split()
    if words[0] == "hermes":
        names = [word for word in words[1:] if re.fullmatch(r"[a-z]+", word)]
        return _is_command(names) and all(option in OPTIONS for option in words if option.startswith("--"))
    if words[0].startswith("-"):
        return words[0] in OPTIONS
    if words[0].partition(".")[0] in SECTIONS and "." in words[0]:
        return words[0] in KEYS or words[0].count(".") > 1
    return words[0].isupper() and words[0].isidentifier()


def _is_command(names: list[str]) -> bool:
    if not names:
        return True
    return " ".join(names[:2]) in COMMANDS or names[0] in COMMANDS


def _literals(text: str) -> list[str]:
    return [literal for literal in re.findall(r"`([^`]+)`", text) if literal.strip()]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_of_error_says_what_to_do_and_names_something_real(name):
    words = KINDS[name].mend
    if name in STOPPED:
        assert words == ""
        return
    assert any(map(_is_real, _literals(words))), words


TITLES = [one.title for one in (*Registry().all(), *Backends().all())]
NAMES = {"Hermes", "MCP", *(title.partition(" ")[0] for title in TITLES)}
AS_OTHERS_EXPECT = {"Invalid", "No"}
"""How messages begin whose words were there before Hermes."""


def _texts(node: ast.expr) -> Iterator[str]:
    """The texts that an expression can be, with a mark for what is not known."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(value.value if isinstance(value, ast.Constant) else UNKNOWN for value in values)
        case ast.IfExp(body=body, orelse=other):
            yield from _texts(body)
            yield from _texts(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _texts(value)
        case _:
            return


def _raised() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "hermes.errors import" in text else ():
            if isinstance(node, ast.Call) and _called(node) in KINDS and (node.args or node.keywords):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


RAISED = dict(_raised())


def _hints() -> Iterator[tuple[str, str]]:
    for place, node in RAISED.items():
        for keyword in node.keywords:
            if keyword.arg == "hint":
                for text in _texts(keyword.value):
                    yield place, text


def test_the_errors_that_are_raised_were_found():
    assert len(RAISED) > 250
    assert len(list(_hints())) > 100


def test_hints_name_commands_and_settings_that_there_are():
    wrong = [
        f"{place}: {literal}"
        for place, text in _hints()
        for literal in _literals(text)
        if literal.startswith(("hermes ", "--", *(f"{section}." for section in SECTIONS)))
        and UNKNOWN not in literal
        and not _is_real(literal)
    ]
    assert wrong == []


def test_messages_and_hints_have_one_voice():
    """Lower case, unless a name begins it, and no full stop at the end."""
    wrong = []
    for place, node in RAISED.items():
        said = [text for argument in node.args[:1] for text in _texts(argument)]
        said += [text for keyword in node.keywords if keyword.arg == "hint" for text in _texts(keyword.value)]
        for text in said:
            first = text.partition(" ")[0].rstrip(",:")
            is_name = first in NAMES | AS_OTHERS_EXPECT or not first.isalpha()
            if (text[:1].isupper() and not is_name) or (text.endswith(".") and not text.endswith("…")):
                wrong.append(f"{place}: {text}")
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("chat", "--modle", "x"), "error: unknown option `--modle`\nhint: did you mean `--model`\n"),
        (("sessions", "shw"), "error: unknown command `shw`\nhint: did you mean `show`\n"),
        (("cht",), "error: unknown command `cht`\nhint: did you mean `chat`\n"),
        (("help",), "error: unknown command `help`\nhint: `hermes --help` lists the commands\n"),
        (
            ("completion",),
            "error: missing argument `{bash|zsh|fish}`\nhint: see `hermes completion --help`\n",
        ),
        (
            ("config", "get", "modle.default"),
            "error: unknown setting `modle.default`\nhint: did you mean `model.default`\n",
        ),
    ],
)
def test_every_slip_on_the_command_line_is_told_in_the_same_words(hermes, words, told):
    assert hermes(*words) == (2, "", told)


def test_a_command_that_needs_another_word_shows_its_help(hermes):
    code, out, err = hermes("config")
    assert (code, out) == (2, "")
    assert err.startswith("Usage: hermes config ")
    assert "error:" not in err


def test_a_list_of_names_says_that_it_goes_on():
    names = [f"name-{number}" for number in range(10)]
    assert errors.UnknownName("thing", "zzzz", names).hint.endswith("`name-7` and 2 more")
    assert errors.UnknownName("thing", "zzzz", names[:8]).hint.endswith("`name-7`")
