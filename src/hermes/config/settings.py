"""The settings as values: what a run is configured with, and where each setting came from."""

from collections.abc import Mapping
from typing import Annotated, Literal

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
    robots: bool = False


class AgentSettings(msgspec.Struct, frozen=True):
    max_turns: AtLeastOne = 50
    max_tokens: AtLeastOne | None = None
    max_cost: NotNegative | None = None
    max_seconds: NotNegative | None = None
    tools: Names = ("web",)


class AuxiliarySettings(msgspec.Struct, frozen=True):
    """A model of its own for each task beside the conversation.

    Without one the conversation's model sums up; titles and descriptions of pictures are not made.
    """

    compaction: str = ""
    title: str = ""
    vision: str = ""


class SecuritySettings(msgspec.Struct, frozen=True):
    """Where pages that a model or another page names may be: on the public internet, if nothing is opened."""

    allow_networks: Names = ()
    allow_private_urls: bool = False
    allow_http_redirects: bool = False


SECTIONS: Mapping[str, type[msgspec.Struct]] = {
    "model": ModelSettings,
    "web": WebSettings,
    "agent": AgentSettings,
    "auxiliary": AuxiliarySettings,
    "security": SecuritySettings,
}


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
    security: SecuritySettings = SecuritySettings()
    environment: Environment = msgspec.field(default_factory=lambda: Environment({}))
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, Origin] = {}

    def redactor(self) -> Redactor:
        """A filter for every secret this configuration knows."""
        own = (self.model.api_key,) if self.model.api_key else ()
        return Redactor((*own, *self.environment.secrets()))
