"""NVIDIA's hosted models, and its inference servers anywhere."""

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.routes import address, changed


def _refine(endpoint: Endpoint) -> Endpoint:
    """NVIDIA's own service is told who calls; a server of one's own is not."""
    if address(endpoint.base_url).hostname != address(PROVIDER.base_url).hostname:
        return endpoint
    return changed(endpoint, headers={**endpoint.provider.headers, "X-BILLING-INVOKE-ORIGIN": "hermes"})


PROVIDER = Provider(
    name="nvidia",
    title="NVIDIA",
    api_mode="chat_completions",
    aliases=("nvidia-nim", "nim", "build-nvidia", "nemotron"),
    rank=32,
    base_url="https://integrate.api.nvidia.com/v1",
    base_url_env=("NVIDIA_BASE_URL",),
    key_env=("NVIDIA_API_KEY",),
    default_model="nvidia/nemotron-3-super-120b-a12b",
    models=("nvidia/nemotron-3-super-120b-a12b",),
    max_tokens=16_384,
    refine=_refine,
)
