"""Results as JSON."""

import click
import msgspec

from hermes.cli._border import border

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def as_json(value: object) -> str:
    """A value as indented JSON; secrets in it are stars."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode() + "\n"


def show_json(value: object) -> None:
    border().show_json(as_json(value))
