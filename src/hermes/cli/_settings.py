"""Settings for a command: read once, warnings told, secrets kept out of every output."""

import os
from collections.abc import Mapping

from hermes.cli._border import border
from hermes.config import Config, load


def read_settings(flags: Mapping[str, object] | None = None) -> Config:
    """The settings of this call. What is odd in them is said on stderr, and the command goes on."""
    config = load(os.environ, flags)
    border().redact = config.redactor()
    for warning in config.warnings:
        border().say(f"warning: {warning}")
    return config
