"""Where a request goes: its URL judged once, and the proxy that the environment asks for."""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec
from yarl import URL

from hermes.errors import NetError, ProtocolBroken
from hermes.net import addresses

_SCHEMES = frozenset({"http", "https"})
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_AUTHORITY_ENDS = re.compile(r"[/?#]")


class Target(msgspec.Struct, frozen=True):
    """`origin` (scheme, host and port) is all that a message may say of the URL."""

    url: URL
    origin: str
    is_loopback: bool


@lru_cache(maxsize=512)
def parse(address: str) -> Target:
    """The target of an address; raises `NetError` for one that cannot be sent to, and never prints it."""
    if _FORBIDDEN.search(address):
        raise NetError("a URL cannot hold spaces, control characters or backslashes")
    try:
        url = _url(address)
        authority = _AUTHORITY_ENDS.split(address.partition("://")[2], maxsplit=1)[0]
        if not _is_plain(authority, url.raw_host or ""):
            raise ValueError
        origin = str(url.origin()).lower()
        (url.raw_host or "").encode("idna")  # what a lookup does first; a name it cannot take is no name
    except (ValueError, IndexError):  # the second is how yarl stumbles over `[]@`
        raise NetError("the URL has no valid scheme, host and port") from None
    if url.scheme not in _SCHEMES:
        raise NetError(f"`{url.scheme}` URLs cannot be requested", hint="use http or https")
    if "@" in authority:
        raise NetError(f"the URL of `{origin}` holds a user name or a password", hint="send it in a header")
    return Target(url, origin, _is_loopback(url.host or ""))


def _url(text: str) -> URL:
    """An address as it was written: quoted anew, a signed path would lose its signature."""
    return URL(text, encoded=text.isascii())


def _is_plain(authority: str, host: str) -> bool:
    """Whether brackets hold an IPv6 address, and the port is in figures: `8_0` and `+80` are numbers too."""
    port = authority.rpartition("]")[2].rpartition("@")[2].partition(":")[2]
    return ("[" in authority) == (":" in host) and (not port or (port.isascii() and port.isdigit()))


def _is_loopback(host: str) -> bool:
    address = addresses.parse(host)
    if address is not None:
        return addresses.is_loopback(address)
    return host == "localhost" or host.endswith(".localhost")


def proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The `*_proxy` variables by scheme; the lower-case name wins, as it does for curl."""
    found: dict[str, str] = {}
    for name in sorted(environ):  # upper case sorts first, lower case overwrites it
        scheme = name.lower().removesuffix("_proxy")
        if scheme != name.lower() and environ[name]:
            found[scheme] = environ[name]
    return found


def proxy_for(target: Target, found: Mapping[str, str]) -> URL | None:
    """The proxy to use for a target; this machine itself is never asked for through one."""
    scheme = target.url.scheme
    value = found.get(scheme) or found.get("all")
    if not value or target.is_loopback or _is_exempt(target.url, found.get("no", "")):
        return None
    try:
        proxy = URL(value if "://" in value else f"http://{value}")
    except ValueError:
        proxy = URL()
    if proxy.scheme not in _SCHEMES or not proxy.host:
        hint = f"set `{scheme.upper()}_PROXY` to `http://HOST:PORT`, or unset it"
        raise NetError(f"the proxy set for `{scheme}` is not an http proxy", hint=hint)
    return proxy


def _is_exempt(url: URL, no_proxy: str) -> bool:
    """Whether a comma-separated list names the host, a domain above it, or everything."""
    host = url.host or ""
    for entry in no_proxy.lower().split(","):
        name = entry.strip()
        domain = name.removeprefix("*").removeprefix(".")
        if name == "*" or (domain and (host == domain or host.endswith(f".{domain}"))):
            return True
        if name == f"{host}:{url.port}":
            return True
    return False


def redirected(target: Target, location: str, *, may_leave_tls: bool = False) -> Target:
    """Where a redirect leads; raises `ProtocolBroken` when nobody should follow it."""
    try:
        if "\\" in location:
            raise ValueError
        place = parse(str(target.url.join(_url(location.replace(" ", "%20")))))
    except (ValueError, NetError):
        raise ProtocolBroken(f"`{target.origin}` redirects to an address that cannot be used") from None
    if target.url.scheme == "https" and place.url.scheme != "https" and not may_leave_tls:
        raise ProtocolBroken(f"`{target.origin}` redirects from https to http")
    return place
