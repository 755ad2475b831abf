"""Model servers whose TLS cannot be trusted, through the real command: refused, and never done without."""

import shutil
import ssl
import subprocess
import warnings

import pytest

from simulators.chat_completions import says
from simulators.scripted import ScriptedServer

OPENSSL = shutil.which("openssl")
CONFIG = """\
[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
policy = any
x509_extensions = is
default_md = sha256
[any]
commonName = supplied
[is]
basicConstraints = CA:TRUE
subjectAltName = IP:{address}
"""
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="there is no `openssl` to make certificates with")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Makes a certificate that vouches for itself: for an address, until a day."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run([OPENSSL, *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            "/CN=models", "-keyout", "key", "-out", "request")  # fmt: skip

    def make(name, address, until):
        (folder / "config").write_text(CONFIG.format(address=address))
        (folder / "index").write_text("")
        (folder / "serial").write_text("01")
        openssl("ca", "-batch", "-selfsign", "-config", "config", "-keyfile", "key", "-in", "request",
                "-notext", "-startdate", "20200101000000Z", "-enddate", until, "-out", name)  # fmt: skip
        return folder / name, folder / "key"

    return make


def serves(certificate, key, newest=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if newest is not None:
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = context.maximum_version = newest
    return context


SOUND = ("127.0.0.1", "20990101000000Z")
ROWS = {
    "sound and trusted": (SOUND, True, None, 0, ""),
    "vouched for by nobody": (SOUND, False, None, 1, "self-signed certificate"),
    "expired": (("127.0.0.1", "20200102000000Z"), True, None, 1, "certificate has expired"),
    "made for another host": (("192.0.2.1", SOUND[1]), True, None, 1, "IP address mismatch"),
    "too old a protocol": (SOUND, True, ssl.TLSVersion.TLSv1, 1, "hung up in the TLS handshake"),
}


@pytest.mark.parametrize(("made", "trusted", "newest", "code", "words"), ROWS.values(), ids=ROWS)
async def test_a_server_is_answered_by_or_refused_once(
    hermes, certificates, made, trusted, newest, code, words
):
    certificate, key = certificates(f"{made[0]}-{made[1]}", *made)

    async def answer(exchange):
        await exchange.send(says("hello")({"model": "m", "stream": True}))
        exchange.close()

    trust = {"SSL_CERT_FILE": str(certificate)} if trusted else {}
    async with ScriptedServer(answer, tls=serves(certificate, key, newest)) as server:
        outcome = await hermes(
            "chat", "-q", "hi", "-m", "custom/m", CUSTOM_BASE_URL=f"{server.url}/v1", **trust
        )
    assert (outcome.code, outcome.out) == (code, "" if code else "hello\n"), outcome.err
    assert words in outcome.err
    assert (len(server.requests), "\nhint: " in outcome.err) == ((0, True) if code else (1, False))
