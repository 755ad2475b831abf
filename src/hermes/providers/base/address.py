"""What an address says without asking anyone: whose it is, and whether that is this machine."""

import re

_AUTHORITY = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/?#\\]*@)?(\[[^\]/?#\\]*\]|[^:/?#\\@]*)(?::(\d{1,5}))?", re.I
)
_LOOPBACK = re.compile(r"127(?:\.\d{1,3}){3}|localhost|\[::1\]")
_PORTS = {"http": 80, "https": 443}


def host(url: str) -> str:
    """The host of a URL in lower case, without its port; empty when there is none."""
    found = _AUTHORITY.match(url)
    return found[1].lower() if found else ""


def port(url: str) -> int:
    """The port of a URL: its own, or that of its scheme."""
    found = _AUTHORITY.match(url)
    if found and found[2]:
        return int(found[2])
    return _PORTS.get(url.partition(":")[0].lower(), 0)


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine and no further."""
    return _LOOPBACK.fullmatch(host(url)) is not None
