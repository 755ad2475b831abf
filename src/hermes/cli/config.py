"""Read and change settings, and see where each one comes from."""

import os
from typing import Any

import click
import msgspec

from hermes.config import Config, load
from hermes.config.edit import set_value
from hermes.config.environment import read_environment
from hermes.config.keys import KEYS, Key, find
from hermes.config.loading import config_path, find_home


@click.group()
def command() -> None:
    """Read and change settings, and see where each one comes from."""


@command.command()
@click.argument("key")
def get(key: str) -> None:
    """Print one setting."""
    setting = find(key)
    value = _value(_load(), setting)
    click.echo("" if value is None else str(value))


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
def set_(key: str, value: str) -> None:
    """Write one setting to config.yaml."""
    setting = find(key)
    home = find_home(os.environ)
    set_value(home, key, value)
    click.echo(f"set `{key}` in `{config_path(home)}`", err=True)
    environment, _ = read_environment(os.environ, home)
    if place := environment.origin(setting.variable):
        where = "the environment" if place == "environment" else f"`{os.path.join(home, '.env')}`"
        click.echo(f"warning: `{setting.variable}` in {where} overrides it", err=True)


@command.command()
def path() -> None:
    """Print where config.yaml is, whether it exists or not."""
    click.echo(os.fsencode(config_path(find_home(os.environ))))


@command.command()
@click.option("--origin", is_flag=True, help="Say which source each setting came from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(origin: bool, as_json: bool) -> None:
    """Print every setting."""
    config = _load()
    if as_json:
        click.echo(msgspec.json.encode(_object(config, origin), enc_hook=str))
        return
    for key in KEYS.values():
        source = config.origins[key.path]
        comment = f"  # {source.source} {source.detail}".rstrip() if origin else ""
        click.echo(f"{key.path}: {_inline(_value(config, key))}{comment}")


def _load() -> Config:
    config = load(os.environ)
    for warning in config.warnings:
        click.echo(f"warning: {warning}", err=True)
    return config


def _value(config: Config, key: Key) -> Any:
    return getattr(getattr(config, key.section), key.name)


def _inline(value: Any) -> str:
    match value:
        case None:
            return "null"
        case "":
            return '""'
        case _:
            return str(value)


def _object(config: Config, origin: bool) -> dict[str, dict[str, Any]]:
    """The settings as config.yaml nests them; with origins, each value beside its source."""
    nested: dict[str, dict[str, Any]] = {}
    for key in KEYS.values():
        value = _value(config, key)
        source = config.origins[key.path]
        leaf = {"value": value, "source": source.source, "detail": source.detail} if origin else value
        nested.setdefault(key.section, {})[key.name] = leaf
    return nested
