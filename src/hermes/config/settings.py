"""The settings as values: what a run is configured with, and where each setting came from."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from hermes.config.environment import Environment, names_secret
from hermes.config.secret import SHORTEST_REDACTED, Redactor, Secret, in_address
from hermes.protocols import CredentialSource, Effort

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Names = tuple[str, ...]
Patterns = Annotated[tuple[str, ...], msgspec.Meta(description="texts, which may hold commas")]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
PluginMode = Literal["full", "observe", "off"]
XEffort = Literal["low", "medium", "high", "xhigh"]


class ModelSettings(msgspec.Struct, frozen=True):
    provider: str = ""
    default: str = ""
    base_url: str = ""
    api_key: Secret | None = None
    max_tokens: AtLeastOne | None = None
    fallback: Names = ()
    patience: AtLeastOne = 30
    timeout: Seconds = 120.0
    context_window: AtLeastOne | None = None
    effort: Effort | None = None
    temperature: NotNegative | None = None
    local_servers: bool = True


class WebSettings(msgspec.Struct, frozen=True):
    backend: str = ""
    search_backend: str = ""
    extract_backend: str = ""
    extract_char_limit: int = 15000
    robots: bool = False
    failover: Names = ()
    failover_on_empty: bool = False
    federate: Names = ()
    federate_patience: NotNegative = 3.0
    rerank: str = ""
    cache_enabled: bool = True
    cache_ttl_minutes: AtLeastOne = 20
    cache_exempt_hosts: Names = ()
    compress: bool = False
    custom_base_url: str = ""
    custom_model: str = ""
    custom_api_key: Secret | None = None


class XSearchSettings(msgspec.Struct, frozen=True):
    credential_source: CredentialSource = "auto"
    model: str = "grok-4.5"
    reasoning_effort: XEffort | None = None
    timeout_seconds: int = 180
    retries: int = 2


class AgentSettings(msgspec.Struct, frozen=True):
    max_turns: AtLeastOne = 50
    max_tokens: AtLeastOne | None = None
    max_cost: NotNegative | None = None
    max_seconds: NotNegative | None = None
    max_verify_nudges: int = 3
    tools: Names = ("web", "x_search")


class AuxiliarySettings(msgspec.Struct, frozen=True):
    """A model of its own for each task beside the conversation.

    Without one the conversation's model sums up and shortens pages; titles and descriptions of pictures
    are not made.
    """

    compaction: str = ""
    title: str = ""
    vision: str = ""
    web: str = ""


class ApprovalSettings(msgspec.Struct, frozen=True):
    """What is allowed or denied before a person is asked: exact texts or globs."""

    allow: Patterns = ()
    deny: Patterns = ()
    timeout: AtLeastOne = 60


class ToolLoopSettings(msgspec.Struct, frozen=True):
    """When a model that repeats itself is warned, and when it is stopped."""

    warnings_enabled: bool = True
    hard_stop_enabled: bool = False
    exact_failure_warn_after: AtLeastOne = 2
    same_tool_failure_warn_after: AtLeastOne = 3
    no_progress_warn_after: AtLeastOne = 2
    exact_failure_block_after: AtLeastOne = 5
    same_tool_failure_halt_after: AtLeastOne = 8
    no_progress_block_after: AtLeastOne = 5


class ModelOverrides(msgspec.Struct, frozen=True):
    """Which models a plugin may ask instead of the conversation's own. An empty list allows any."""

    allow_provider_override: bool = False
    allow_model_override: bool = False
    allowed_providers: Names = ()
    allowed_models: Names = ()


class PluginEntry(msgspec.Struct, frozen=True):
    """What a person has settled about one plugin."""

    allow_tool_override: bool = False
    granted: Names | None = None
    """The capabilities it was given; None where nobody was asked."""
    hash: str = ""
    """What its files were when it was enabled; empty where that does not matter."""
    llm: ModelOverrides = ModelOverrides()
    settings: Mapping[str, Any] = {}
    """Settings of the plugin's own."""


PluginEntries = Mapping[str, PluginEntry]


class PluginSettings(msgspec.Struct, frozen=True):
    mode: PluginMode = "full"
    enabled: Names = ()
    disabled: Names = ()
    timeout: AtLeastOne = 30
    entries: PluginEntries = {}


class McpServer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An MCP server whose tools the agent may use: a program to start, or an address to connect to.

    `${NAME}` in `env` and `headers` stands for a variable of the environment or of `.env`.
    """

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, Secret] = {}
    url: str = ""
    headers: Mapping[str, Secret] = {}
    timeout: AtLeastOne = 60
    tools: tuple[str, ...] | None = None
    """The tools to offer, by the names that the server gives them; None offers all."""

    def secrets(self) -> Iterator[Secret]:
        """What must not be printed: values of variables that are named a secret, and words of headers."""
        named = (value for name, value in self.env.items() if names_secret(name))
        words = (word for value in (*named, *self.headers.values()) for word in value.reveal().split())
        yield from (Secret(word) for word in words if len(word) >= SHORTEST_REDACTED and "${" not in word)
        yield from in_address(self.url)


McpServers = Mapping[str, McpServer]


class McpSettings(msgspec.Struct, frozen=True):
    servers: McpServers = {}


class SecuritySettings(msgspec.Struct, frozen=True):
    """Where pages that a model or another page names may be: on the public internet, if nothing is opened."""

    allow_networks: Names = ()
    allow_private_urls: bool = False
    allow_http_redirects: bool = False


class ServerSettings(msgspec.Struct, frozen=True):
    """What `hermes serve` lets callers do."""

    tools: Names = ("web",)
    allow_hosts: Names = ()
    max_runs: AtLeastOne = 256
    max_body: AtLeastOne = 10_000_000
    requests_per_minute: AtLeastOne = 600
    drain_seconds: NotNegative = 20.0
    keep_days: AtLeastOne = 30


SECTIONS: Mapping[str, type[msgspec.Struct]] = {
    "model": ModelSettings,
    "web": WebSettings,
    "x_search": XSearchSettings,
    "agent": AgentSettings,
    "auxiliary": AuxiliarySettings,
    "approvals": ApprovalSettings,
    "tool_loop_guardrails": ToolLoopSettings,
    "plugins": PluginSettings,
    "mcp": McpSettings,
    "security": SecuritySettings,
    "server": ServerSettings,
}
OPEN_SECTIONS = ("web", "security")
"""Where a mapping may hold more: `web.NAME` the options of a web backend, `security` lists of sites."""


class Origin(msgspec.Struct, frozen=True):
    """Which source a setting came from; `detail` is the variable, the flag's key, or file:line."""

    source: Literal["flag", "environment", ".env", "file", "default"]
    detail: str = ""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run is configured with, read once and passed on."""

    home: str
    model: ModelSettings = ModelSettings()
    web: WebSettings = WebSettings()
    x_search: XSearchSettings = XSearchSettings()
    agent: AgentSettings = AgentSettings()
    auxiliary: AuxiliarySettings = AuxiliarySettings()
    approvals: ApprovalSettings = ApprovalSettings()
    tool_loop_guardrails: ToolLoopSettings = ToolLoopSettings()
    plugins: PluginSettings = PluginSettings()
    mcp: McpSettings = McpSettings()
    security: SecuritySettings = SecuritySettings()
    server: ServerSettings = ServerSettings()
    environment: Environment = msgspec.field(default_factory=lambda: Environment({}))
    options: Mapping[str, Any] = {}
    """The mappings of the open sections by dotted name, such as `web.xai`; keys in them are secrets."""
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = {}

    def redactor(self) -> Redactor:
        """A filter for every secret this configuration knows."""
        own = (self.model.api_key, self.web.custom_api_key, self.model.base_url, self.web.custom_base_url)
        held = (secret for value in (*own, self.options) for secret in _secrets(value))
        of_servers = (secret for server in self.mcp.servers.values() for secret in server.secrets())
        return Redactor((*held, *of_servers, *self.environment.secrets()))

    def wants_plugins(self) -> bool:
        """Whether there is a plugin to load: nothing of plugins is touched where nothing is enabled."""
        moved = self.environment.lookup("HERMES_BUNDLED_PLUGINS")
        return self.plugins.mode != "off" and bool(self.plugins.enabled or moved)

    def option(self, path: str) -> Any:
        """What is set at a dotted path of an open section: a setting, or part of a mapping; or None."""
        section, _, rest = path.partition(".")
        name, *parts = rest.split(".")
        if not parts:
            held = getattr(getattr(self, section, None), name, None)
            return held or self.options.get(path)
        variable = f"HERMES_{path}".upper().replace(".", "_").replace("-", "_")
        value: Any = self.environment.lookup(variable)
        if value is not None:
            return value
        value = self.options.get(f"{section}.{name}")
        for part in parts:
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


def _secrets(value: object) -> Iterator[Secret]:
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, str):
        yield from in_address(value)
    for inner in value.values() if isinstance(value, Mapping) else ():
        yield from _secrets(inner)
