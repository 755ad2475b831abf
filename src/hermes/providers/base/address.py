"""What an address says without asking anyone: whose it is, and whether that is this machine."""

_PORTS = {"http": 80, "https": 443}
_ENDS = str.maketrans(dict.fromkeys("?#\\", "/"))


def host(url: str) -> str:
    """The host of a URL in lower case, without its port; empty when there is none."""
    authority = _authority(url)
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


def port(url: str) -> int:
    """The port of a URL: its own, or that of its scheme; 0 when it has neither."""
    digits = _authority(url).rpartition("]")[2].rpartition(":")[2]
    if digits.isascii() and digits.isdigit() and len(digits) <= 5:
        return int(digits)
    return _PORTS.get(url.partition(":")[0].lower(), 0)


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine and no further."""
    name = host(url)
    parts = name.split(".")
    is_ipv4 = len(parts) == 4 and all(part.isascii() and part.isdigit() for part in parts)
    return name in ("localhost", "[::1]") or (is_ipv4 and parts[0] == "127")


def _authority(url: str) -> str:
    """Host and port, as a client reads them: what stands before an `@` is a user, not a host."""
    return url.partition("://")[2].translate(_ENDS).partition("/")[0].rpartition("@")[2].lower()
