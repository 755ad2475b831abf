"""Who a search on X is charged to: a key and an address at xAI, or what is missing for it."""

from collections.abc import Callable

import msgspec

from hermes.errors import NotConfigured
from hermes.protocols import CredentialSource, Endpoint

PROVIDER = "xai"
LEAST_SECONDS = 30

_NONE = "No xAI credentials"
_NO_OAUTH = "signing in with xAI OAuth is not in this version"


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """How X is searched: by which credential, with which model, and how patiently."""

    source: CredentialSource = "auto"
    model: str = "grok-4.5"
    effort: str | None = None
    seconds: int = 180
    """How long one attempt may be silent; never less than `LEAST_SECONDS`."""
    retries: int = 2
    patience: float = 30.0
    """The longest wait that the server may ask for."""


class Account(msgspec.Struct, frozen=True):
    """What a search is made with: where the server is, the key to it, and the terms."""

    endpoint: Endpoint
    key_name: str
    terms: Terms

    @property
    def credential_source(self) -> str:
        """The name of the credential in a result."""
        return self.endpoint.provider.name


def open_account(terms: Terms, find_key: Callable[[str], tuple[Endpoint, str] | None]) -> Account:
    """The account on these terms; raises `NotConfigured` with what is missing.

    `find_key` gives the endpoint of a provider with the name of its key, or None when it has no key.
    """
    if terms.source == "oauth":
        raise NotConfigured(
            f"{_NONE}: `x_search.credential_source` is `oauth`, and {_NO_OAUTH}",
            hint="set `XAI_API_KEY`, and run `hermes config set x_search.credential_source api_key`",
        )
    found = find_key(PROVIDER)
    if found is None:
        hint = f"set `XAI_API_KEY`, or store it with `hermes config set XAI_API_KEY`; {_NO_OAUTH}"
        raise NotConfigured(_NONE, hint=hint)
    floors = {"seconds": max(terms.seconds, LEAST_SECONDS), "retries": max(terms.retries, 0)}
    return Account(*found, msgspec.structs.replace(terms, **floors))
