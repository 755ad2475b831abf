"""The settings as values: what a run is configured with, and where each setting came from."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from hermes.config.environment import Environment
from hermes.config.secret import Redactor, Secret
from hermes.protocols import Effort

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Names = tuple[str, ...]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class ModelSettings(msgspec.Struct, frozen=True):
    provider: str = ""
    default: str = ""
    base_url: str = ""
    api_key: Secret | None = None
    max_tokens: AtLeastOne | None = None
    fallback: Names = ()
    patience: AtLeastOne = 30
    context_window: AtLeastOne | None = None
    effort: Effort | None = None
    temperature: NotNegative | None = None
    local_servers: bool = True


class WebSettings(msgspec.Struct, frozen=True):
    backend: str = ""
    search_backend: str = ""
    extract_backend: str = ""
    extract_char_limit: int = 15000
    failover: Names = ()
    failover_on_empty: bool = False
    federate: Names = ()
    federate_patience: NotNegative = 3.0
    cache_enabled: bool = True
    cache_ttl_minutes: AtLeastOne = 20
    cache_exempt_hosts: Names = ()
    compress: bool = False
    custom_base_url: str = ""
    custom_model: str = ""
    custom_api_key: Secret | None = None


class AgentSettings(msgspec.Struct, frozen=True):
    max_turns: AtLeastOne = 50
    max_tokens: AtLeastOne | None = None
    max_cost: NotNegative | None = None
    max_seconds: NotNegative | None = None
    tools: Names = ("web",)


class AuxiliarySettings(msgspec.Struct, frozen=True):
    """A model of its own for each task beside the conversation.

    Without one the conversation's model sums up; titles and descriptions of pictures are not made, and
    pages are not made shorter.
    """

    compaction: str = ""
    title: str = ""
    vision: str = ""
    web: str = ""


SECTIONS: Mapping[str, type[msgspec.Struct]] = {
    "model": ModelSettings,
    "web": WebSettings,
    "agent": AgentSettings,
    "auxiliary": AuxiliarySettings,
}
OPEN_SECTION = "web"
"""The section in which a mapping holds the options of the web backend of its name, whatever these are."""


class Origin(msgspec.Struct, frozen=True):
    """Which source a setting came from; `detail` is the variable, the flag's key, or file:line."""

    source: Literal["flag", "environment", ".env", "file", "default"]
    detail: str = ""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run is configured with, read once and passed on."""

    home: str
    model: ModelSettings = ModelSettings()
    web: WebSettings = WebSettings()
    agent: AgentSettings = AgentSettings()
    auxiliary: AuxiliarySettings = AuxiliarySettings()
    environment: Environment = msgspec.field(default_factory=lambda: Environment({}))
    web_options: Mapping[str, Mapping[str, Any]] = {}
    """What the section `web` holds for single backends, by their names; keys in it are secrets."""
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = {}

    def redactor(self) -> Redactor:
        """A filter for every secret this configuration knows."""
        own = (self.model.api_key, self.web.custom_api_key, *_secrets(self.web_options))
        return Redactor((*filter(None, own), *self.environment.secrets()))

    def web_option(self, path: str) -> Any:
        """What is set below `web.`: a setting, or `BACKEND.OPTION`; None when that is nothing."""
        backend, dot, _ = path.partition(".")
        variable = f"HERMES_WEB_{path}".upper().replace(".", "_").replace("-", "_")
        if not dot:
            return getattr(self.web, path, None) or self.web_options.get(path)
        value: Any = self.environment.lookup(variable)
        if value is not None:
            return value
        value = self.web_options.get(backend)
        for name in path.split(".")[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


def _secrets(value: object) -> Iterator[Secret]:
    if isinstance(value, Secret):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else ():
        yield from _secrets(inner)
