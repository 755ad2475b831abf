import pytest

from hermes.errors import NetError, ProtocolBroken
from hermes.net.target import parse, proxies, proxy_for, redirected


@pytest.mark.parametrize(
    ("url", "origin", "is_loopback"),
    [
        ("https://api.example/v1?key=secret#x", "https://api.example", False),
        ("http://LOCALHOST:8080/", "http://localhost:8080", True),
        ("http://[::1]:11434", "http://[::1]:11434", True),
        ("http://127.9.9.9", "http://127.9.9.9", True),
        ("http://münchen.example/", "http://xn--mnchen-3ya.example", False),
    ],
)
def test_a_target_is_named_by_its_origin(url: str, origin: str, is_loopback: bool):
    target = parse(url)
    assert (target.origin, target.is_loopback) == (origin, is_loopback)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "/v1",
            "secret",
            "http://",
            "http:///secret",
            "ftp://a/secret",
            "file:///secret",
            "http://a..b/",
        ),
        *(
            "http://a:99999/secret",
            "http://a:-1/",
            "http://a:b:80/",
            "http://secret@a/",
            "http://u:secret@a/",
        ),
        *(
            "http://127.0.0.1\\@secret/",
            "http://a/\tsecret",
            "http://a/ secret",
            "http://a\r\nsecret",
            "http://a\0",
        ),
    ],
)
def test_what_cannot_be_requested_is_refused_without_being_repeated(url: str):
    with pytest.raises(NetError) as caught:
        parse(url)
    assert "secret" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, "http://a.example", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://a.example", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": "p:2"}, "https://a.example", "http://p:2"),
        ({"ALL_PROXY": "http://p:1"}, "https://a.example", "http://p:1"),
        ({"HTTP_PROXY": ""}, "http://a.example", None),
        ({"http_proxy": "p:1"}, "http://localhost:1234", None),
        ({"http_proxy": "p:1", "NO_PROXY": "b.example, .example"}, "http://a.example", None),
        ({"http_proxy": "p:1", "NO_PROXY": "*.a.example"}, "http://x.a.example", None),
        ({"http_proxy": "p:1", "NO_PROXY": "*"}, "http://a.example", None),
        ({"http_proxy": "p:1", "NO_PROXY": "a.example:81"}, "http://a.example:81", None),
        ({"http_proxy": "p:1", "NO_PROXY": "a.example:81,ple,,"}, "http://a.example", "http://p:1"),
    ],
)
def test_the_environment_names_the_proxy(environ: dict[str, str], url: str, proxy: str | None):
    found = proxy_for(parse(url), proxies(environ))
    assert (found and str(found)) == proxy


@pytest.mark.parametrize("value", ["socks5://user:secret@p:1", "http://", "http://[secret", "ftp://p"])
def test_a_proxy_we_cannot_speak_to_is_named_by_its_variable(value: str):
    with pytest.raises(NetError, match="not an http proxy") as caught:
        proxy_for(parse("https://a.example"), {"https": value})
    assert "HTTPS_PROXY" in (caught.value.hint or "")
    assert "secret" not in f"{caught.value} {caught.value.hint}"


def test_a_redirect_never_leaves_tls():
    secure = parse("https://a.example/x/y?z")
    assert str(redirected(secure, "../w").url) == "https://a.example/w"
    assert redirected(secure, "//b.example/").origin == "https://b.example"
    with pytest.raises(ProtocolBroken, match="from https to http"):
        redirected(secure, "http://a.example/")
