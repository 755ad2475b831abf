"""Ollama on one's own machine, over its OpenAI-compatible endpoint."""

from hermes.protocols import Endpoint, Provider
from hermes.providers.base.local import quiet, told_window
from hermes.providers.base.routes import address, moved
from hermes.transports.base import EFFORTS

_PORT = 11434
_PORTS = {"http": 80, "https": 443}


def _refine(endpoint: Endpoint) -> Endpoint:
    return told_window(moved(endpoint, _reachable(endpoint.base_url)))


def _reachable(said: str) -> str:
    """The address of the API from what `OLLAMA_HOST` may say: a host, a port, both, or a whole address.

    The server listens on `0.0.0.0` where it is told to serve everyone; a client cannot call that.
    """
    url = address(said if "://" in said else f"http://{said}")
    host = url.hostname or "127.0.0.1"
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104
    named = f"[{host}]" if ":" in host else host
    port = url.port or (_PORTS.get(url.scheme, _PORT) if "://" in said else _PORT)
    path = url.path.rstrip("/")
    return f"{url.scheme}://{named}:{port}{path if path.endswith('/v1') else f'{path}/v1'}"


PROVIDER = Provider(
    name="ollama",
    title="Ollama",
    api_mode="chat_completions",
    rank=60,
    base_url=f"http://127.0.0.1:{_PORT}/v1",
    base_url_env=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
    key_required=False,
    auth_style="none",
    # Without a limit an answer may end after 128 tokens.
    max_tokens=65_536,
    efforts=EFFORTS,
    quirks=quiet,
    refine=_refine,
)
