"""Who may come in: the tokens of a file, compared without telling how near a guess was."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence

from hermes.errors import ConfigError

FILE = "server-token"
COOKIE = "hermes_session"

_OTHERS = 0o077
_SHORTEST = 16


class Tokens:
    """The tokens that are let in. A cookie holds what only a token's owner could have been given."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._by_digest = {_digest("token", token): _digest("name", token)[:12].decode() for token in tokens}
        self._by_cookie = {_digest("cookie", token): _digest("name", token)[:12].decode() for token in tokens}

    def owner(self, token: str) -> str | None:
        """A name for whoever shows this token; None when nobody has it."""
        return _find(self._by_digest, _digest("token", token))

    def owner_of_cookie(self, cookie: str) -> str | None:
        """The same, by the value of the cookie that a browser got when its user signed in."""
        return _find(self._by_cookie, cookie.encode(errors="replace"))

    def cookie(self, token: str) -> str | None:
        """The value of the cookie for who has shown this token; None when nobody has it."""
        return _digest("cookie", token).decode() if self.owner(token) else None


def _digest(purpose: str, token: str) -> bytes:
    made = hmac.new(token.encode(errors="replace"), purpose.encode(), hashlib.sha256)
    return made.hexdigest().encode()


def _find(known: dict[bytes, str], given: bytes) -> str | None:
    """Compared with each of them, and each to its end: the time it takes tells nothing."""
    found = None
    for digest, owner in known.items():
        if hmac.compare_digest(digest, given):
            found = owner
    return found


def read_or_make(path: str) -> tuple[Tokens, str]:
    """The tokens of a file, one in a line; and the new one, where there was no file."""
    try:
        made = secrets.token_urlsafe(32)
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(f"{made}\n")
    except FileExistsError:
        return _read(path), ""
    except OSError as error:
        raise ConfigError(
            f"the token cannot be written to `{path}`: {error.strerror}", hint="name another `--token-file`"
        ) from error
    return Tokens([made]), made


def _read(path: str) -> Tokens:
    try:
        if os.stat(path).st_mode & _OTHERS:
            raise ConfigError(f"`{path}` can be read by other users", hint=f"run `chmod 600 {path}`")
        with open(path, encoding="utf-8", errors="replace") as file:
            tokens = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be read: {error.strerror}") from error
    if not tokens or min(map(len, tokens)) < _SHORTEST:
        raise ConfigError(
            f"`{path}` needs a token in each line, of {_SHORTEST} characters or more",
            hint="remove the file, and a token is made",
        )
    return Tokens(tokens)
