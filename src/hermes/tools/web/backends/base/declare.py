"""A web backend as a value: what it can, what it needs from the user, and its requests and replies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from hermes.errors import WebError
from hermes.protocols import (
    Deadlines,
    Document,
    DocumentIndex,
    DocumentReader,
    Filter,
    Found,
    HttpRequest,
    PageFetcher,
    Query,
    Revealable,
    WebBackend,
    Wire,
)
from hermes.tools.web.backends.base.reading import SEARCHES_WITHIN, Columns

KEY = "key"
BASE_URL = "base_url"


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """Something a user can set for a backend: by a variable, by a setting, or by both; variables win.

    The options named `key` and `base_url` are the backend's key and address.
    """

    name: str
    what: str
    """What it is, with its article: `an API key`."""
    env: tuple[str, ...] = ()
    setting: str = ""
    """Its place below `web.`, such as `custom_model` or `searxng.engines`."""
    default: Any = ""
    required: bool = False
    """Whether the backend cannot be used without it, which is then said by its name."""
    secret: bool = False
    prompt: str = ""
    """How setup asks for it; what has no prompt is not asked for."""
    url: str = ""
    """Where a user gets it."""


def key_option(
    *env: str, title: str, url: str = "", setting: str = "", what: str = "an API key", required: bool = True
) -> Option:
    """The key of a backend."""
    return Option(
        name=KEY,
        what=what,
        env=env,
        setting=setting,
        required=required,
        secret=True,
        prompt=f"{title} API key",
        url=url,
    )


def address_option(
    default: str,
    *env: str,
    setting: str = "",
    what: str = "a base URL",
    prompt: str = "",
    required: bool = False,
) -> Option:
    """The address of a backend: its vendor's, unless the user names another."""
    return Option(
        name=BASE_URL,
        what=what,
        env=env,
        setting=setting,
        default=default,
        required=required,
        prompt=prompt,
    )


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """A backend as this run knows it: where it is, the key to it, and every other option by name."""

    base_url: str = ""
    """Without a slash at its end."""
    key: Revealable | None = None
    options: Mapping[str, Any] = {}

    def bearer(self) -> dict[str, str]:
        """The header that most vendors take a key in; none when there is no key."""
        return {"Authorization": f"Bearer {self.key.reveal()}"} if self.key is not None else {}


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange with a backend's server, as it may be shown: without the key."""

    backend: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: str
    seconds: float
    outcome: str
    """`200` with its size, or what went wrong."""


class Services(Protocol):
    """What a backend may use: each is made when first asked for."""

    def index(self) -> DocumentIndex: ...

    def wire(self) -> Wire:
        """The way to any server that the user has named, with deadlines, caps and retries."""
        ...

    def fetcher(self) -> PageFetcher:
        """Fetches pages that the user did not choose, behind the address guard."""
        ...

    def reader(self) -> DocumentReader:
        """Makes what was fetched readable, in processes of their own."""
        ...

    def setting(self, name: str) -> str | None:
        """An environment variable, stripped; None when unset or blank."""
        ...

    def secret(self, name: str) -> Revealable | None:
        """The same for a variable that holds a key."""
        ...

    def option(self, path: str) -> Any:
        """What config.yaml says below `web.`; None when it is silent. A key comes as a `Revealable`."""
        ...

    def admit_key(self, name: str, url: str, own: str) -> None:
        """Raises `NotConfigured` when the key stored under a name is for another place than this address.

        `own` is the vendor's own address, empty where it has none.
        """
        ...

    @property
    def redact(self) -> Callable[[str], str]:
        """Takes every secret that is set out of a text."""
        ...

    @property
    def sent(self) -> list[Sent] | None:
        """Where every exchange is put when it is over; None when nobody wants to know."""
        ...


class Backend(msgspec.Struct, frozen=True, kw_only=True):
    """One web backend. One file under `backends/` holds one, as `BACKEND`.

    A backend with a server is pure functions: the request for a `Query` or for pages, and what its reply
    means. The reply is decoded JSON, an object or a list. Whoever cannot be written so gives `connect`.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    """Other names that settings may call it by."""
    rank: int = 50
    """Who serves when nothing is chosen: the lowest number of those available; 0 is never chosen unasked."""
    searches: bool = True
    extracts: bool = True
    options: tuple[Option, ...] = ()
    offered_by: tuple[str, ...] = (KEY,)
    """The options any of which, set by the user, makes it available unasked; without any it always is."""
    sent_to: str = BASE_URL
    """The option that holds the address its keys go to."""
    filters: frozenset[Filter] = frozenset()
    schemes: tuple[str, ...] = ("http", "https")
    deadlines: Deadlines = SEARCHES_WITHIN
    search_request: Callable[[Site, Query], HttpRequest] | None = None
    read_search: Callable[[Any, Query], Found] | None = None
    columns: Columns | None = None
    """How the rows of a reply look that is as documented: what is not read of it is then not decoded."""
    is_empty: Callable[[int, Any], bool] | None = None
    """Whether an error status, with the decoded body or its text, only says that nothing was found."""
    extract_request: Callable[[Site, Sequence[str]], HttpRequest] | None = None
    read_extract: Callable[[Any, Sequence[str]], Sequence[Document]] | None = None
    extract_batch: int = 1
    """How many pages one request may ask for; the requests of several batches go out at once."""
    read_error: Callable[[int, Any], WebError | None] | None = None
    """What a status means here, with the decoded body or its text; None leaves it to the usual meaning."""
    refine: Callable[[Site], "Backend"] | None = None
    """The backend with functions that follow from its options. Raises `ConfigError` for wrong ones."""
    connect: Callable[[Services], WebBackend] | None = None
    """Makes the backend of whoever is not a pair of request and reply."""
    is_ready: Callable[[], bool] | None = None
    """Whether what it needs beside options, such as a package, is there. Never touches the network."""
    meant: Callable[[Services], str] | None = None
    """Another backend that is meant by its name under some settings; empty where it means itself."""
    describe: Callable[[Site], str] | None = None
    """What `hermes doctor` says of it when it serves; without it, its address."""
    badge: str = ""
    """A word for the list of backends: `free`, `self-hosted`."""
