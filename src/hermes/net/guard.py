"""The address guard: where a model or a page may lead us.

What the user has configured may be anywhere. What a stranger wrote may only be public: each address
is judged before a socket is made for it, at every redirect, and once more when it is connected.
"""

import re
from collections.abc import Iterable

import msgspec

from hermes.errors import AddressRefused, NetError
from hermes.net import addresses, target
from hermes.net.addresses import Address, Network
from hermes.net.sites import matches
from hermes.net.target import Target

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,254}}\Z){_LABEL}(?:\.{_LABEL})*\.?")
_METADATA_NAMES = (
    "metadata",
    "instance-data",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
)
_LOOPBACK = Address(32, 0x7F000001)
_EVERYTHING = (addresses.network("0.0.0.0/0"), addresses.network("::/0"))


def _ports(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


# Where other protocols listen, which a request could be made to speak: what browsers refuse, and databases.
_UNSAFE_PORTS = _ports(
    "0 1 7 9 11 13 15 17 19-23 25 37 42 43 53 69 77 79 87 95 101-104 109-111 113 115 117 119 123 135"
    " 137-139 143 161 179 389 427 445 465 512-515 526 530-532 540 548 554 556 563 587 601 636 873 989 990"
    " 993 995 1433 1521 1719 1720 1723 2049 2375 2376 3306 3389 3659 4045 4190 5060 5061 5432 5900 6000"
    " 6379 6566 6665-6669 6679 6697 10080 11211 27017"
)


class Guard(msgspec.Struct, frozen=True):
    """What strangers may lead to: public addresses, and what the user has opened.

    `opened` are ranges beside the public ones, `private` opens all of them; where clouds keep their
    keys stays closed to both. `may_leave_tls` lets a redirect lead from https to http. `blocked` are
    sites that are never asked, as `hermes.net.sites` writes them.
    """

    opened: tuple[Network, ...] = ()
    private: bool = False
    may_leave_tls: bool = False
    blocked: Iterable[str] = ()

    def why_not(self, url: str) -> str | None:
        """Why an address may not be read, as far as that shows without a lookup; else None.

        For addresses that others read for us: they look names up themselves.
        """
        try:
            self.admit(target.parse(url))
        except NetError as error:
            return f"{error}; {error.hint}" if error.hint else str(error)
        return None

    def admit(self, where: Target) -> Target:
        """The target with an address in its plain spelling; raises `AddressRefused` for one that is closed.

        A name passes here unless it is known to be closed: what it leads to is judged when it is looked up.
        """
        host = (where.url.raw_host or "").lower()
        if where.url.port in _UNSAFE_PORTS:
            raise AddressRefused(f"the port of `{where.origin}` is not for web pages", reason="bad-port")
        if any(matches(host, rule) for rule in self.blocked):
            raise AddressRefused(f"`{where.origin}` is on the list of blocked sites", reason="blocked-site")
        address = _address(host, where.origin)
        if address is not None:
            self.admit_address(address, where.origin)
            plain = str(address)
            return where if plain == host else _moved(where, plain)
        self._admit_name(host.removesuffix("."), where.origin)
        return where

    def _admit_name(self, name: str, origin: str) -> None:
        if name in _METADATA_NAMES or name.endswith(".metadata.google.internal"):
            raise AddressRefused(
                f"`{origin}` is where clouds keep the keys of a machine", reason="metadata-address"
            )
        if name == "localhost" or name.endswith(".localhost"):
            self.admit_address(_LOOPBACK, origin)

    def admit_text(self, text: str, origin: str) -> None:
        """Judge an address as a lookup or a connection gives it; what is no address is closed."""
        address = addresses.parse(text)
        if address is None:
            raise AddressRefused(f"`{origin}` leads to no internet address", reason="bad-url")
        self.admit_address(address, origin)

    def admit_address(self, address: Address, origin: str) -> None:
        """Raises `AddressRefused` for an address that is closed; the range is named, not the address."""
        special = addresses.metadata(address)
        if special is not None:
            raise AddressRefused(f"`{origin}` is {special.kind}", reason="metadata-address")
        special = addresses.closed(address, _EVERYTHING if self.private else self.opened)
        if special is not None:
            raise AddressRefused(
                f"`{origin}` leads to `{special.network.text}`, {special.kind}: pages are read from public"
                " addresses only",
                reason="private-address",
                hint="to open a range, add it to `security.allow_networks`",
            )


def _address(host: str, origin: str) -> Address | None:
    """The address that a host spells; None for a name. What is neither raises `AddressRefused`."""
    if ":" in host:
        address = None if "%" in host else addresses.parse(host)
        if address is None:
            raise AddressRefused(f"`{origin}` is no address that can be asked", reason="bad-url")
        return address
    if not _NAME.fullmatch(host):
        raise AddressRefused("the URL has no valid host name", reason="bad-url")
    try:
        return addresses.parse_any_ipv4(host)
    except ValueError:
        raise AddressRefused(f"`{origin}` ends in a number and is no address", reason="bad-url") from None


def _moved(where: Target, host: str) -> Target:
    url = where.url.with_host(host)
    return Target(url, str(url.origin()).lower(), where.is_loopback)
