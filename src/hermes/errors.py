"""Every exception Hermes raises on purpose, in one tree. A class says what to do next.

HermesError                    exit code 1, an optional hint
├── Interrupted                the user stopped it: exit code 130, what was said is kept
├── UsageError                 the caller's words are wrong: exit code 2
│   ├── UnknownName            ... and these names are near
│   └── RequestFault           ... in a request to our server: says with which status it is refused
├── ConfigError                a settings file is wrong: exit code 2, file and line
│   └── NotConfigured          ... or silent on something that is needed
├── StoreError                 a file of ours cannot be used
│   ├── StoreUnavailable       read-only, full or locked: go on without saving
│   │   └── StoreLocked        ... by another program: later
│   └── StoreCorrupt           damaged: set aside and rebuilt
├── DocumentError              a document cannot be read
├── NetError                   bytes did not arrive
│   ├── AddressRefused         a page or a model leads where it may not: never follow
│   ├── ConnectFailed          nothing was sent: retry
│   │   └── TlsFailed          ... and nobody knows to whom: neither again nor elsewhere
│   ├── DeadlinePassed         connect, first byte, idle or total
│   ├── Disconnected           cut in the middle
│   ├── TooLarge               a cap was reached
│   ├── ProtocolBroken         the peer does not speak the protocol
│   └── HttpStatus             an answer with an error status, after all retries
├── ModelError                 the provider answered, and not with an answer
│   ├── AuthFailed             the key is missing, wrong or not allowed: another key
│   ├── QuotaExhausted         the key has nothing left to spend: another key, not a wait
│   ├── RateLimited            too many requests: says when to come back
│   ├── RequestRejected        the request is wrong: repeating it will not help
│   │   ├── ModelNotFound      ... there is no such model: another name
│   │   ├── ContextOverflow    ... the conversation is too long: make it shorter
│   │   ├── OutputLimitTooHigh ... the wanted output is: ask for less, says how much
│   │   ├── FieldRefused       ... a field of it is not known there: leave it out
│   │   ├── ReasoningRefused   ... what was thought earlier is not taken back: leave it out
│   │   ├── PictureRefused     ... a picture is not taken: tell it in words
│   │   ├── SchemaRefused      ... the schema of a tool is not taken: make it simpler
│   │   ├── FormatRefused      ... the schema of the answer is not taken: say it in words
│   │   ├── StreamRefused      ... an answer in pieces is not given: ask for the whole
│   │   └── ContentBlocked     ... the provider does not want to answer this
│   ├── ProviderDown           the provider's fault: later, or another provider
│   │   └── Overloaded         ... too busy for anyone: another key is no use
│   ├── InvalidResponse        the answer breaks the wire protocol
│   └── IncompleteResponse     the answer stopped in the middle; what arrived is kept
├── ToolError                  a tool failed; the model is told and goes on
│   └── UnknownTool
├── Block                      a plugin says no: nothing swallows it, and nothing is tried again
├── NextCallMisused            a plugin called on a second time, or too late: nothing was done
├── WebError                   a web backend failed; empty results are not an error
│   ├── BackendRefused         the key is missing, wrong or not allowed: another key
│   └── BackendDown            not reached, too slow or broken: later, or another backend
│       └── BackendSpent       ... its rate or its plan is used up: says when to come back
└── PluginError                a plugin cannot be used; everything else can
    └── NotAllowed             ... it wants what nobody has allowed it
"""

from collections.abc import Iterable, Mapping
from typing import Literal


class HermesError(Exception):
    """The root. `hint` is the fix in one line; shells print it under the message.

    `mend` is what they print where whoever raised it knew nothing better.
    """

    exit_code = 1
    retryable = False
    mend = "`hermes doctor` looks at every part and says how to mend what is wrong"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Interrupted(HermesError):
    mend = ""
    exit_code = 130


class UsageError(HermesError):
    mend = "`hermes --help` lists the commands, and every command takes `--help`"
    exit_code = 2


class UnknownName(UsageError):
    """A name that nothing answers to; offers the nearest known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str | None = None) -> None:
        super().__init__(f"unknown {kind} `{name}`", hint=hint or _offer(kind, name, sorted(known)))


class RequestFault(UsageError):
    """A request to our own server that is refused: `param` is the field, `retry_after` when to come back."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "invalid_value",
        param: str | None = None,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after


_MOST_OFFERED = 8
_FAR_BEHIND = 0.15


def _offer(kind: str, name: str, known: list[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"did you mean {_quoted(near)}"
    more = f" and {len(known) - _MOST_OFFERED} more" if len(known) > _MOST_OFFERED else ""
    return f"known names are {_quoted(known[:_MOST_OFFERED])}{more}" if known else f"there is no {kind} yet"


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that look like this one, best first; none that is far behind the best."""
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415  # paid by who mistypes, not by every start

    found = get_close_matches(name.lower(), list(known), n=most, cutoff=0.5)
    likeness = [SequenceMatcher(None, candidate, name.lower()).ratio() for candidate in found]
    return [one for one, like in zip(found, likeness, strict=True) if like > likeness[0] - _FAR_BEHIND]


class ConfigError(HermesError):
    mend = (
        "`hermes config check` looks at all settings; `hermes config show --origin` says where each is from"
    )
    exit_code = 2


class NotConfigured(ConfigError):
    mend = "run `hermes setup`"


class StoreError(HermesError):
    mend = "`hermes doctor` says which files are sound; `HERMES_HOME` can name another folder"


class StoreUnavailable(StoreError):
    mend = "make the folder writable, or set `HERMES_HOME` to one that is"


class StoreLocked(StoreUnavailable):
    mend = "try again when the other program is done, or set `HERMES_HOME` to a folder of its own"


class StoreCorrupt(StoreError):
    mend = "`hermes doctor` says what is still sound"


class DocumentError(HermesError):
    mend = "`hermes index add` and `hermes extract` read Markdown, text, HTML and PDF"


class NetError(HermesError):
    mend = "`hermes doctor` tries the servers that are set"


Closed = Literal["bad-url", "bad-port", "private-address", "metadata-address", "blocked-site"]


class AddressRefused(NetError):
    """An address that the user did not configure and that strangers may not choose; `reason` says why."""

    mend = "`security.allow_networks` and `security.website_blocklist` say what pages may lead to"

    def __init__(self, message: str, *, reason: Closed, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class ConnectFailed(NetError):
    mend = "check the network; `hermes doctor` tries the servers that are set"
    retryable = True


class TlsFailed(ConnectFailed):
    mend = "check the address and the clock with `hermes doctor`"
    retryable = False


Phase = Literal["connect", "first byte", "idle", "total"]


class DeadlinePassed(NetError):
    mend = "try again; `hermes doctor` says whether the server answers"
    retryable = True

    def __init__(self, message: str, *, phase: Phase, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.phase = phase


class Disconnected(NetError):
    mend = "try again; `hermes doctor` says whether the server answers"
    retryable = True


class TooLarge(NetError):
    mend = "ask for less, or elsewhere: `-m` names another model and `--backend` another backend"


class ProtocolBroken(NetError):
    mend = "check the address with `hermes doctor`; `hermes config show --origin` says where it is set"


class HttpStatus(NetError):
    """The final answer's status was not 2xx. `body` is cut, never the whole reply."""

    mend = "check the address and the key with `hermes doctor`"

    def __init__(
        self, status: int, headers: Mapping[str, str], body: bytes, *, retry_after: float | None = None
    ) -> None:
        super().__init__(f"the server answered with status {status}")
        self.status = status
        self.headers = headers
        self.body = body
        self.retry_after = retry_after


class ModelError(HermesError):
    mend = "ask another model with `-m PROVIDER/MODEL`; `hermes models` lists them"


class AuthFailed(ModelError):
    """`forbidden` says that the key is known and not allowed to do this; a wrong key is not known."""

    mend = "set the key again with `hermes setup`"

    def __init__(self, message: str, *, forbidden: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.forbidden = forbidden


class QuotaExhausted(ModelError):
    mend = "set another key with `hermes setup`, or ask another provider with `-m PROVIDER/MODEL`"


class RateLimited(ModelError):
    """`upstream` says that the limit is that of a provider behind the provider: another key is no use."""

    mend = "wait a little, or name who stands in with `hermes config set model.fallback PROVIDER/MODEL`"
    retryable = True

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        upstream: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
        self.upstream = upstream


class RequestRejected(ModelError):
    mend = "`hermes chat --explain` shows what would be sent and why"


class ModelNotFound(RequestRejected):
    mend = "`hermes models PROVIDER` lists the models there are"


class ContextOverflow(RequestRejected):
    mend = "begin a new conversation with `hermes chat`, or set `model.context_window`"


class OutputLimitTooHigh(RequestRejected):
    """`limit` is the most that is allowed, None when the provider does not say.

    `lasting` says whether it holds for every call to this model, or only beside this long a question.
    """

    mend = "set `model.max_tokens` to less"

    def __init__(
        self, message: str, *, limit: int | None = None, lasting: bool = True, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit
        self.lasting = lasting


class FieldRefused(RequestRejected):
    """`field` is the name that the provider complained of, dotted when it is inside another.

    `instead` is the name that it wants in its place, where it says so.
    """

    def __init__(self, message: str, *, field: str, instead: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.instead = instead


class ReasoningRefused(RequestRejected):
    pass


class PictureRefused(RequestRejected):
    """`lasting` says whether the model takes no picture at all, or only not this one."""

    mend = "ask a model that sees with `-m PROVIDER/MODEL`"

    def __init__(self, message: str, *, lasting: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.lasting = lasting


class SchemaRefused(RequestRejected):
    mend = "offer fewer tools with `--tools`"


class FormatRefused(RequestRejected):
    """The provider cannot be held to the schema of an answer."""


class StreamRefused(RequestRejected):
    """The provider gives this answer only as a whole."""

    mend = "ask for the whole answer with `--no-stream`"


class ContentBlocked(RequestRejected):
    mend = "put it in other words, or ask another provider with `-m PROVIDER/MODEL`"


class ProviderDown(ModelError):
    mend = "try later, or name who stands in with `hermes config set model.fallback PROVIDER/MODEL`"
    retryable = True


class Overloaded(ProviderDown):
    pass


class InvalidResponse(ModelError):
    mend = "check with `hermes doctor` that the address is that of the API, or ask another with `-m`"
    retryable = True


class IncompleteResponse(ModelError):
    mend = "go on where it stopped with `hermes chat -c`"


class ToolError(HermesError):
    mend = "`hermes tools` lists the tools and what they lack"


class UnknownTool(ToolError):
    pass


class Block(HermesError):
    """`code` says why in a word; `plugin` and `callback` say who, once that is known."""

    mend = "`hermes plugins list` shows the plugins, and `hermes plugins disable NAME` stops one"

    def __init__(self, message: str, *, code: str = "plugin_block", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.plugin = ""
        self.callback = ""

    def by(self, plugin: str, callback: str) -> "Block":
        """The same, with who raised it; the first to be named stays."""
        if not self.plugin:
            self.plugin, self.callback = plugin, callback
        return self


class NextCallMisused(HermesError, RuntimeError):
    mend = "`hermes plugins check NAME` looks the plugin over"


class WebError(HermesError):
    mend = "ask another backend with `--backend`, or choose one with `hermes tools setup`"


class BackendRefused(WebError):
    mend = "set its key again with `hermes tools setup`"


class BackendDown(WebError):
    mend = "try later, ask another with `--backend`, or name who stands in with `web.failover`"
    retryable = True


class BackendSpent(BackendDown):
    """`retry_after` is the seconds after which it may answer again, None when it does not say."""

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class PluginError(HermesError):
    mend = "`hermes plugins list` shows what is wrong with each plugin"


class NotAllowed(PluginError, PermissionError):
    mend = "`hermes plugins enable NAME` asks what it may do"
