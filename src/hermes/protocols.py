"""Every seam in one file: what the parts ask of each other, and the values they pass.

The agent is handed things that fit these and never learns who made them; only `app` knows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Any, Literal, Protocol

import msgspec

from hermes.errors import ModelError, NetError
from hermes.events import Delta, RetryWaiting
from hermes.messages import FinishReason, Message, NormalizedResponse

ApiMode = Literal["chat_completions", "anthropic_messages", "codex_responses", "bedrock_converse"]
AuthStyle = Literal["bearer", "x-api-key", "api-key", "none"]
ToolChoice = Literal["auto", "none", "required"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
CredentialSource = Literal["auto", "oauth", "api_key"]
"""How a tool that has an account with a vendor gets into it."""


class Revealable(Protocol):
    """A secret: prints as stars everywhere, and gives its value only to who asks by name."""

    def reveal(self) -> str: ...


class Deadlines(msgspec.Struct, frozen=True):
    """Seconds allowed to connect, to the first byte, between two chunks, and in all."""

    connect: float = 5.0
    first_byte: float = 120.0
    idle: float = 120.0
    total: float = 600.0


class HttpRequest(msgspec.Struct, frozen=True):
    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes = b""
    deadlines: Deadlines = Deadlines()
    attempt: int | None = None
    """Which attempt this is, where the sender comes back by itself after a wait; None where the wire does."""


class HttpReply(Protocol):
    """A reply whose status and headers have arrived; its body is read one way, once."""

    status: int
    headers: Mapping[str, str]

    async def read(self) -> bytes:
        """The whole body, within the caps."""
        ...

    def events(self) -> AsyncIterator[Sequence[bytes]]:
        """The payloads of an event stream, in batches as they arrive."""
        ...


MayRetry = Callable[[NetError, RetryWaiting], bool]
"""Asked before a failed request is sent again: the failure, and the wait there would be.

Where the sender comes back by itself, the failure is raised either way, and a yes says that it will.
"""


class Wire(Protocol):
    """The port to a server: real sockets in `net`, a model in process for `scout`."""

    def open(
        self, request: HttpRequest, may_retry: MayRetry | None = None
    ) -> AbstractAsyncContextManager[HttpReply]:
        """Send the request and enter with a 2xx reply; raises `NetError` otherwise."""
        ...

    async def close(self) -> None: ...


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model: complete, immutable, and free of any vendor."""

    messages: tuple[Message, ...]
    model: str = ""
    """Whom it goes to, as `issuer`: filled in by whoever sends it, for each model it is sent to."""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel: bool | None = None
    """Whether several tools may be called at once; None leaves it to the provider."""
    max_output_tokens: int | None = None
    effort: Effort | None = None
    """How hard to think; None leaves it to the provider, `none` asks for no thinking."""
    temperature: float | None = None
    output_schema: Mapping[str, Any] | None = None
    """A JSON Schema the answer must keep."""
    issuer: str = ""
    """Who is asked: opaque data that another issuer made stays at home."""
    session_id: str = ""
    """Which conversation this belongs to, for vendors that keep one together on their side."""
    stream: bool = True


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers: one model provider, as a value. One file under `providers/` holds one."""

    name: str
    title: str
    api_mode: ApiMode
    aliases: tuple[str, ...] = ()
    rank: int = 50
    """Its place among those that the environment offers, lowest first; 0 is never chosen unasked."""
    base_url: str = ""
    base_url_env: tuple[str, ...] = ()
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    auth_style: AuthStyle = "bearer"
    headers: Mapping[str, str] = {}
    default_model: str = ""
    models: tuple[str, ...] = ()
    models_path: str = "/models"
    """Where it lists its models, after the base URL; empty where it lists none."""
    open_list: bool = False
    """Whether it lists its models to everybody, also without a key."""
    context_window: int | None = None
    """Tokens that a question and its answer may take together, where that is known."""
    max_tokens: int | None = None
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: float | Literal["omit"] | None = None
    """A temperature that is always sent, or `omit` where none may be; None leaves it to the caller."""
    efforts: tuple[Effort, ...] = ()
    """What `reasoning_effort` may say on the chat wire; empty where the field is not known."""
    output: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    """How it is asked for data: by a schema in the form of its wire, as any JSON, or in words alone."""
    system_role: Literal["system", "developer"] = "system"
    late_system: bool = True
    """Whether a system message may stand in the middle; where not, the next user message says it."""
    user_after_tool: bool = True
    """Whether a question may follow a tool's result; where not, a word of the assistant stands between."""
    stream_usage: bool = True
    sees: bool = True
    """Whether its models take pictures; where not, they are told that there was one."""
    echoes: tuple[str, ...] = ()
    """Keys of a chat message that this provider wants back as it sent them: `reasoning_content`, …"""
    caches: bool = False
    """Whether prompt-cache markers are placed, in the form its wire has for them."""
    codes: Mapping[str, int] = {}
    """Its own error codes, each with the HTTP status that says the same."""
    dialect: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    """A tool's JSON Schema as its models take it."""
    prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """One converted message as it wants it. A message is prepared once, so its bytes stay the same."""
    quirks: Callable[[dict[str, Any], Request], dict[str, Any]] | None = None
    """The last word on a payload: the fields it wants beside the protocol's, or instead of them.

    `extra_headers` among them are sent as headers, `extra_body` as fields of the body. The messages
    are not its business.
    """
    refine: Callable[["Endpoint"], "Endpoint"] | None = None
    """What follows from the model, the address or the kind of key: another protocol, other limits."""
    sign: Callable[[HttpRequest], HttpRequest] | None = None
    """Signs a request when there is no key to authorise it."""
    engine: Callable[[], Wire] | None = None
    """Makes the wire of a model that runs in this process; None when there is a server to call."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A provider with what this run knows of it: where it is, and the key to it."""

    provider: Provider
    model: str
    base_url: str
    api_key: Revealable | None = None
    spare_keys: tuple[Revealable, ...] = ()
    """Other keys to the same provider, for when this one is refused or used up."""

    @property
    def issuer(self) -> str:
        """Who mints the opaque data of this endpoint: provider, host and protocol."""
        host = self.base_url.partition("://")[2].partition("/")[0]
        return f"{self.provider.name} {host} {self.provider.api_mode}"


class Assembler(Protocol):
    """Builds one response from wire events; a whole reply is fed as a single event."""

    @property
    def has_ended(self) -> bool:
        """Whether the stream has said by its protocol that it is over: nothing that matters follows."""
        ...

    def feed(self, payload: bytes) -> Sequence[Delta]:
        """Take one event's payload; returns what can be shown now."""
        ...

    def feed_whole(self, body: bytes) -> Sequence[Delta]:
        """Take a complete reply; the same state as its stream would have given."""
        ...

    def finish(self) -> NormalizedResponse:
        """The response; raises when what arrived is not a whole one."""
        ...


class ProviderTransport(Protocol):
    """One wire protocol, pure: values in, values out."""

    api_mode: ApiMode

    def convert_messages(self, messages: Sequence[Message]) -> list[dict[str, Any]]: ...

    def convert_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]: ...

    def build_kwargs(self, request: Request, provider: Provider) -> dict[str, Any]: ...

    def encode(self, kwargs: Mapping[str, Any], endpoint: Endpoint) -> HttpRequest: ...

    def assembler(self, tools: Collection[str] = ()) -> Assembler:
        """A new assembler; `tools` are the names a call written out as text may have."""
        ...

    def normalize_response(self, response: bytes) -> NormalizedResponse: ...

    def validate_response(self, response: bytes) -> bool: ...

    def extract_cache_stats(self, response: bytes) -> dict[str, int] | None: ...

    def map_finish_reason(self, reason: object) -> FinishReason: ...

    def read_error(
        self, status: int, body: bytes, retry_after: float | None = None, codes: Mapping[str, int] = ...
    ) -> ModelError:
        """What an error status means; `codes` are the provider's own, with the status each stands for."""
        ...


class Source(msgspec.Struct, frozen=True):
    """A page a tool brought in: what an answer may cite, with the text that was seen."""

    url: str
    title: str
    text: str
    read: bool = True
    """Whether the page itself was read; a search only gives a few words of it."""


class ToolResult(msgspec.Struct, frozen=True):
    """What a tool gives back: text for the model, and where it came from."""

    text: str
    is_error: bool = False
    sources: tuple[Source, ...] = ()
    served_by: str | None = None
    trusted: bool = True
    """Whether its words come from the user's own machine; those of a web page are a stranger's."""


Effect = Literal["reads", "changes"]
"""What a tool does to the world: it looks, or it leaves something behind."""


Keep = Literal["once", "session", "always"]
"""How long a consent lasts: for one call, for the conversation, or for good."""

Choice = Literal["once", "session", "always", "deny"]
"""What a person who is asked may answer."""


class Concern(msgspec.Struct, frozen=True, kw_only=True):
    """A call as it is judged before it is run: what it does, and what speaks against it.

    `forbidden` is never run, `ask` only with a person's consent, `free` is run unless the settings deny it.
    """

    kind: Literal["forbidden", "ask", "free"]
    action: str
    """What is done, exactly: a command, or what is done to which path."""
    reason: str = ""
    rules: tuple[str, ...] = ()
    """The keys of what speaks against it. A consent for longer covers the same keys, whatever the call."""
    parts: tuple[str, ...] = ()
    """What it does beneath `action`, for settings that deny: each program that a command would start."""
    keep: Keep = "always"
    """The longest that a consent to it may last."""


class CallIds(msgspec.Struct, frozen=True, kw_only=True):
    """Which call of which conversation this is; opaque, empty where it is not known."""

    session_id: str = ""
    task_id: str = ""
    turn_id: str = ""
    api_request_id: str = ""
    tool_call_id: str = ""


class Approval(msgspec.Struct, frozen=True):
    """Something that is only done with a person's consent: what exactly, and why it is asked."""

    tool: str
    action: str
    reason: str
    rules: tuple[str, ...] = ()
    """The keys of what matched: an answer for longer covers these, whatever the call."""
    keep: Keep = "always"
    """The longest that the answer may last; a longer one counts as this."""
    ids: CallIds = CallIds()


class Approver(Protocol):
    """Whoever can be asked for consent. Where nobody can, the answer is no."""

    async def __call__(self, wanted: Approval) -> Choice: ...


class ApprovalListener(Protocol):
    """Told of every question for consent; it cannot answer it."""

    async def asked(self, wanted: Approval) -> None:
        """A person is about to be asked."""
        ...

    async def answered(self, wanted: Approval, choice: Choice | Literal["timeout"]) -> None:
        """What they said, or that they said nothing in time."""
        ...

    async def unasked(self, wanted: Approval, *, allowed: bool) -> None:
        """Nobody was asked: it was allowed beforehand, or nobody is here."""
        ...


class Toolbox(Protocol):
    """The tools of one run, ready to be called by name."""

    def specs(self) -> tuple[ToolSpec, ...]: ...

    def fit(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments in the types of the tool's schema; raises `ToolError` for those that do not fit."""
        ...

    def effect(self, name: str) -> Effect:
        """What the tool does to the world."""
        ...

    def lack(self, name: str) -> str | None:
        """What has to be there before the tool can be used; None when nothing is missing."""
        ...

    def concern(self, name: str, arguments: Mapping[str, Any]) -> Concern | None:
        """What speaks against a call with arguments that fit; nobody is asked here."""
        ...

    async def call(
        self, name: str, arguments: Mapping[str, Any], judged: Concern | None = None
    ) -> ToolResult:
        """Run a tool with arguments that fit; raises `ToolError` when it cannot be run at all.

        `judged` is what was consented to: a call that needs more than that is not run.
        """
        ...


progress: ContextVar[Callable[[str], None]] = ContextVar("progress", default=lambda _text: None)
"""Where a running tool says how far it has come; set anew for every call."""


current_call: ContextVar[CallIds] = ContextVar("current_call", default=CallIds())  # noqa: B039 - it is frozen
"""Which call a tool is running for."""


Freshness = Literal["day", "week", "month", "year"]
Topic = Literal["general", "news", "finance"]
Filter = Literal[
    "freshness", "after", "before", "include_domains", "exclude_domains", "language", "region", "topic"
]
"""What a search can be narrowed by: the names of the fields of `Query` that not every backend knows."""


class Query(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """What to look for. The kernel has judged it: a backend may rely on every field.

    A field that a backend does not list in its `filters` is not set when it is asked.
    """

    text: str
    limit: int = 5
    freshness: Freshness | None = None
    """How old a result may be; `after` and `before` say it exactly."""
    after: str = ""
    """The first day of a time range, as YYYY-MM-DD."""
    before: str = ""
    """Its last day."""
    include_domains: tuple[str, ...] = ()
    """The only hosts a result may come from, each with everything below it."""
    exclude_domains: tuple[str, ...] = ()
    language: str = ""
    """Two lower-case letters (ISO 639-1)."""
    region: str = ""
    """The two capital letters of a country (ISO 3166-1)."""
    topic: Topic | None = None


class SearchRow(msgspec.Struct, frozen=True, gc=False):
    """One result as a backend gave it: untrusted until the kernel has looked at it."""

    title: str
    url: str
    description: str
    date: str = ""
    score: float | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a search gave, best first. No rows is a success.

    `answer` is what a backend that answers by itself says; `notes` are what the reader of the rows should
    know, in whole sentences. `served_by` is filled in by who asks several backends.
    """

    rows: tuple[SearchRow, ...] = ()
    answer: str = ""
    notes: tuple[str, ...] = ()
    served_by: str = ""


class Document(msgspec.Struct, frozen=True):
    """One page as a backend read it; `error` says why there is no content."""

    url: str
    title: str = ""
    content: str = ""
    error: str | None = None
    final_url: str = ""
    """Where the page really was, after redirects, when the backend says so."""
    elsewhere: bool = False
    """Whether another backend may well read it: this one was down or had nothing left to spend."""
    served_by: str = ""


class WebBackend(Protocol):
    """Where search results and pages come from. Raises `WebError`; no results is not an error."""

    name: str
    schemes: tuple[str, ...]
    """URL schemes its rows may carry; anything else is dropped by the kernel."""
    filters: frozenset[Filter]
    """What it can narrow a search by; of the rest it is said that it was not heeded."""

    async def search(self, query: Query) -> Found: ...

    async def extract(self, urls: Sequence[str]) -> Sequence[Document]:
        """The pages in any order; one that cannot be read is a document with an error."""
        ...


class Reranker(Protocol):
    """Judges search results against what was looked for: the port for a model that ranks.

    `web.rerank` names the one that is asked. Where it fails or takes too long, the words of the results
    decide, and the result of the search says so.
    """

    @property
    def name(self) -> str: ...

    async def rank(self, query: Query, rows: Sequence[SearchRow]) -> Sequence[float]:
        """A number for each row, the highest for the best; the rows come in the order of their backend."""
        ...


Compressor = Callable[[str, str], Awaitable[str]]
"""Makes a long text shorter as an instruction says: a call to a model. Raises `HermesError`."""


class Fetched(msgspec.Struct, frozen=True):
    """A page as its server sent it. `url` is where it came from, after any redirects."""

    url: str
    status: int
    content_type: str
    body: bytes
    notes: tuple[str, ...] = ()


class PageFetcher(Protocol):
    """Gets pages that a model or another page named: public addresses only, within the caps."""

    async def fetch(self, url: str) -> Fetched:
        """The page; raises `NetError` when there is none to be had."""
        ...

    async def close(self) -> None: ...


class KeptPage(msgspec.Struct, frozen=True):
    """A page that was fetched before, with what its server tells versions apart by."""

    page: Fetched
    etag: str = ""
    last_modified: str = ""


class PageCache(Protocol):
    """Where fetched pages are kept; nobody's work depends on it, so no call here raises."""

    def get(self, url: str) -> KeptPage | None: ...

    def put(self, url: str, kept: KeptPage) -> None: ...


class DocumentReader(Protocol):
    """Makes what was fetched readable, whatever it is."""

    def prepare(self, count: int) -> None:
        """Get ready to read so many documents soon."""
        ...

    async def read(self, fetched: Fetched) -> "Page":
        """The readable content; raises `DocumentError` with the reason when there is none."""
        ...

    async def close(self) -> None: ...


class Page(msgspec.Struct, frozen=True):
    """A document made readable: Markdown, with what else was learned on the way."""

    markdown: str
    title: str
    metadata: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()

    def with_notes(self, before: Sequence[str] = ()) -> str:
        """The text, and what a reader should know of how it came about."""
        notes = (f"[note: {note}]" for note in (*before, *self.notes))
        return "\n\n".join((self.markdown, *notes)).lstrip("\n")


class IndexedDocument(msgspec.Struct, frozen=True):
    """A document in the local index, with the text it was read as."""

    url: str
    title: str
    text: str
    passage: str = ""
    """The passage that matched best, when it came from a search."""


class DocumentIndex(Protocol):
    """The local documents, searchable."""

    def search(self, query: str, limit: int) -> Sequence[IndexedDocument]: ...

    def get(self, url: str) -> IndexedDocument | None: ...


class Mismatch(msgspec.Struct, frozen=True):
    """Why an answer is not what was asked for, in words a model can act on."""

    problem: str


class Expectation(Protocol):
    """What an answer must be: data that keeps a JSON Schema."""

    schema: Mapping[str, Any]

    def read(self, text: str) -> Any | Mismatch:
        """The value in an answer, or what is wrong with it."""
        ...


class SessionLog(Protocol):
    """Where a conversation is kept: a message is on disk when `append` is done.

    It is on its way there as soon as that is awaited, whoever then stops waiting for it.
    """

    def append(self, session_id: str, messages: Sequence[Message]) -> Awaitable[None]: ...

    def summarise(self, session_id: str, summary: Message, known: Sequence[Message]) -> Awaitable[None]:
        """Keep a summary of some of the messages that its writer knows; others may have added theirs."""
        ...


class Notebook(Protocol):
    """What one run learned and the next may use: small JSON values, each for a while.

    Nobody's work depends on a note: no call here raises.
    """

    def read(self, topic: str, key: str) -> Any:
        """The value that was noted, or None when there is none or its time is over."""
        ...

    def write(self, topic: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Note a value, for so many seconds or for good; what stood there is replaced."""
        ...

    def entries(self, topic: str) -> Mapping[str, Any]:
        """All that is noted under a topic, by key."""
        ...

    def forget(self, topic: str, key: str) -> None:
        """Remove a note; there need not be one."""
        ...
