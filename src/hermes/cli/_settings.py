"""Settings for a command: read once, warnings told, secrets kept out of every output."""

import os
from collections.abc import Mapping

import click

from hermes.cli._shell import Border
from hermes.config import Config, load


def read_settings(flags: Mapping[str, object] | None = None) -> Config:
    """The settings of this call. What is odd in them is said on stderr; a command goes on."""
    config = load(os.environ, flags)
    click.get_current_context().ensure_object(Border).redact = config.redactor()
    for warning in config.warnings:
        click.echo(f"warning: {warning}", err=True)
    return config
