"""A call by what it is: the same tool with the same arguments, however they are written."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec


def digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """The SHA-256 of a call: its name, and its arguments as JSON with sorted keys."""
    return hashlib.sha256(f"{tool} {canonical(arguments)}".encode(errors="surrogatepass")).hexdigest()


def canonical(arguments: Mapping[str, Any]) -> str:
    """The arguments as one line of JSON; what JSON does not know is shown as Python shows it."""
    try:
        return msgspec.json.encode(dict(arguments), order="sorted", enc_hook=repr).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(arguments)
