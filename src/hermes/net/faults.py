"""What went wrong below, told in our own words: aiohttp's errors in, `NetError` out.

A message names scheme, host and port; never a path, a query, a header or a body.
"""

import errno
import socket

import aiohttp
from aiohttp import http_exceptions

from hermes.errors import (
    ConnectFailed,
    DeadlinePassed,
    Disconnected,
    NetError,
    Phase,
    ProtocolBroken,
    TlsFailed,
    TooLarge,
)
from hermes.net.target import Target

_SERVER_ERROR = 500
_UNROUTABLE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL})
_UNKNOWN_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_WORDS: dict[Phase, str] = {
    "connect": "no connection to",
    "first byte": "no answer from",
    "idle": "nothing more from",
    "total": "no complete answer from",
}


def deadline_passed(phase: Phase, seconds: float, origin: str) -> DeadlinePassed:
    return DeadlinePassed(f"{_WORDS[phase]} `{origin}` within {seconds:g} s", phase=phase)


def before_headers(error: aiohttp.ClientError, target: Target, connect: float) -> NetError:
    """The failure of an exchange that had no answer yet; `connect` is the seconds it was given."""
    origin = target.origin
    match error:
        case aiohttp.ConnectionTimeoutError():
            return deadline_passed("connect", connect, origin)
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return _tls_failed(error, origin)
        case aiohttp.ClientProxyConnectionError():
            return ConnectFailed(f"cannot reach the proxy for `{origin}`", hint="check `HTTPS_PROXY`")
        case aiohttp.ClientHttpProxyError():
            return _proxy_refused(error.status, origin)
        case aiohttp.ClientConnectorDNSError():
            return _name_unknown(error.os_error.errno, target)
        case aiohttp.ClientConnectorError() if _is_hung_up(error.os_error, target):
            hint = "does the server speak https, with TLS 1.2 or newer, on this port?"
            return ConnectFailed(f"`{origin}` hung up in the TLS handshake", hint=hint)
        case aiohttp.ClientConnectorError():
            return _not_connected(error.os_error.errno, target)
        case aiohttp.ClientConnectionError():
            return Disconnected(f"`{origin}` closed the connection before it answered")
        case aiohttp.ClientResponseError() if _caused_by(error, http_exceptions.LineTooLong):
            return TooLarge(f"`{origin}` sent headers that are too large")
        case aiohttp.ClientResponseError():
            return ProtocolBroken(
                f"`{origin}` sent something that is not HTTP", hint="is this the address of an HTTP server?"
            )
        case _:
            return NetError(f"the request to `{origin}` failed ({type(error).__name__})")


def in_body(error: aiohttp.ClientError, origin: str) -> NetError:
    """The failure of a reply whose headers had arrived."""
    cut = (http_exceptions.ContentLengthError, http_exceptions.TransferEncodingError, OSError)
    if isinstance(error, aiohttp.ClientPayloadError) and not _caused_by(error, *cut):
        return broken_body(origin)
    return Disconnected(f"`{origin}` cut the connection in the middle of its answer")


def broken_body(origin: str) -> ProtocolBroken:
    return ProtocolBroken(f"`{origin}` sent a body that breaks HTTP")


def _tls_failed(error: aiohttp.ClientError, origin: str) -> TlsFailed:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "it cannot be verified"
        return TlsFailed(
            f"the certificate of `{origin}` is refused: {reason}",
            hint="if you trust its issuer, point `SSL_CERT_FILE` at the issuer's certificate",
        )
    return TlsFailed(f"no TLS connection to `{origin}`", hint="does the server speak https on this port?")


def _proxy_refused(status: int, origin: str) -> NetError:
    failure = ConnectFailed(
        f"the proxy answered with status {status} instead of connecting to `{origin}`",
        hint="check `HTTPS_PROXY` and its credentials",
    )
    return failure if status >= _SERVER_ERROR else _final(failure)


def _name_unknown(code: int | None, target: Target) -> NetError:
    name = target.url.raw_host
    if code in _UNKNOWN_NAME:
        hint = "check the network connection, and the spelling of the address"
        return _final(ConnectFailed(f"no host is called `{name}`", hint=hint))
    return ConnectFailed(f"the name `{name}` cannot be looked up now", hint="is there a network?")


def _not_connected(code: int | None, target: Target) -> NetError:
    if code == errno.ECONNREFUSED:
        hint = "is the server running?" if target.is_loopback else "check host and port"
        return ConnectFailed(f"`{target.origin}` refused the connection", hint=hint)
    if code in _UNROUTABLE:
        return ConnectFailed(f"there is no route to `{target.origin}`", hint="is there a network?")
    reason = errno.errorcode.get(code or 0, "no reason given")
    return ConnectFailed(f"no connection to `{target.origin}` ({reason})")


def _is_hung_up(error: OSError, target: Target) -> bool:
    return isinstance(error, ConnectionResetError) and target.url.scheme == "https"


def _final(error: ConnectFailed) -> ConnectFailed:
    error.retryable = False
    return error


def _caused_by(error: BaseException | None, *kinds: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kinds):
            return True
        error = error.__cause__
    return False
