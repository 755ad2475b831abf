"""Results as JSON."""

import re

import click
import msgspec

from hermes.cli._border import Border, border

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def as_json(value: object) -> str:
    """A value as indented JSON; secrets in it are stars."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode() + "\n"


def show_json(value: object) -> None:
    print_json(border(), as_json(value))


def print_json(border: Border, text: str) -> None:
    """JSON on stdout: what the locale cannot write is escaped, so that nothing of it is lost."""
    encoding = getattr(border.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding, errors="surrogatepass")
    except UnicodeEncodeError:
        text = _BEYOND_ASCII.sub(_escaped, text)
    border.show(text)


def _escaped(mark: re.Match[str]) -> str:
    """A character as JSON may write it in ASCII, in two halves where it takes two."""
    halves = mark[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{halves[at : at + 4]}" for at in range(0, len(halves), 4))
