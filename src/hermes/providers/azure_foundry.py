"""Azure AI Foundry and Azure OpenAI: one's own resource, whose deployments are the models.

The address is that of the resource. Addresses of the dated API are taken too and brought to the current
one, which wants no `api-version` and takes the deployment's name as the model.
"""

import re

import msgspec

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.routes import address, changed, moved, over_messages, speaks_messages, tail

_RESPONSES = re.compile(r"gpt-[5-9]|o[134](-|$)|.*codex")
_DATED = re.compile(r"(/openai(/deployments/(?P<deployment>[^/]+))?|/models)?/?")


def _refine(endpoint: Endpoint) -> Endpoint:
    if speaks_messages(endpoint.base_url):
        return over_messages(endpoint, caches="claude" in tail(endpoint.model))
    endpoint = _current(endpoint)
    if _RESPONSES.match(tail(endpoint.model)):
        return changed(endpoint, api_mode="codex_responses", caches=True)
    return endpoint


def _current(endpoint: Endpoint) -> Endpoint:
    """The endpoint at the current API of its resource; any other address stays as it is."""
    parts = address(endpoint.base_url)
    dated = _DATED.fullmatch(parts.path)
    if dated is None or not (parts.hostname or "").endswith(".azure.com"):
        return endpoint
    if dated["deployment"]:
        endpoint = msgspec.structs.replace(endpoint, model=dated["deployment"])
    return moved(endpoint, f"{parts.scheme}://{parts.netloc}/openai/v1")


PROVIDER = Provider(
    name="azure-foundry",
    title="Azure AI Foundry",
    api_mode="chat_completions",
    aliases=("azure", "azure-ai-foundry", "azure-ai"),
    rank=34,
    base_url_env=("AZURE_FOUNDRY_BASE_URL", "AZURE_OPENAI_ENDPOINT"),
    key_env=("AZURE_FOUNDRY_API_KEY", "AZURE_OPENAI_API_KEY"),
    auth_style="api-key",
    max_tokens_key="max_completion_tokens",
    refine=_refine,
)
