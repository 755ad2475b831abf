"""Addresses that a model or a page gave: spelled for the wire, told apart, and judged before their use."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import msgspec

from hermes.net.sites import matches
from hermes.protocols import Document

Admit = Callable[[str], str | None]
"""Asked whether an address may be read; gives the reason when it may not."""

_AFTER_SCHEME = re.compile(r"^(https?://)\s+", re.IGNORECASE)
_WEB = ("http", "https")
_KEPT = "!#$%&'()*+,/:;=?@[]~"
_TOKENS = {
    "sk-": "[A-Za-z0-9_-]{16,}",
    "gh": "[pousr]_[A-Za-z0-9]{16,}",
    "github_pat_": "[A-Za-z0-9_]{16,}",
    "xox": "[abeoprs]-[A-Za-z0-9-]{10,}",
    "AIza": "[A-Za-z0-9_-]{30,}",
    "pplx-": "[A-Za-z0-9]{16,}",
    "fc-": "[a-f0-9]{16,}",
    "AKIA": "[A-Z0-9]{16}",
    "ASIA": "[A-Z0-9]{16}",
    "tvly-": "[A-Za-z0-9-]{12,}",
    "exa_": "[A-Za-z0-9-]{12,}",
    "hf_": "[A-Za-z0-9]{16,}",
    "xai-": "[A-Za-z0-9]{16,}",
    "gsk_": "[A-Za-z0-9]{16,}",
    "glpat-": "[A-Za-z0-9_-]{16,}",
    "npm_": "[A-Za-z0-9]{16,}",
    "sk_": "(?:live|test)_[A-Za-z0-9]{16,}",
    "eyJ": r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+",
}
"""How keys and tokens begin, each with the pattern of what follows."""
_TRACKERS = r"(?i)utm_\w+|gclid|fbclid|msclkid|mc_[ce]id|igshid|ref_src"
_PORTS = {"http": "80", "https": "443"}

PLAIN_HOST = r"https?://(?:www\.)?([a-z0-9.-]*[a-z0-9-])/"
"""Matches the beginning of most addresses: plain ones, which need not be taken apart to be told apart.

Its group is the host without `www.`, and two addresses of one page have the same.
"""
PLAIN_PLACE = (
    r"https?://(?:www\.)?"
    r"([a-z0-9.-]*[a-z0-9-]/[!$-;=@-\[\]_a-z~]*[!$-.0-;=@-\[\]_a-z~]|[a-z0-9.-]*[a-z0-9-])"
    r"/*(?![^?#])"
)
"""The same with the path, where it has no mark that is ever quoted."""


class Blocked(msgspec.Struct, frozen=True):
    """A site that the user does not want to be asked, and the rule that says so."""

    host: str
    rule: str
    source: str


class Refusal(msgspec.Struct, frozen=True):
    """Why an address is not read."""

    reason: str
    blocked: Blocked | None = None


class Gate:
    """Judges addresses before a backend sees them.

    `holds_secret` says whether a text repeats a secret that is known here, `rules` are the blocked sites
    with the place that lists each, and `admit` judges where an address leads.
    """

    def __init__(
        self,
        holds_secret: Callable[[str], bool] = lambda _text: False,
        rules: Iterable[tuple[str, str]] = (),
        admit: Admit = lambda _url: None,
    ) -> None:
        self._holds_secret = holds_secret
        self._rules = rules
        self._admit = admit

    def judge(self, url: str) -> Refusal | None:
        """Why the address may not be read; None when it may."""
        parts = split(url)
        if parts is None:
            return Refusal("this is no address")
        scheme, host = parts
        if any(_holds_token(form) or self._holds_secret(form) for form in _forms(url)):
            return Refusal("the address holds a key or a token, which would be told to others")
        if scheme not in _WEB:
            return None
        if not host:
            return Refusal("the address names no host")
        if "@" in urlsplit(url).netloc:
            return Refusal("the address holds a user name or a password, which would be told to others")
        blocked = self.blocked(host)
        if blocked is not None:
            return Refusal(f"`{host}` is on the list of blocked sites (`{blocked.rule}`)", blocked)
        reason = self._admit(url)
        return Refusal(reason) if reason else None

    def blocked(self, host: str) -> Blocked | None:
        """The rule that blocks a host; None when none does."""
        found = next(((rule, source) for rule, source in self._rules if matches(host, rule)), None)
        return Blocked(host, *found) if found else None


def split(url: str) -> tuple[str, str] | None:
    """The scheme and the host of an address, in lower case; None for what is no address."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower(), parts.hostname or ""
    except ValueError:
        return None


def spelled(url: str) -> str:
    """The address in ASCII, as it goes over the wire; escapes that are there stay as they are."""
    url = _AFTER_SCHEME.sub(r"\1", url.strip())
    try:
        parts = urlsplit(url)
        if parts.scheme.lower() not in _WEB or (url.isascii() and " " not in url):
            return url
        host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except (ValueError, UnicodeError):
        return url
    path, query, fragment = (quote(part, safe=_KEPT) for part in (parts.path, parts.query, parts.fragment))
    return urlunsplit((parts.scheme, host, path, query, fragment))


def same(url: str) -> str:
    """A spelling that tells whether a backend means the page that was asked for."""
    return spelled(unquote(url)).rstrip("/").lower()


def matched(asked: Iterable[str], documents: Sequence[Document]) -> dict[str, Document]:
    """The addresses that were asked for, each with its document: found by address, never by position."""
    found = {same(document.final_url): document for document in documents if document.final_url}
    found |= {same(document.url): document for document in documents}
    return {url: found[key] for url in asked if (key := same(url)) in found}


def canonical(url: str) -> str:
    """A spelling in which two results for one page are equal, with or without `www.`, TLS or trackers.

    What follows `#` is a part of the page, unless it is a path: some sites keep their pages there.
    """
    plain = matcher(PLAIN_PLACE)(url)
    return f"https://{plain[1]}" if plain is not None and plain.end() == len(url) else _canonical(url)


@cache
def matcher(pattern: str) -> Callable[[str], Any]:
    """What matches a pattern, which is compiled when it is first needed."""
    return re.compile(pattern).match


def _canonical(url: str) -> str:
    try:
        parts = urlsplit(spelled(url))
        port = "" if parts.port is None or str(parts.port) in _PORTS.values() else f":{parts.port}"
    except ValueError:
        return url
    host = (parts.hostname or "").removeprefix("www.")
    query = [
        (name, value) for name, value in parse_qsl(parts.query, True) if not re.fullmatch(_TRACKERS, name)
    ]
    scheme = "https" if parts.scheme.lower() in _WEB else parts.scheme.lower()
    route = parts.fragment if parts.fragment.startswith(("/", "!")) else ""
    return urlunsplit((scheme, f"{host}{port}", parts.path.rstrip("/"), urlencode(sorted(query)), route))


def _holds_token(text: str) -> bool:
    return any(
        beginning in text and re.search(f"(?<![A-Za-z0-9]){beginning}{rest}(?![A-Za-z0-9])", text)
        for beginning, rest in _TOKENS.items()
    )


def _forms(url: str) -> tuple[str, ...]:
    once = unquote(url)
    return tuple(dict.fromkeys((url, once, unquote(once), spelled(url))))
