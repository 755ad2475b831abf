"""Several keys to one provider: which is used, and for how long a refused one is left alone."""

import hashlib
from collections.abc import Sequence

import msgspec

from hermes.errors import AuthFailed, HermesError, QuotaExhausted, RateLimited
from hermes.protocols import Endpoint, Notebook, Revealable

_TOPIC = "keys"
_AFTER_REFUSAL = 300.0
_AFTER_LIMIT = 3600.0


class KeyRing:
    """The keys of an endpoint, those in good health first.

    What was refused is noted under a hash of the key, so that the next run begins with another one.
    Where there is one key, nothing is noted and nothing is looked up.
    """

    def __init__(self, endpoint: Endpoint, notebook: Notebook | None) -> None:
        keys = (endpoint.api_key, *endpoint.spare_keys)
        self._endpoints = [msgspec.structs.replace(endpoint, api_key=key, spare_keys=()) for key in keys]
        self._notebook = notebook if endpoint.spare_keys else None
        self._sorted = self._notebook is None

    def endpoints(self) -> Sequence[Endpoint]:
        """The endpoint with each of its keys, in the order they should be tried."""
        if not self._sorted:
            self._endpoints.sort(key=self._is_cooling)
            self._sorted = True
        return tuple(self._endpoints)

    def set_back(self, endpoint: Endpoint, error: HermesError) -> None:
        """Leave a key alone for a while, and try the others before it."""
        self._endpoints.remove(endpoint)
        self._endpoints.append(endpoint)
        if self._notebook is not None and endpoint.api_key is not None:
            self._notebook.write(
                _TOPIC, fingerprint(endpoint.api_key), type(error).__name__, _cool_down(error)
            )

    def _is_cooling(self, endpoint: Endpoint) -> bool:
        if self._notebook is None or endpoint.api_key is None:
            return False
        return self._notebook.read(_TOPIC, fingerprint(endpoint.api_key)) is not None


def another_key_helps(error: HermesError) -> bool:
    """Whether the failure is that of the key, and not of the provider or of the request."""
    match error:
        case AuthFailed():
            return not error.forbidden
        case RateLimited():
            return not error.upstream
        case _:
            return isinstance(error, QuotaExhausted)


def _cool_down(error: HermesError) -> float:
    if isinstance(error, AuthFailed):
        return _AFTER_REFUSAL
    return (error.retry_after if isinstance(error, RateLimited) else None) or _AFTER_LIMIT


def fingerprint(key: Revealable) -> str:
    """What tells keys apart and gives none away."""
    return hashlib.sha256(key.reveal().encode(errors="replace")).hexdigest()[:16]
