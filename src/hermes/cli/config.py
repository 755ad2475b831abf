"""Read and change settings, and see where each one comes from."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from hermes.app import Runtime
from hermes.cli import _complete
from hermes.cli._border import border, is_terminal, storable
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.config import Config, Origin, load
from hermes.config.edit import set_secret, set_value
from hermes.config.environment import Environment, read_environment
from hermes.config.keys import KEYS, Key, find
from hermes.config.loading import config_path, find_home
from hermes.errors import ConfigError, UsageError

_WHERE = "hint: `hermes config show --origin` says where each setting comes from"


@click.group()
def command() -> None:
    """Read and change settings, and see where each one comes from."""


@command.command()
@click.argument("key", metavar="KEY|VARIABLE", shell_complete=_complete.settings)
@json_option
def get(key: str, as_json: bool) -> None:
    """Print one setting, or whether a variable is set."""
    config = read_settings()
    value = config.environment.secret(key) if _is_variable(key) else _value(config, find(key))
    if as_json:
        show_json({"key": key, "value": value, **_origin(config, key)})
        return
    border().show("\n" if value in (None, "", ()) else f"{_inline(value)}\n")


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key", metavar="KEY|VARIABLE", shell_complete=_complete.settings)
@click.argument("value", required=False, shell_complete=_complete.values)
@json_option
def set_(key: str, value: str | None, as_json: bool) -> None:
    """Write a setting to config.yaml, or a variable such as CUSTOM_API_KEY to `.env`.

    Without VALUE it is asked for and not shown, or read from standard input: a key on the command
    line would stay in the shell's history.
    """
    home = find_home(os.environ)
    variable = key if _is_variable(key) else find(key).variable
    if value is None:
        value = _read_value(key)
    file = os.path.join(home, ".env") if _is_variable(key) else config_path(home)
    if _is_variable(key):
        set_secret(home, key, value)
    else:
        set_value(home, key, value)
    if as_json:
        show_json({"key": key, "file": file})
    else:
        border().say(f"set `{key}` in `{file}`")
    if _is_variable(key) or find(key).is_secret:
        _bind_key(key)
    environment, _ = read_environment(os.environ, home)
    _say_what_overrides(environment, variable, home, in_env_file=_is_variable(key))


@command.command()
@json_option
def path(as_json: bool) -> None:
    """Print where config.yaml is, whether it exists or not."""
    file = config_path(find_home(os.environ))
    if as_json:
        show_json({"path": storable(file), "exists": os.path.exists(file)})
    else:
        click.echo(os.fsencode(file))


@command.command()
@json_option
def check(as_json: bool) -> int:
    """Say what is wrong with the settings: what cannot be understood, and what nobody knows."""
    problem: ConfigError | None = None
    warnings: tuple[str, ...] = ()
    try:
        config = load(os.environ)
        border().redact = config.redactor()
        warnings = config.warnings
    except ConfigError as error:
        problem = error
    found = [str(problem), *warnings] if problem else warnings
    if as_json:
        show_json({"ok": not found, "problems": found})
    elif problem is not None:
        border().complain(problem)
    else:
        for warning in warnings:
            border().say(f"warning: {warning}")
        border().say("nothing is wrong with the settings" if not warnings else _WHERE)
    return problem.exit_code if problem else 1 if warnings else 0


@command.command()
@click.option("--origin", is_flag=True, help="Say which source each setting came from.")
@json_option
def show(origin: bool, as_json: bool) -> None:
    """Print every setting."""
    config = read_settings()
    if as_json:
        show_json(_object(config, origin))
        return
    rows = [_row(config, key, origin) for key in _keys(config)]
    if is_terminal(border().stdout):
        show_table(setting_table(rows))
        return
    for name, value, *source in rows:
        comment = f"  # {source[0]}" if source else ""
        border().show(f"{name}: {value}{comment}\n")


def setting_table(rows: Sequence[Sequence[str]]) -> Table:
    """Settings, each with its value and, in a third column, its origin."""
    columns = (Column("setting"), Column("value", least=10), Column("origin", least=12))
    return Table(columns[: len(rows[0])], rows)


def _row(config: Config, key: Key, origin: bool) -> list[str]:
    row = [key.path, _inline(_value(config, key))]
    if origin:
        source = _source(config, key.path)
        row.append(f"{source.source} {source.detail}".rstrip())
    return row


def _source(config: Config, path: str) -> Origin:
    return config.origins.get(path, Origin("file", config_path(config.home)))


def _origin(config: Config, key: str) -> dict[str, str | None]:
    if _is_variable(key):
        return {"source": config.environment.origin(key), "detail": key}
    source = _source(config, key)
    return {"source": source.source, "detail": source.detail}


def _is_variable(key: str) -> bool:
    return key.isupper()


def _bind_key(name: str) -> None:
    """A key that is set goes to the host it would be sent to now, and from then on to no other unasked."""
    try:
        runtime = Runtime(load(os.environ))
    except ConfigError as error:
        border().say(f"warning: {error}")
        return
    runtime.chooser.bind(name)
    runtime.services.web_parts.bind(name)
    run_in_loop(runtime.__aexit__())


def _read_value(key: str) -> str:
    if is_terminal(sys.stdin):
        asked: str = click.prompt(key, hide_input=True, err=True)
        return asked
    value = sys.stdin.readline().strip()
    if not value:
        raise UsageError(f"no value for `{key}`", hint=f"give it as `hermes config set {key} VALUE`")
    return value


def _say_what_overrides(environment: Environment, variable: str, home: str, *, in_env_file: bool) -> None:
    place = environment.origin(variable)
    if place == "environment":
        border().say(f"warning: `{variable}` in the environment overrides it")
    elif place == ".env" and not in_env_file:
        border().say(f"warning: `{variable}` in `{os.path.join(home, '.env')}` overrides it")


def _keys(config: Config) -> list[Key]:
    """Every setting, and the options of single web backends that the file holds."""
    return [*KEYS.values(), *map(find, _paths(config.options))]


def _paths(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{path}" for path in _paths(value))
        else:
            yield name


def _value(config: Config, key: Key) -> Any:
    if "." in key.name:
        return config.option(key.path)
    return getattr(getattr(config, key.section), key.name)


def _inline(value: Any) -> str:
    match value:
        case None:
            return "null"
        case "" | ():
            return '""'
        case bool():
            return str(value).lower()
        case _:
            return str(_shown(value))


def _shown(value: Any) -> Any:
    """A list as one line, which can be set again."""
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else value


def _object(config: Config, origin: bool) -> dict[str, dict[str, Any]]:
    """The settings as config.yaml nests them; with origins, each value beside its source."""
    nested: dict[str, dict[str, Any]] = {}
    for key in _keys(config):
        value = _value(config, key)
        source = _source(config, key.path)
        leaf = {"value": value, "source": source.source, "detail": source.detail} if origin else value
        nested.setdefault(key.section, {})[key.name] = leaf
    return nested
