"""Internet addresses, judged by a table of our own: the verdict is the same on every release of Python.

The ranges are those of IANA's registries of special-purpose addresses. What carries an IPv4 address
inside an IPv6 one is judged by both.
"""

import re
import socket
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_V4, _V6 = 32, 128
_LOW_32 = 0xFFFF_FFFF
_LOW_16 = 0xFFFF
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+", re.ASCII)
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


class Address(NamedTuple):
    """An address as a number, with how many bits it has: 32 or 128."""

    bits: int
    number: int

    def __str__(self) -> str:
        if self.bits == _V4:
            return socket.inet_ntop(socket.AF_INET, self.number.to_bytes(4, "big"))
        return socket.inet_ntop(socket.AF_INET6, self.number.to_bytes(16, "big"))


class Network(NamedTuple):
    """A range of addresses: those that begin with the same bits."""

    text: str
    bits: int
    prefix: int
    shift: int

    def holds(self, address: Address) -> bool:
        return address.bits == self.bits and address.number >> self.shift == self.prefix


class Special(NamedTuple):
    """A range that is not for everybody, and what it is for."""

    network: Network
    kind: str


def parse(text: str) -> Address | None:
    """An address in its usual spelling, as a lookup gives it; a zone behind it does not matter."""
    plain = text.partition("%")[0]
    try:
        if ":" in plain:
            return Address(_V6, int.from_bytes(socket.inet_pton(socket.AF_INET6, plain), "big"))
        return Address(_V4, int.from_bytes(socket.inet_pton(socket.AF_INET, plain), "big"))
    except (OSError, ValueError):
        return None


def parse_any_ipv4(host: str) -> Address | None:
    """An IPv4 address in any spelling a system may take: `127.1`, `2130706433`, `0x7f.0.0.01`.

    None for a name. Raises `ValueError` for what ends in a number and yet is no address.
    """
    parts = host.removesuffix(".").split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    *upper, last = [_number(part) for part in parts]
    if len(upper) > 3 or any(part > 0xFF for part in upper) or last >= 1 << (8 * (4 - len(upper))):
        raise ValueError("it ends in a number and is no address")
    for place, part in enumerate(upper):
        last |= part << (8 * (3 - place))
    return Address(_V4, last)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("it ends in a number and is no address")
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if text.startswith("0") else int(text)


def network(text: str) -> Network:
    """A range such as `10.0.0.0/8`, or one address; raises `ValueError` for anything else."""
    start, _, length = text.strip().partition("/")
    address = parse(start)
    if address is None or "%" in start:
        raise ValueError(f"`{text}` is no network")
    size = address.bits
    if "/" in text:
        if not (length.isascii() and length.isdigit() and len(length) <= 3 and int(length) <= size):
            raise ValueError(f"`{text}` is no network")
        size = int(length)
    shift = address.bits - size
    return Network(text.strip(), address.bits, address.number >> shift, shift)


def _specials(*rows: tuple[str, str]) -> tuple[Special, ...]:
    return tuple(Special(network(text), kind) for text, kind in rows)


_KEYS = "where clouds keep the keys of a machine"
_METADATA = _specials(
    ("169.254.0.0/16", _KEYS),
    ("100.100.100.200/32", _KEYS),
    ("192.0.0.192/32", _KEYS),
    ("168.63.129.16/32", _KEYS),
    ("fe80::a9fe:a9fe/128", _KEYS),
    ("fd00:ec2::/32", _KEYS),
    ("fd20:ce::254/128", _KEYS),
)

_SPECIAL_V4 = _specials(
    ("127.0.0.0/8", "this machine itself"),
    ("10.0.0.0/8", "a private network"),
    ("172.16.0.0/12", "a private network"),
    ("192.168.0.0/16", "a private network"),
    ("100.64.0.0/10", "a network that a carrier shares"),
    ("198.18.0.0/15", "for measurements, and where some local proxies pretend that names live"),
    ("0.0.0.0/8", "this machine itself"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "for examples"),
    ("198.51.100.0/24", "for examples"),
    ("203.0.113.0/24", "for examples"),
    ("192.88.99.0/24", "a relay that is no longer used"),
    ("224.0.0.0/4", "for groups of machines"),
    ("240.0.0.0/4", "reserved"),
)

_SPECIAL_V6 = _specials(
    ("::1/128", "this machine itself"),
    ("::/128", "this machine itself"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "the link that this machine is on"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "for groups of machines"),
    ("::/96", "an old form of an IPv4 address"),
    ("::ffff:0:0:0/96", "a translated IPv4 address"),
    ("64:ff9b:1::/48", "a private translation of IPv4 addresses"),
    ("100::/64", "where packets are dropped"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "for examples"),
    ("3fff::/20", "for examples"),
    ("5f00::/16", "for routing inside a network"),
)
_GLOBAL = network("2000::/3")
_NAT64 = network("64:ff9b::/96")
_NAT64_LOCAL = network("64:ff9b:1::/48")
_MAPPED = network("::ffff:0:0/96")
_SIX_TO_FOUR = network("2002::/16")
_TEREDO = network("2001::/32")
_LOW = (network("::/96"), network("::ffff:0:0:0/96"), _NAT64)
_ELSEWHERE = Special(network("::/0"), "outside what is routed on the internet")


def is_loopback(address: Address) -> bool:
    """Whether an address is this machine itself, by the name that every machine has for itself."""
    return address.number >> 24 == 127 if address.bits == _V4 else address.number == 1


def metadata(address: Address) -> Special | None:
    """The range that makes an address one that nobody may be led to, whatever is allowed."""
    for face in faces(address):
        for special in _METADATA:
            if special.network.holds(face):
                return special
    return None


def closed(address: Address, opened: Sequence[Network] = ()) -> Special | None:
    """Why an address is not a public one, unless it is in one of the opened ranges."""
    for face in faces(address):
        special = _special(face)
        if special is not None and not any(network.holds(face) for network in opened):
            return special
    return None


def _special(address: Address) -> Special | None:
    for special in _SPECIAL_V4 if address.bits == _V4 else _SPECIAL_V6:
        if special.network.holds(address):
            return special
    if address.bits == _V4 or _GLOBAL.holds(address) or _NAT64.holds(address):
        return None
    return _ELSEWHERE


def faces(address: Address) -> Iterator[Address]:
    """Where a packet to an address may end up: there, and at each IPv4 address that it carries."""
    if address.bits == _V4:
        yield address
        return
    number = address.number
    if _MAPPED.holds(address):
        yield Address(_V4, number & _LOW_32)
        return
    yield address
    if any(network.holds(address) for network in _LOW):
        yield Address(_V4, number & _LOW_32)
    elif _SIX_TO_FOUR.holds(address):
        yield Address(_V4, number >> 80 & _LOW_32)
    elif _TEREDO.holds(address):
        yield Address(_V4, number >> 64 & _LOW_32)
        yield Address(_V4, number & _LOW_32 ^ _LOW_32)
    elif _NAT64_LOCAL.holds(address):
        yield Address(_V4, number & _LOW_32)
        yield Address(_V4, (number >> 64 & _LOW_16) << 16 | number >> 40 & _LOW_16)
    if number >> 32 & _LOW_32 in _ISATAP:
        yield Address(_V4, number & _LOW_32)
