# ruff: noqa: RUF001 - letters and figures that look like others are the subject
"""Where a page or a model could try to lead us: what must be refused, what must pass, and who answers.

`DENIED` holds URLs by the reason they are refused with, `ALLOWED` URLs with the addresses of which one is
connected to, `NAMES` what the names among them lead to. None of them names a real host.
"""

from urllib.parse import quote

PUBLIC = "93.184.215.14"
PUBLIC_V6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

_LOOPBACK = [
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "0x7f.1", "017700000001"),
    *("0177.0.0.1", "0177.1", "00000177.0.0.1", "0x7f.0.0.01", "127.0.0.1.", "127.0x0.0.1", "0177.0.0x0.1"),
    *("127.255.255.254", "127.0.0.2", "127.1.", "2130706433.", "[::1]", "[0:0:0:0:0:0:0:1]"),
    *("[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0001]", "localhost", "LOCALHOST", "localhost."),
    *("foo.localhost", "foo.bar.localhost."),
]
_UNSPECIFIED = ["0", "0.0.0.0", "0x0", "00", "0.0", "0.1.2.3", "[::]", "[0::0]", "000.000.000.000"]
_EMBEDDED = [
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:10.0.0.1]", "[0:0:0:0:0:ffff:c0a8:0101]"),
    *(
        "[::ffff:100.64.0.1]",
        "[::ffff:0.0.0.0]",
        "[::127.0.0.1]",
        "[::7f00:1]",
        "[::10.0.0.1]",
        "[::192.168.1.1]",
    ),
    *("[::ffff:0:127.0.0.1]", "[::ffff:0:10.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b::10.0.0.1]", "[64:ff9b::192.168.0.1]", "[64:ff9b:1::127.0.0.1]", "[64:ff9b:1::8.8.8.8]"),
    *(
        "[64:ff9b:1:a00:0:100::]",
        "[64:ff9b:0:1::1]",
        "[2002:7f00:1::]",
        "[2002:7f00:0001::1]",
        "[2002:a00:1::]",
    ),
    *("[2002:c0a8:101::1]", "[2002:ac10:1::1]", "[2001:0:5db8:d70e:0:0:80ff:fffe]", "[2001::1]"),
    *("[2001:0:7f00:1::1]", "[2001:0:4136:e378:8000:63bf:f5ff:fffe]", "[2606:2800::5efe:10.0.0.1]"),
    *("[2606:2800::200:5efe:127.0.0.1]", "[2606:2800::5efe:7f00:1]"),
]
_SPECIAL_V6 = [
    *("[fe80::1]", "[febf::1]", "[fec0::1]", "[feff::1]", "[fc00::1]", "[fd00::1]", "[fd12:3456:789a::1]"),
    *("[fdff::1]", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[2001:db8:85a3::8a2e:370:7334]", "[3fff::1]"),
    *("[3fff:fff::1]", "[5f00::1]", "[100::1]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[4000::1]"),
    *("[8000::1]", "[e000::1]", "[::2]", "[1::1]", "[200::1]"),
]
_SPECIAL_V4 = [
    *("10.0.0.1", "10.255.255.255", "012.0.0.1", "0xa.0.0.1", "167772161", "172.16.0.1", "172.31.255.255"),
    *("192.168.0.1", "192.168.255.255", "0xc0a80001", "3232235521", "192.168.257", "100.64.0.1"),
    *(
        "100.127.255.255",
        "198.18.0.1",
        "198.19.255.255",
        "192.0.0.1",
        "192.0.0.8",
        "192.0.0.170",
        "192.0.2.1",
    ),
    *(
        "198.51.100.7",
        "203.0.113.255",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "250.1.2.3",
    ),
    *("255.255.255.255", "4294967295", "0xffffffff", "037777777777"),
]
_METADATA = [
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376"),
    *(
        "169.254.43518",
        "169.16689662",
        "025177524776",
        "169.254.169.254.",
        "169.254.169.253",
        "169.254.170.2",
    ),
    *("169.254.170.23", "169.254.0.23", "169.254.1.1", "100.100.100.200", "1684301000", "192.0.0.192"),
    *("168.63.129.16", "0xa83f8110", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]"),
    *("[::a9fe:a9fe]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::169.254.169.254]", "[2002:a9fe:a9fe::1]"),
    *("[::ffff:0:169.254.169.254]", "[2606:2800::5efe:169.254.169.254]", "[fd00:ec2::254]", "[fd00:ec2::23]"),
    *("[fd20:ce::254]", "[fe80::a9fe:a9fe]", "[64:ff9b::100.100.100.200]", "metadata.google.internal"),
    *(
        "METADATA.google.internal.",
        "metadata.goog",
        "metadata",
        "instance-data",
        "x.metadata.google.internal",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
    ),
]
_SPELT_OTHERWISE = [
    *(
        "１２７.０.０.１",
        "127。0。0。1",
        "127．0．0．1",
        "127｡0｡0｡1",
        "①②⑦.⓪.⓪.①",
        "①②⑦。⓪。⓪。①",
        "ⓛocalhost",
    ),
    *("ｌｏｃａｌｈｏｓｔ", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "𝟷𝟸𝟽.𝟶.𝟶.𝟷", "²130706433", "１0.0.0.1", "０ｘ7f.1"),
]
_SPELT_METADATA = ["１６９.２５４.１６９.２５４", "169。254。169。254", "ｍｅｔａｄａｔａ.google.internal"]
_BAD_URLS = [
    *("http://127.0.0.1\\@public.example/", "http://public.example\\@127.0.0.1/", "http://public.example\\.x/"),
    *("http://user@public.example/", "http://user:s3cret@public.example/", "http://public.example@127.0.0.1/"),
    *("http://127.0.0.1@public.example/", "http://:s3cret@public.example/", "http://127.0.0.1:80@public.example/"),
    *("http://public.example%2f@127.0.0.1/", "http://public.example%23@127.0.0.1/", "http://@public.example/"),
    *("http://public.example /", "http://pub\tlic.example/", "http://public.example\r\nHost: x/", "http://a\x00b/"),
    *("http://public.example/\r\nX: y", " http://public.example/", "http://%31%32%37.0.0.1/", "http://127%2e0.0.1/"),
    *("http://pub%6cic.example/", "http://a%00b.example/", "http://public.example:80:81/", "http://public.example:80:/"),
    *("http://public.example:-1/", "http://public.example:99999/", "http://public.example:65536/"),
    *("http://public.example:8_0/", "http://public.example:+80/", "http://public.example:８０/"),
    *("http://public.example:0x50/", "http://public.example:80a/", "http://", "http:///", "http:///path"),
    *("http://?q", "http://#f", "http://.", "http://..", "http://.example/", "http://a..example/", "http://:80/"),
    *("http:127.0.0.1/", "http:/127.0.0.1/", "//127.0.0.1/", "127.0.0.1", "/etc/passwd", "", "http://[::1", "http://::1/"),
    *("http://[127.0.0.1]/", "http://[::1]x/", "http://[v1.a]/", "http://[fe80::1%25lo]/", "http://[fe80::1%lo]/"),
    *("http://[::1%25lo]/", "http://[2606:2800::1%25eth0]/", "http://[::ffff:127.0.0.1%25lo]/", "http://[]/"),
    *("http://256.256.256.256/", "http://127.0.0.256/", "http://1.2.3.4.5/", "http://0x100000000/", "http://4294967296/"),
    *("http://127.0.0.08/", "http://1..2/", "http://0xg.1/", "http://foo.1/", "http://public.example.0x7f/"),
    *("http://١٢٧.0.0.1/", "http://a,b.example/", "http://a;b.example/", "http://a!b.example/", "http://a*b.example/"),
    *("http://-a.example/", "http://" + "x" * 64 + ".example/", "http://" + "x." * 130 + "example/"),
    *("ftp://public.example/", "file:///etc/passwd", "gopher://127.0.0.1:70/_x", "data:text/html,x"),
    *("ws://public.example/", "dict://127.0.0.1:11211/", "ldap://127.0.0.1/", "unix:///run/x"),
    *("javascript:alert(1)", "jar:http://127.0.0.1!/"),
]  # fmt: skip
_PORTS = [0, 1, 7, 19, 21, 22, 23, 25, 53, 110, 111, 135, 139, 143, 389, 445, 465, 587, 993, 1433, 2049, 2375]
_MORE_PORTS = [3306, 3389, 5060, 5432, 5900, 6000, 6379, 6667, 11211, 27017]

NAMES: dict[str, list[str]] = {
    "public.example": [PUBLIC],
    "both.example": [PUBLIC, PUBLIC_V6],
    "six.example": [PUBLIC_V6],
    "many.example": [PUBLIC, "93.184.215.15", "93.184.215.16"],
    "nat64.example": ["64:ff9b::5db8:d70e"],
    "mapped.example": [f"::ffff:{PUBLIC}"],
    "xn--mnchen-3ya.example": [PUBLIC],
    "xn--strae-oqa.example": [PUBLIC],
    "xn--r8jz45g.example": [PUBLIC],
    "under_score.example": [PUBLIC],
    "10.0.0.1.public.example": [PUBLIC],
    "127.0.0.1.example": [PUBLIC],
    "0x7f.public.example": [PUBLIC],
    "localhost.public.example": [PUBLIC],
    "notlocalhost": [PUBLIC],
    "metadata.public.example": [PUBLIC],
    "to-loopback.example": ["127.0.0.1"],
    "to-loopback-six.example": ["::1"],
    "to-private.example": ["10.1.2.3"],
    "to-private-six.example": ["fd12::1"],
    "to-link.example": ["fe80::1"],
    "to-mapped.example": ["::ffff:10.1.2.3"],
    "to-compatible.example": ["::127.0.0.1"],
    "to-nat64.example": ["64:ff9b::7f00:1"],
    "to-6to4.example": ["2002:7f00:1::1"],
    "to-teredo.example": ["2001:0:5db8:d70e:0:0:80ff:fffe"],
    "to-shared.example": ["100.64.3.2"],
    "to-fake.example": ["198.18.0.77"],
    "to-nowhere.example": ["0.0.0.0"],
    "mixed.example": [PUBLIC, "10.0.0.1"],
    "mixed-last.example": [PUBLIC, PUBLIC_V6, "fd12::1"],
    "mixed-first.example": ["127.0.0.1", PUBLIC],
    "to-metadata.example": ["169.254.169.254"],
    "to-azure.example": ["168.63.129.16"],
    "to-alibaba.example": ["100.100.100.200"],
    "to-metadata-six.example": ["fd00:ec2::254"],
    "mixed-metadata.example": [PUBLIC, "169.254.169.254"],
}

_TO_METADATA = [
    name
    for name, found in NAMES.items()
    if {"169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"} & set(found)
]

DENIED: dict[str, list[str]] = {
    "private-address": [
        f"http://{host}/"
        for host in (
            *_LOOPBACK,
            *_UNSPECIFIED,
            *_EMBEDDED,
            *_SPECIAL_V6,
            *_SPECIAL_V4,
            *_SPELT_OTHERWISE,
            *(name for name in NAMES if name.startswith(("to-", "mixed")) and name not in _TO_METADATA),
        )
    ]
    + ["https://127.0.0.1/", "http://127.0.0.1:8080/", "HTTP://127.0.0.1/", "http://127.0.0.1#@public.example/"]
    + ["http://127.0.0.1?@public.example/", "https://[::1]:8443/", "http://2130706433:8000/x"],
    "metadata-address": [
        f"http://{host}/latest/meta-data/"
        for host in (
            *_METADATA,
            *_SPELT_METADATA,
            *_TO_METADATA,
        )
    ],
    "bad-url": _BAD_URLS,
    "bad-port": [f"http://public.example:{port}/" for port in (*_PORTS, *_MORE_PORTS)],
}  # fmt: skip

_HERE = [PUBLIC]
ALLOWED: list[tuple[str, list[str]]] = [
    ("http://public.example/", _HERE),
    ("http://PUBLIC.example/", _HERE),
    ("http://public.example./", _HERE),
    ("http://public.example", _HERE),
    ("http://public.example:/", _HERE),
    ("http://public.example:/:80", _HERE),
    ("http://public.example:80/", _HERE),
    ("http://public.example:0080/", _HERE),
    ("http://public.example:8000/", _HERE),
    ("http://public.example:8080/a?b=c#d", _HERE),
    ("http://public.example:8443/", _HERE),
    ("http://public.example:3000/", _HERE),
    ("http://public.example:9200/", _HERE),
    ("http://public.example:65535/", _HERE),
    ("https://public.example/", _HERE),
    ("HTTPS://public.example/", _HERE),
    ("http://public.example/?next=http://127.0.0.1/", _HERE),
    ("http://public.example/@127.0.0.1", _HERE),
    ("http://public.example?user@127.0.0.1", _HERE),
    ("http://public.example#user@127.0.0.1", _HERE),
    ("http://public.example/a%5cb%00c%0d%0a", _HERE),
    ("http://public.example/ü?q=ß", _HERE),
    ("http://public.example/a:80:90", _HERE),
    ("http://both.example/", [PUBLIC, PUBLIC_V6]),
    ("http://six.example/", [PUBLIC_V6]),
    ("http://many.example/", NAMES["many.example"]),
    ("http://nat64.example/", NAMES["nat64.example"]),
    ("http://mapped.example/", [f"::ffff:{PUBLIC}", PUBLIC]),
    ("http://münchen.example/", _HERE),
    ("http://MÜNCHEN.example/", _HERE),
    ("http://xn--mnchen-3ya.example/", _HERE),
    ("http://straße.example/", _HERE),
    ("http://例え.example/", _HERE),
    ("http://ｐｕｂｌｉｃ.example/", _HERE),
    ("http://public。example/", _HERE),
    ("http://under_score.example/", _HERE),
    ("http://10.0.0.1.public.example/", _HERE),
    ("http://127.0.0.1.example/", _HERE),
    ("http://0x7f.public.example/", _HERE),
    ("http://localhost.public.example/", _HERE),
    ("http://notlocalhost/", _HERE),
    ("http://metadata.public.example/", _HERE),
    (f"http://{PUBLIC}/", _HERE),
    (f"http://{PUBLIC}./", _HERE),
    ("http://1572394766/", _HERE),
    ("http://0x5db8d70e/", _HERE),
    ("http://0135.0270.0327.016/", _HERE),
    ("http://1.1.1.1/", ["1.1.1.1"]),
    ("http://9.255.255.255/", ["9.255.255.255"]),
    ("http://11.0.0.0/", ["11.0.0.0"]),
    ("http://100.63.255.255/", ["100.63.255.255"]),
    ("http://100.128.0.0/", ["100.128.0.0"]),
    ("http://126.255.255.255/", ["126.255.255.255"]),
    ("http://128.0.0.1/", ["128.0.0.1"]),
    ("http://169.253.255.255/", ["169.253.255.255"]),
    ("http://169.255.0.0/", ["169.255.0.0"]),
    ("http://172.15.255.255/", ["172.15.255.255"]),
    ("http://172.32.0.0/", ["172.32.0.0"]),
    ("http://192.0.1.0/", ["192.0.1.0"]),
    ("http://192.167.255.255/", ["192.167.255.255"]),
    ("http://192.169.0.0/", ["192.169.0.0"]),
    ("http://198.17.255.255/", ["198.17.255.255"]),
    ("http://198.20.0.0/", ["198.20.0.0"]),
    ("http://223.255.255.255/", ["223.255.255.255"]),
    ("http://168.63.129.17/", ["168.63.129.17"]),
    (f"http://[{PUBLIC_V6}]/", [PUBLIC_V6]),
    (f"https://[{PUBLIC_V6}]:8443/", [PUBLIC_V6]),
    ("http://[2001:4860:4860::8888]/", ["2001:4860:4860::8888"]),
    ("http://[2001:200::1]/", ["2001:200::1"]),
    ("http://[2a00:1450:4001:81b::200e]/", ["2a00:1450:4001:81b::200e"]),
    ("http://[2620:4f:8000::1]/", ["2620:4f:8000::1"]),
    ("http://[3ffe::1]/", ["3ffe::1"]),
    (f"http://[::ffff:{PUBLIC}]/", [f"::ffff:{PUBLIC}", PUBLIC]),
    ("http://[64:ff9b::5db8:d70e]/", ["64:ff9b::5db8:d70e"]),
    ("http://[2002:5db8:d70e::1]/", ["2002:5db8:d70e::1"]),
    ("http://[2606:2800::5efe:5db8:d70e]/", ["2606:2800::5efe:5db8:d70e"]),
]

STATUSES = (301, 302, 303, 307, 308)
CLOSED_HOPS = [
    "http://127.0.0.1/",
    "//127.1/",
    "http://0/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[fe80::1]/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://to-private.example/",
    "//mixed.example/",
    "http://public.example:6379/",
    "http://user:s3cret@public.example/",
    "http://public.example\\@127.0.0.1/",
    "file:///etc/passwd",
    "data:text/html,hello",
    "gopher://127.0.0.1/",
    "http://１２７.０.０.１/",
]


def hop(location: str, status: int = 302, host: str = "public.example") -> str:
    """A URL whose server redirects: the sentinel does what the path says."""
    return f"http://{host}/to/{status}/{quote(location, safe='')}"
