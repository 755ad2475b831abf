"""Addresses: one number however it is spelt, and closed in every form that carries it."""

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.errors import AddressRefused, NetError
from hermes.net import addresses, target
from hermes.net.addresses import Address
from hermes.net.guard import Guard

V4 = st.integers(0, 2**32 - 1)
NEAR = st.sampled_from(
    [
        int(ipaddress.ip_network(text).network_address)
        for text in ("10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16")
    ]
    + [int(ipaddress.ip_address(text)) for text in ("169.254.169.254", "100.64.0.1", "198.18.0.1", "8.8.8.8")]
)


def is_open(text):
    try:
        Guard().admit(target.parse(f"http://{text}/"))
    except AddressRefused:
        return False
    return True


def written(number, base):
    return {8: f"0{number:o}", 10: str(number), 16: f"0x{number:X}"}[base]


@given(V4 | NEAR, st.lists(st.sampled_from([8, 10, 16]), min_size=1, max_size=4), st.booleans())
def test_an_address_is_one_number_however_it_is_spelt(number, bases, has_dot):
    """The first parts are a byte each; the last one is all the rest."""
    count = len(bases)
    parts = [number >> (24 - 8 * place) & 0xFF for place in range(count - 1)]
    parts.append(number & ((1 << (8 * (5 - count))) - 1))
    text = ".".join(written(part, base) for part, base in zip(parts, bases, strict=True)) + "." * has_dot
    assert addresses.parse_any_ipv4(text) == Address(32, number)


@given(V4 | NEAR)
def test_a_form_that_carries_a_closed_address_is_closed_and_one_that_carries_an_open_one_is_judged_alike(
    number,
):
    plain = is_open(str(Address(32, number)))
    inner = f"{number >> 16:x}:{number & 0xFFFF:x}"
    for text in (f"::ffff:{inner}", f"64:ff9b::{inner}", f"2002:{inner}::1", f"2606:2800::5efe:{inner}"):
        assert is_open(f"[{text}]") == plain, text
    for text in (f"::{inner}", f"::ffff:0:{inner}", f"64:ff9b:1::{inner}", f"2001:0:{inner}::1"):
        assert not is_open(f"[{text}]"), text


@settings(max_examples=500)
@given(V4 | NEAR)
def test_what_python_calls_private_is_closed(number):
    address = ipaddress.ip_address(number)
    if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
        anycast = number in (0xC0000009, 0xC000000A)
        assert anycast or not is_open(str(address))


@settings(max_examples=500)
@given(st.integers(0, 2**128 - 1) | st.integers(0, 2**125 - 1).map(lambda low: low | 1 << 125))
def test_an_ipv6_address_that_is_open_is_global_to_python_too(number):
    address = ipaddress.ip_address(number) if number >= 2**32 else ipaddress.IPv6Address(number)
    if is_open(f"[{address}]"):
        mapped = address.ipv4_mapped or address
        assert mapped.is_global or address in ipaddress.ip_network("2002::/16")


@given(st.integers(0, 2**128 - 1))
def test_an_address_is_written_as_it_is_read(number):
    assert addresses.parse(str(Address(128, number))) == Address(128, number)


@settings(max_examples=300)
@given(st.text(max_size=40) | st.text("0123456789.xXabcdef:[]%@/\\?#", max_size=40))
def test_any_text_is_a_place_or_refused(text):
    """And what passes is a plain name or an open address in its plain spelling."""
    try:
        where = Guard().admit(target.parse(f"http://{text}/"))
    except NetError:
        return
    host = where.url.raw_host
    address = addresses.parse(host)
    assert address is not None or addresses.parse_any_ipv4(host) is None
    assert address is None or addresses.closed(address) is None


@pytest.mark.parametrize(
    "text", ["1.2.3.4.5", "1.2.3.256", "0x1ffffffff", "4294967296", "1..2", "08", "0x", "a.0xg1"]
)
def test_what_ends_in_a_number_is_an_address_or_nothing(text):
    try:
        found = addresses.parse_any_ipv4(text)
    except ValueError:
        return
    assert found is None or text == "0x"


def test_a_name_in_two_scripts_is_shown_as_it_is_looked_up():
    assert target.parse("http://p\u0430ypal.example/").origin == "http://xn--pypal-4ve.example"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("128.0.0.1", False),
        ("::", False),
        ("::2", False),
    ],
)
def test_this_machine_itself(address, expected):
    assert addresses.is_loopback(addresses.parse(address)) is expected


CLOSED = [
    *(
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
    ),
    *(
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
    ),
    *(
        "240.0.0.0/4",
        "::/128",
        "::1/128",
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
    ),
    *("2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
]
KEYS = ["169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32", "fe80::a9fe:a9fe/128"]
MORE_KEYS = ["fd00:ec2::/32", "fd20:ce::254/128"]


def ends(text):
    """The first and the last address of a range, and their neighbours outside it."""
    network = ipaddress.ip_network(text)
    first, last = int(network.network_address), int(network.broadcast_address)
    bits = network.max_prefixlen
    outside = [Address(bits, number) for number in (first - 1, last + 1) if 0 <= number < 1 << bits]
    return [Address(bits, first), Address(bits, last)], outside


def range_of(found):
    return found and found.network.text


@pytest.mark.parametrize("text", CLOSED)
def test_a_closed_range_begins_and_ends_where_the_registry_says(text):
    inside, outside = ends(text)
    if text == "::/96":
        inside = inside[1:]
    assert {range_of(addresses.closed(address)) for address in inside} == {text}
    assert text not in {range_of(addresses.closed(address)) for address in outside}


@pytest.mark.parametrize("text", [*KEYS, *MORE_KEYS])
def test_where_clouds_keep_their_keys_begins_and_ends_there(text):
    inside, outside = ends(text)
    assert {range_of(addresses.metadata(address)) for address in inside} == {text}
    assert {range_of(addresses.metadata(address)) for address in outside} == {None}
