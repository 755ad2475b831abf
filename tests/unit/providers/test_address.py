"""Whose an address is: the answer decides where a key may go."""

import pytest

from hermes.providers.base import address


@pytest.mark.parametrize(
    ("url", "host", "port", "is_loopback"),
    [
        ("https://api.openai.com/v1", "api.openai.com", 443, False),
        ("https://API.OpenAI.com:8443/v1", "api.openai.com", 8443, False),
        ("http://127.0.0.1:11434/v1", "127.0.0.1", 11434, True),
        ("http://127.1.2.3/v1", "127.1.2.3", 80, True),
        ("http://localhost:1234", "localhost", 1234, True),
        ("http://[::1]:8000/v1", "[::1]", 8000, True),
        ("http://[::1]/v1", "[::1]", 80, True),
        ("http://[2001:db8::1]:80/v1", "[2001:db8::1]", 80, False),
        ("https://api.openai.com@evil.example/v1", "evil.example", 443, False),
        ("https://api.openai.com:443@evil.example/v1", "evil.example", 443, False),
        ("http://evil.example?@127.0.0.1/", "evil.example", 80, False),
        ("http://evil.example#@127.0.0.1/", "evil.example", 80, False),
        ("http://evil.example\\@127.0.0.1/", "evil.example", 80, False),
        ("http://127.0.0.1.evil.example/", "127.0.0.1.evil.example", 80, False),
        ("http://localhost.evil.example/", "localhost.evil.example", 80, False),
        ("http://0.0.0.0:1/", "0.0.0.0", 1, False),
        ("http://h:99999999/", "h", 80, False),
        ("localhost:1234", "", 0, False),
        ("", "", 0, False),
    ],
)
def test_an_address_is_read_as_a_client_reads_it(url, host, port, is_loopback):
    assert address.host(url) == host
    assert address.port(url) == port
    assert address.is_loopback(url) is is_loopback
